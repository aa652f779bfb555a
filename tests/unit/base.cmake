# the tests of base/
wick_unit_test(buf SOURCES failing_memory.c LIBS wick_base)
wick_unit_test(elf_notes LIBS wick_base)
wick_unit_test(elf_segments LIBS wick_base)
wick_unit_test(err LIBS wick_base)
wick_unit_test(io LIBS wick_base Threads::Threads)
wick_unit_test(json LIBS wick_base)
wick_unit_test(regular_file LIBS wick_base)
wick_unit_test(map SOURCES failing_memory.c LIBS wick_base)
wick_unit_test(intern SOURCES failing_memory.c LIBS wick_base)
foreach(test buf map intern)
  target_link_options(${test}_test PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
