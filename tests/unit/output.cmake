# output: the writer, the names, the files of a recording and what happens to closed ones
wick_unit_test(perf_script LIBS wick_output)
wick_unit_test(groups LIBS wick_output)
wick_unit_test(waker LIBS wick_output)
wick_unit_test(file_name LIBS wick_output)
wick_unit_test(recording SOURCES output_fixture.c LIBS wick_output)
wick_unit_test(recording_disk SOURCES output_fixture.c LIBS wick_output)
wick_unit_test(shelf SOURCES output_fixture.c LIBS wick_output PkgConfig::ZLIB PkgConfig::ZSTD)
wick_unit_test(recording_demand SOURCES output_fixture.c LIBS wick_output)
