# The program that plays the agent has no sanitizer: it is not what is tested.
add_executable(fake_agent fake_agent.c)
target_link_libraries(fake_agent PRIVATE wick_warnings Threads::Threads)
target_compile_definitions(fake_agent PRIVATE _GNU_SOURCE)
target_include_directories(fake_agent PRIVATE ${PROJECT_SOURCE_DIR})
add_library(fake_library MODULE fake_library.c)
target_link_libraries(fake_library PRIVATE wick_warnings)

wick_unit_test(collector LIBS wick_sample)
target_compile_definitions(collector_test PRIVATE
  FAKE_AGENT="$<TARGET_FILE:fake_agent>" FAKE_LIBRARY="$<TARGET_FILE:fake_library>")
add_dependencies(collector_test fake_agent fake_library)
foreach(name attach proc_stat proc_status poll_interval due queue budget tick_aliasing breaker ring_quota wall_account decode gauges readings usage proc_maps perf_threads mappings event_order weights totals tables ticks top choice choice_scan follow process namespace_tids blocked remote code frame_depth labels)
  wick_unit_test(${name} LIBS wick_sample)
endforeach()
wick_unit_test(waits SOURCES waits_children.c waits_children_fd.c LIBS wick_sample)
wick_unit_test(waits_object LIBS wick_sample)

# Exact counts, with the real agent and the real header.
add_executable(counted_target counted_target.c)
target_link_libraries(counted_target PRIVATE wick_warnings Threads::Threads ${CMAKE_DL_LIBS})
add_library(counted_plugin MODULE counted_plugin.c)
target_link_libraries(counted_plugin PRIVATE wick_warnings)
target_include_directories(counted_plugin PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(counted_target PRIVATE _GNU_SOURCE)
target_include_directories(counted_target PRIVATE ${PROJECT_SOURCE_DIR})
wick_unit_test(counted LIBS wick_sample)
target_compile_definitions(counted_test PRIVATE AGENT="$<TARGET_FILE:wick-agent>"
  TARGET="$<TARGET_FILE:counted_target>" PLUGIN="$<TARGET_FILE:counted_plugin>")
add_dependencies(counted_test wick-agent counted_target counted_plugin)
target_sources(tables_test PRIVATE tables_fixture.c)
target_sources(totals_test PRIVATE failing_memory.c)
target_link_options(totals_test PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
wick_unit_test(contexts LIBS wick_sample)
set_target_properties(contexts_test PROPERTIES ENABLE_EXPORTS ON)
