wick_unit_test(value LIBS wick_tools)
wick_unit_test(record_options LIBS wick_tools wick_collector)
wick_unit_test(summary LIBS wick_tools wick_collector)
wick_unit_test(name_queue LIBS wick_tools)
