# agent: seen through a collector that is only as big as its tests need
add_executable(agent_peek agent_peek.c fake_collector.c)
target_link_libraries(agent_peek PRIVATE wick_flags)
add_executable(agent_target agent_target.c)
target_link_libraries(agent_target PRIVATE wick_flags Threads::Threads ${CMAKE_DL_LIBS})
