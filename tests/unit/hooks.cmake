# hooks: what the agent interposes, seen by programs that look hard
wick_unit_test(hooks SOURCES fake_collector.c)
target_compile_definitions(hooks_test PRIVATE
  AGENT="$<TARGET_FILE:wick-agent>" TARGETS="${PROJECT_BINARY_DIR}/tests/targets"
  STATIC="$<TARGET_FILE:program_static>")
add_dependencies(hooks_test program_static wick-agent hooks_exec hooks_seccomp hooks_signals)
set_tests_properties(unit.hooks PROPERTIES TIMEOUT 60 RUN_SERIAL ON)

wick_unit_test(bpf SOURCES ${PROJECT_SOURCE_DIR}/sampler/agent/interpose/bpf.c)
wick_unit_test(environment SOURCES ${PROJECT_SOURCE_DIR}/sampler/agent/environment.c
  LIBS wick_program)

# The hooks object's own: its sources a second time, with libc and the sanitizers.
wick_unit_test(live_table SOURCES ${PROJECT_SOURCE_DIR}/sampler/hooks/live.c)
wick_unit_test(waiters SOURCES ${PROJECT_SOURCE_DIR}/sampler/hooks/waiters.c)
wick_unit_test(countdown SOURCES ${PROJECT_SOURCE_DIR}/sampler/hooks/countdown.c LIBS m)

# The hooks object itself, preloaded, where no sanitizer has to come first.
if(NOT WICK_SANITIZE)
  foreach(name lock_hooks lock_waits)
    wick_unit_test(${name} SOURCES lock_agent.c)
    set_target_properties(${name}_test PROPERTIES ENABLE_EXPORTS ON)
    add_dependencies(${name}_test wick-hooks)
    set_tests_properties(unit.${name} PROPERTIES
      ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:wick-hooks>")
  endforeach()
endif()
