# agent: seen through a collector that is only as big as its tests need
add_executable(agent_peek agent_peek.c fake_collector.c)
target_link_libraries(agent_peek PRIVATE wick_flags)
add_executable(agent_target agent_target.c)
target_link_libraries(agent_target PRIVATE wick_warnings Threads::Threads ${CMAKE_DL_LIBS})
target_compile_definitions(agent_target PRIVATE _GNU_SOURCE)
target_include_directories(agent_target PRIVATE ${PROJECT_SOURCE_DIR})

# Neither the agent nor its target has a sanitizer in it.  The preset asan has clang build them; the preset tsan
# would run once more what the preset dev runs.
if(NOT WICK_SANITIZE STREQUAL thread)
  wick_unit_test(agent SOURCES fake_collector.c)
  target_compile_definitions(agent_test PRIVATE AGENT="$<TARGET_FILE:wick-agent>"
    TARGET="$<TARGET_FILE:agent_target>" PLUGIN="$<TARGET_FILE:plugin_a>")
  add_dependencies(agent_test wick-agent agent_target plugin_a)
  set_tests_properties(unit.agent PROPERTIES TIMEOUT 120)
endif()
