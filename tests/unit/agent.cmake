# agent: seen through a collector that is only as big as its tests need
add_executable(agent_peek agent_peek.c fake_collector.c)
target_link_libraries(agent_peek PRIVATE wick_flags)
