/*
 * wrappers.js - the rules of `--elide @wrappers`: frames that only hand a call on
 *
 * They are those of flamescope/query/wrappers.ini, which says what each is for; a test keeps the
 * two equal.
 */

export const wrappers = [
	String.raw`^([\w:*&]+ )?std::(__1::)?(function|move_only_function)<.*>::operator\(\)`,
	String.raw`^([\w:*&]+ )?std::_Function_(handler|base)\b`,
	String.raw`^std::__1::__function::`,
	String.raw`^(std::enable_if<.*>::type |[\w:*&]+ )?std::(__1::)?__invoke(_impl|_r|_void_return_wrapper|_constexpr)?\b`,
	String.raw`^([\w:*&<>, ]+ )?std::(__1::)?(invoke|apply|__apply_impl)<`,
	String.raw`^([\w:*&]+ )?std::(__1::)?(_Bind|_Bind_result|_Bind_front|_Mem_fn|_Mem_fn_base|reference_wrapper)<`,
	String.raw`^([\w:*&<>, ]+ )?std::(__1::)?(visit<|__do_visit<|__detail::__variant::)`,
	String.raw`^([\w:*&]+ )?std::thread::_(Invoker|State_impl)<`,
	String.raw`^execute_native_thread_routine`,
	String.raw`^([\w:*&]+ )?std::(__1::)?(__future_base::|packaged_task<|__thread_proxy<|__async_)`,
	String.raw`^([\w:*&]+ )?std::(__1::)?call_once<|^__once_proxy|^__pthread_once`,
	String.raw`^([\w:*&]+ )?boost::(function\d*<|detail::function::|_bi::|_mfi::)`,
	String.raw`^([\w:*&]+ )?boost::asio::(detail::|execution::|io_context::run|thread_pool::|asio_handler_invoke)`,
	String.raw`^([\w:*&]+ )?absl::(lts_\d+::)?(functional_internal|internal_any_invocable|base_internal)::`,
	String.raw`^([\w:*&]+ )?folly::(detail::function::|Function<|Executor::)`,
	String.raw`^(void )?(doActivate<|QMetaObject::activate|QtPrivate::(QSlotObject|QCallableObject|FunctorCall|FunctionPointer|FunctorReturn)\b)`,
	String.raw`^(g_main_dispatch|g_main_context_dispatch|g_main_context_iterate|g_closure_invoke|signal_emit_unlocked_R|g_signal_emit|g_signal_emit_valist)\b`,
	String.raw`^core::ops::function::(Fn|FnMut|FnOnce)::call`,
	String.raw`^<?alloc::boxed::Box<.*> as core::ops::function::Fn`,
	String.raw`__rust_(begin|end)_short_backtrace`,
	String.raw`^std::(panicking::(try|catch_unwind)|panic::catch_unwind|rt::lang_start)`,
	String.raw`^<core::panic::unwind_safe::AssertUnwindSafe<.*> as core::ops::function::FnOnce`,
	String.raw`^tokio::runtime::(task|scheduler|context|coop)::`,
	String.raw`^(_start|__libc_start_main|__libc_start_call_main|start_thread|clone3?|__clone3?)(@.*)?$`,
];
