# handler: its sources a second time, with libc and the sanitizers
wick_unit_test(handler LIBS wick_handler_test)
wick_unit_test(on_event LIBS wick_handler_test)
wick_unit_test(nearly_idle LIBS wick_handler_test)
wick_unit_test(timer LIBS wick_handler_test)
wick_unit_test(handler_context LIBS wick_handler_test)
