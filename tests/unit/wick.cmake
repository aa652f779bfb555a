# wick: what programs include, under a virtual clock, and read as the collector does
foreach(name chroprof tasks)
  wick_unit_test(wick_${name} SOURCES wick_fixture.c)
endforeach()
