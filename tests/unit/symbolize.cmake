# symbolize: modules are looked up in real programs, made here in every state of undress
set(programs ${CMAKE_CURRENT_BINARY_DIR}/programs)
set(source ${CMAKE_CURRENT_SOURCE_DIR}/symbolize)
set(program_id 00112233445566778899aabbccddeeff00112233)
string(SUBSTRING ${program_id} 0 2 id_folder)
string(SUBSTRING ${program_id} 2 -1 id_file)
file(MAKE_DIRECTORY ${programs}/.debug ${programs}/root/.build-id/${id_folder})
find_program(CXX_PROGRAM NAMES g++ clang++ REQUIRED)
set(compile ${CMAKE_C_COMPILER} -O2 -g -fPIE -pie -rdynamic ${source}/program.c)
find_program(LLD_PROGRAM NAMES ld.lld)
set(link_shifted -Wl,-Ttext-segment=0x10000)
if(LLD_PROGRAM)
  set(link_shifted -fuse-ld=lld)
endif()
set(program_files plain only_dwarf other no_id stripped linked by_id other_id same_id static shifted)
list(TRANSFORM program_files PREPEND ${programs}/)

add_custom_command(OUTPUT ${program_files} ${programs}/cxx
  COMMAND ${compile} -o ${programs}/plain
  COMMAND ${compile} -DOTHER_BUILD -o ${programs}/other
  COMMAND ${compile} -Wl,--build-id=none -o ${programs}/no_id
  COMMAND ${compile} -no-pie -static -o ${programs}/static
  COMMAND ${CMAKE_STRIP} -o ${programs}/stripped ${programs}/plain
  # Separate debug files: by link (with a CRC only, and with a build-id), and by build-id.
  COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${programs}/no_id ${programs}/.debug/linked.debug
  COMMAND ${CMAKE_STRIP} -o ${programs}/linked ${programs}/no_id
  COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=${programs}/.debug/linked.debug ${programs}/linked
  COMMAND ${compile} -Wl,--build-id=0x${program_id} -o ${programs}/by_id
  COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${programs}/by_id
          ${programs}/root/.build-id/${id_folder}/${id_file}.debug
  COMMAND ${CMAKE_STRIP} ${programs}/by_id
  # Another program whose debug file claims the build-id's path without having the build-id.
  COMMAND ${compile} -Wl,--build-id=0x44${id_file} -o ${programs}/other_id
  COMMAND ${CMAKE_COMMAND} -E make_directory ${programs}/root/.build-id/44
  COMMAND ${CMAKE_COMMAND} -E copy ${programs}/.debug/linked.debug
          ${programs}/root/.build-id/44/${id_file}.debug
  COMMAND ${CMAKE_STRIP} ${programs}/other_id
  # Another program with the same build-id.
  COMMAND ${compile} -DOTHER_BUILD -Wl,--build-id=0x${program_id} -o ${programs}/same_id
  COMMAND ${CMAKE_STRIP} ${programs}/same_id
  # Segments whose addresses are not their offsets.
  COMMAND ${compile} ${link_shifted} -o ${programs}/shifted
  # No symbol tables, but all the debugging information.
  COMMAND ${CMAKE_OBJCOPY} --strip-all --keep-section=.debug_* ${programs}/plain
          ${programs}/only_dwarf
  COMMAND ${CXX_PROGRAM} -O2 -g -Wno-pmf-conversions ${source}/program.cc -o ${programs}/cxx
  DEPENDS ${source}/program.c ${source}/program.cc VERBATIM)
add_custom_target(symbolize_programs DEPENDS ${program_files} ${programs}/cxx)

foreach(name cache cache_damage cache_list)
  wick_unit_test(${name} SOURCES cache_fixture.c LIBS wick_symbolize)
endforeach()
foreach(name crc32c function_hostile function_table demangle jit memory_limit spans symbol_table symbolize symbolize_oracle)
  wick_unit_test(${name} LIBS wick_symbolize)
endforeach()
# The libc that tests link with: what the compiler would load.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libc.so.6
                OUTPUT_VARIABLE libc_file OUTPUT_STRIP_TRAILING_WHITESPACE)
add_dependencies(symbolize_test symbolize_programs)
target_compile_definitions(symbolize_test PRIVATE PROGRAMS="${programs}" LIBC="${libc_file}")
wick_unit_test(loader LIBS wick_symbolize Threads::Threads)
wick_unit_test(fde LIBS wick_symbolize PkgConfig::DW PkgConfig::ELF)
target_compile_definitions(fde_test PRIVATE LIBC="${libc_file}")
wick_unit_test(debug_dwo LIBS wick_symbolize PkgConfig::ELF)
wick_unit_test(debug_search LIBS wick_symbolize Threads::Threads PkgConfig::ELF)
add_dependencies(debug_search_test symbolize_programs)
target_compile_definitions(debug_search_test PRIVATE PROGRAMS="${programs}"
  ID_FOLDER="${id_folder}" ID_FILE="${id_file}" LIBC="${libc_file}")

# Symbols of every kind, stubs of every kind, and a .symtab that is packed away.
find_program(XZ_PROGRAM NAMES xz REQUIRED)
set(mini ${programs}/mini)
set(symbol_files symbols.so reversed.so calls_plain calls_ibt calls_static mini mini_damaged mini_bomb)
list(TRANSFORM symbol_files PREPEND ${programs}/)
file(WRITE ${programs}/symbols.map "SYMBOLS_1 { global: versioned; };\n")
set(assemble ${CMAKE_C_COMPILER} -shared -nostdlib -Wl,--version-script=${programs}/symbols.map)
add_custom_command(OUTPUT ${symbol_files}
  COMMAND ${assemble} ${source}/symbols.S -o ${programs}/symbols.so
  COMMAND ${assemble} -DREVERSED ${source}/symbols.S -o ${programs}/reversed.so
  COMMAND ${CMAKE_C_COMPILER} -O1 -fPIE -pie -fcf-protection=none -Wl,-z,lazy ${source}/calls.c
          -o ${programs}/calls_plain
  COMMAND ${CMAKE_C_COMPILER} -O1 -fPIE -pie -fcf-protection=full -Wl,-z,ibtplt ${source}/calls.c
          -o ${programs}/calls_ibt
  COMMAND ${CMAKE_C_COMPILER} -O1 -no-pie -static ${source}/calls.c -o ${programs}/calls_static
  COMMAND ${CMAKE_OBJCOPY} --strip-all --keep-symbol=hidden_work ${programs}/plain ${mini}.inner
  COMMAND ${XZ_PROGRAM} -kf ${mini}.inner
  COMMAND ${CMAKE_OBJCOPY} --add-section .gnu_debugdata=${mini}.inner.xz ${programs}/stripped ${mini}
  COMMAND dd if=${mini}.inner.xz of=${mini}.damaged bs=100 count=9 status=none
  COMMAND ${CMAKE_OBJCOPY} --add-section .gnu_debugdata=${mini}.damaged ${programs}/stripped
          ${programs}/mini_damaged
  COMMAND truncate -s 160M ${mini}.zeros
  COMMAND ${XZ_PROGRAM} -0 -f ${mini}.zeros
  COMMAND ${CMAKE_OBJCOPY} --add-section .gnu_debugdata=${mini}.zeros.xz ${programs}/stripped
          ${programs}/mini_bomb
  DEPENDS ${source}/symbols.S ${source}/calls.c ${programs}/plain ${programs}/stripped VERBATIM)
add_custom_target(symbolize_symbol_files DEPENDS ${symbol_files})
wick_unit_test(elf_hostile LIBS wick_symbolize PkgConfig::ELF)
wick_unit_test(elf_symbols LIBS wick_symbolize PkgConfig::ELF)
add_dependencies(elf_symbols_test symbolize_programs symbolize_symbol_files)
target_compile_definitions(elf_symbols_test PRIVATE PROGRAMS="${programs}")
wick_unit_test(kernel LIBS wick_symbolize)
wick_unit_test(jit_dump LIBS wick_symbolize)

# The way from addresses to answers; the test plays the server.
wick_unit_test(batch SOURCES ${PROJECT_SOURCE_DIR}/symbolize/batch.c
  ${PROJECT_SOURCE_DIR}/symbolize/bounds/loader.c ${PROJECT_SOURCE_DIR}/symbolize/function/function_table.c
  ${PROJECT_SOURCE_DIR}/symbolize/function/function_builder.c ${PROJECT_SOURCE_DIR}/symbolize/function/function_sweep.c
  ${PROJECT_SOURCE_DIR}/symbolize/function/function_pack.c ${PROJECT_SOURCE_DIR}/symbolize/function/function_show.c
  LIBS wick_base PkgConfig::ELF Threads::Threads)
wick_unit_test(address_cache LIBS wick_symbolize)
wick_unit_test(names LIBS wick_symbolize)
wick_unit_test(naming LIBS wick_symbolize)
wick_unit_test(resolve LIBS wick_symbolize)
target_compile_options(resolve_test PRIVATE -g)

# Line programs, range lists, sections and files beside the module.
foreach(name dwarf_lines dwarf_line_header dwarf_ranges dwarf_directory file_guard)
  wick_unit_test(${name} LIBS wick_symbolize PkgConfig::ELF Threads::Threads)
endforeach()
target_compile_options(file_guard_test PRIVATE -g)
# Those that read real files, in every form: dwarf/build.sh says what it leaves out.
set(dwarf_files ${CMAKE_CURRENT_BINARY_DIR}/dwarf_files)
set(dwarf_source ${CMAKE_CURRENT_SOURCE_DIR}/dwarf)
add_custom_command(OUTPUT ${dwarf_files}/list COMMAND ${dwarf_source}/build.sh ${dwarf_files}
  DEPENDS ${dwarf_source}/build.sh ${dwarf_source}/main.c ${dwarf_source}/part.cc
          ${dwarf_source}/part.h VERBATIM)
add_custom_target(dwarf_files DEPENDS ${dwarf_files}/list)
foreach(name dwarf_peer dwarf_sections dwarf_split)
  wick_unit_test(${name} LIBS wick_symbolize PkgConfig::DW PkgConfig::ELF PkgConfig::ZLIB
    PkgConfig::ZSTD)
  add_dependencies(${name}_test dwarf_files)
  target_compile_definitions(${name}_test PRIVATE DWARF_FILES="${dwarf_files}")
endforeach()

# Units, functions, inlined calls and names from bytes made by hand.
foreach(name dwarf_form dwarf_unit dwarf_function dwarf_reader)
  wick_unit_test(${name} LIBS wick_symbolize Threads::Threads)
endforeach()
set_source_files_properties(dwarf_reader_test.c PROPERTIES COMPILE_OPTIONS "-g;-O2") # it reads itself
wick_unit_test(jit_place LIBS wick_symbolize)
