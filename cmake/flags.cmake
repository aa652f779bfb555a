# Flags travel through two INTERFACE targets and nowhere else.

add_library(wick_warnings INTERFACE)
target_compile_options(wick_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
  -Wwrite-strings -Wcast-align -Wformat=2
  $<$<C_COMPILER_ID:Clang>:-Wno-unknown-attributes> # gcc's noclone
  $<$<BOOL:${WICK_WERROR}>:-Werror>)

# Everything outside the target.
add_library(wick_flags INTERFACE)
target_compile_definitions(wick_flags INTERFACE _GNU_SOURCE WICK_VERSION="${PROJECT_VERSION}")
target_include_directories(wick_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(wick_flags INTERFACE wick_warnings)
if(WICK_SANITIZE)
  # What is found ends the program, however it is run; and no way back makes less to compile.
  target_compile_options(wick_flags INTERFACE -fsanitize=${WICK_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  # What they tell needs lines of DWARF and no more; and it is about what a program does, not how
  # fast: -O1 -g1 compiles in two thirds of the time.  Fuzzers are about how often, too; there the files
  # of the unit tests themselves, a third of all, compile at -O0 in half of the time, and not for fuzzing.
  set(is_unit_test "$<BOOL:$<TARGET_PROPERTY:WICK_UNIT_TEST>>")
  target_compile_options(wick_flags INTERFACE
    $<IF:$<BOOL:${WICK_FUZZ}>,$<${is_unit_test}:-O0>,-O1>
    $<$<AND:$<BOOL:${WICK_FUZZ}>,$<NOT:${is_unit_test}>>:-fsanitize=fuzzer-no-link>)
  target_link_options(wick_flags INTERFACE -fsanitize=${WICK_SANITIZE})
  # lld links the runtimes and their programs, over 150 of them, in a third of the time.
  find_program(LLD_PROGRAM NAMES ld.lld)
  if(LLD_PROGRAM)
    target_link_options(wick_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
if(WICK_FUZZ AND NOT WICK_SANITIZE)
  target_compile_options(wick_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Everything inside the target: freestanding, no TLS, no stack protector, no sanitizer, no
# runtime of any kind; a frame over 1 KiB is an error because the handler's stack is a guest's.
add_library(wick_handler_flags INTERFACE)
target_compile_definitions(wick_handler_flags INTERFACE WICK_VERSION="${PROJECT_VERSION}")
target_include_directories(wick_handler_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(wick_handler_flags INTERFACE wick_warnings)
target_compile_options(wick_handler_flags INTERFACE
  -O2 -ffreestanding -fno-builtin -fno-stack-protector -fno-sanitize=all -fPIC
  -fvisibility=hidden -ftls-model=initial-exec -fno-plt -U_FORTIFY_SOURCE
  $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns> -fasynchronous-unwind-tables
  $<$<AND:$<C_COMPILER_ID:GNU>,$<BOOL:${WICK_TESTS}>>:-fcallgraph-info=su> # for lint.handler_stack
  -Wframe-larger-than=1024
  -Werror=frame-larger-than=$<$<C_COMPILER_ID:GNU>:1024>) # clang's name for it ends before the number
