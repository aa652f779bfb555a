# handler: what may run in a signal handler calls nothing else; the agent needs no library
set(handler_objects $<TARGET_OBJECTS:wick_handler> $<TARGET_FILE:wick_unwind_handler>)
add_test(NAME lint.handler_symbols
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/handler_symbols.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/handler.allow ${handler_objects}
  COMMAND_EXPAND_LISTS)
add_test(NAME lint.handler_symbols_trips
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/handler_symbols_trips.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/handler_symbols.sh ${CMAKE_CURRENT_SOURCE_DIR}/handler.allow
    ${CMAKE_C_COMPILER} ${handler_objects}
  COMMAND_EXPAND_LISTS)
add_test(NAME lint.agent_so
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/agent_so.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/agent.exports $<TARGET_FILE:wick-agent>)
add_test(NAME lint.agent_so_trips
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/agent_so.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/agent.exports $<TARGET_FILE:wick_bad_agent>)
add_library(wick_bad_agent MODULE bad_agent.c)
target_link_libraries(wick_bad_agent PRIVATE wick_flags)
set_tests_properties(lint.agent_so_trips PROPERTIES WILL_FAIL TRUE)
set_tests_properties(lint.handler_symbols lint.handler_symbols_trips lint.agent_so
  lint.agent_so_trips PROPERTIES LABELS lint TIMEOUT 30)
