# hooks: what the agent interposes, seen by programs that look hard
wick_unit_test(hooks SOURCES fake_collector.c)
target_compile_definitions(hooks_test PRIVATE
  AGENT="$<TARGET_FILE:wick-agent>" TARGETS="${PROJECT_BINARY_DIR}/tests/targets"
  STATIC="$<TARGET_FILE:program_static>")
add_dependencies(hooks_test program_static wick-agent hooks_exec hooks_seccomp hooks_signals)
set_tests_properties(unit.hooks PROPERTIES TIMEOUT 60 RUN_SERIAL ON)

wick_unit_test(bpf SOURCES ${PROJECT_SOURCE_DIR}/sampler/agent/bpf.c)
wick_unit_test(environment SOURCES ${PROJECT_SOURCE_DIR}/sampler/agent/environment.c
  LIBS wick_program)

# The hooks object's own: its sources a second time, with libc and the sanitizers.
wick_unit_test(waiters SOURCES ${PROJECT_SOURCE_DIR}/sampler/hooks/waiters.c)
