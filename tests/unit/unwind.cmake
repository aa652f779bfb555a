# the tests of sampler/unwind
foreach(test unwind_row unwind_walk unwind_guess)
  wick_unit_test(${test} SOURCES unwind_image.c LIBS wick_unwind)
endforeach()
