wick_unit_test(perf_text LIBS wick_flamescope PkgConfig::ZLIB PkgConfig::ZSTD)
wick_unit_test(diff LIBS wick_flamescope m)
wick_unit_test(diff_rule LIBS wick_flamescope m)
wick_unit_test(convert SOURCES convert_fixture.c LIBS wick_flamescope PkgConfig::ZLIB)
