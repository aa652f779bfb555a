# wick: what programs include, under a virtual clock, and read as the collector does
foreach(name chroprof tasks requests threads)
  wick_unit_test(wick_${name} SOURCES wick_fixture.c LIBS Threads::Threads)
endforeach()

# C++, in whose scopes and coroutines they end.
enable_language(CXX)
foreach(standard 11 20)
  add_executable(wick_cxx${standard}_test wick_cxx_test.cc)
  set_target_properties(wick_cxx${standard}_test PROPERTIES
    CXX_STANDARD ${standard} CXX_EXTENSIONS OFF CXX_STANDARD_REQUIRED ON)
  target_include_directories(wick_cxx${standard}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(wick_cxx${standard}_test PRIVATE -Wall -Wextra -Wpedantic -Werror)
  add_dependencies(unit_tests wick_cxx${standard}_test)
  add_test(NAME unit.wick_cxx${standard} COMMAND wick_cxx${standard}_test)
  set_tests_properties(unit.wick_cxx${standard} PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

# Each way to link a note, by each compiler.
if(NOT WICK_SANITIZE)
  foreach(compiler gcc clang)
    add_test(NAME unit.wick_links_${compiler}
      COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/wick_links.sh ${compiler}
        ${CMAKE_CURRENT_SOURCE_DIR}/wick_note.c ${PROJECT_SOURCE_DIR}
        ${CMAKE_CURRENT_BINARY_DIR}/wick_links_${compiler})
    set_tests_properties(unit.wick_links_${compiler} PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
endif()

# The adapters, where their libraries are there.
pkg_check_modules(UV IMPORTED_TARGET libuv)
pkg_check_modules(EVENT IMPORTED_TARGET libevent)
if(UV_FOUND AND EVENT_FOUND)
  wick_unit_test(wick_uv SOURCES wick_fixture.c LIBS PkgConfig::UV PkgConfig::EVENT)
endif()
