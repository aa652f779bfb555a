wick_unit_test(perf_text LIBS wick_flamescope PkgConfig::ZLIB PkgConfig::ZSTD)
