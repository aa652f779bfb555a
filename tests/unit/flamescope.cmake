wick_unit_test(perf_text LIBS wick_flamescope PkgConfig::ZLIB PkgConfig::ZSTD)
wick_unit_test(diff LIBS wick_flamescope m)
