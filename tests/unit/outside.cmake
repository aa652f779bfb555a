# outside: programs without an agent
wick_unit_test(stop LIBS wick_sample)
wick_unit_test(seized LIBS wick_sample)
wick_unit_test(eh_table LIBS wick_sample)
