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
# On any stack: 1 KiB, and 2 KiB when every part of memory.c is used.
set(handler_stack ${CMAKE_CURRENT_SOURCE_DIR}/handler_stack.py ${PROJECT_BINARY_DIR})
add_test(NAME lint.handler_stack COMMAND ${handler_stack} on_sigprof 1024 walk_on_stack)
add_test(NAME lint.handler_stack_without_room COMMAND ${handler_stack} on_sigprof 2048)
add_test(NAME lint.unwind_stack COMMAND ${handler_stack} unwind_walk 608 memory_read memory_find)
# A hook runs in a call of the program, on a stack with room for libc functions.
set(hooks malloc,calloc,realloc,reallocarray,free,posix_memalign,aligned_alloc,mmap,munmap,pthread_mutex_lock,pthread_mutex_unlock,pthread_rwlock_clockwrlock,pthread_cond_clockwait,sem_clockwait,sem_post)
add_test(NAME lint.hooks_stack COMMAND ${handler_stack} ${hooks} 1664)
add_test(NAME lint.handler_stack_trips COMMAND ${handler_stack} on_sigprof 1024)
set_tests_properties(lint.handler_stack_trips PROPERTIES WILL_FAIL TRUE)
set_tests_properties(lint.handler_stack lint.handler_stack_without_room lint.unwind_stack
  lint.hooks_stack lint.handler_stack_trips PROPERTIES LABELS lint TIMEOUT ${lint_timeout} SKIP_RETURN_CODE 77)
set_tests_properties(lint.handler_symbols lint.handler_symbols_trips lint.agent_so
  lint.agent_so_trips PROPERTIES LABELS lint TIMEOUT ${lint_timeout})
