/*
 * wick.hpp - wick.h for C++: requests, tiers and tasks that end with a scope, and coroutines
 *
 *	wick::request r("GET /users");             serves a request until the end of the scope
 *	wick::working_for w(context);              works for another one
 *	wick::tier t("db");                        a part of it; WICK_TIER("db") is quicker
 *	wick::task_run run(&task);                 runs a task
 *
 *	struct promise_type : wick::task_promise   each coroutine is a task (C++20), which
 *	wick::resume(handle);                      the scheduler resumes
 *
 * C++11.
 *
 * Context: any thread.
 */
#ifndef WICK_HPP
#define WICK_HPP

#include "wick.h"

#ifdef __cpp_impl_coroutine
#include <coroutine>
#endif

namespace wick
{

/* Serves a request. */
class request
{
	::wick_request r;

      public:
	/* cppcheck-suppress uninitMemberVar ; wick_request_begin() writes what is read */
	explicit request(const char *identity)
	{
		wick_request_begin(&r, identity);
	}
	~request()
	{
		wick_request_end(&r);
	}
	request(const request &) = delete;
	request &operator=(const request &) = delete;
};

/* Works for another request. */
class working_for
{
	::wick_context before;

      public:
	explicit working_for(const ::wick_context &c) : before(wick_context_set(c))
	{
	}
	~working_for()
	{
		(void)wick_context_set(before);
	}
	working_for(const working_for &) = delete;
	working_for &operator=(const working_for &) = delete;
};

/* A tier.  WICK_TIER() is quicker: it looks the name up once. */
class tier
{
	::wick_scope scope;

      public:
	explicit tier(const char *name) : scope(wick_tier_enter(name))
	{
	}
	~tier()
	{
		wick_scope_leave(&scope);
	}
	tier(const tier &) = delete;
	tier &operator=(const tier &) = delete;
};

/* Runs a task.  The task may end meanwhile, and be gone. */
class task_run
{
	::wick_task *task;

      public:
	explicit task_run(::wick_task *t) : task(t)
	{
		wick_task_run(t);
	}
	~task_run()
	{
		if (wick_task_runs(task))
			wick_task_suspend(task);
	}
	task_run(const task_run &) = delete;
	task_run &operator=(const task_run &) = delete;
};

#ifdef __cpp_impl_coroutine
/*
 * A base of promise types: the coroutine is a task, from initial_suspend() to final_suspend(), and
 * cancelled when it is destroyed before.  The scheduler resumes it by wick::resume(handle).  A
 * promise with an initial_suspend() of its own calls wick_create() there, and one with a
 * final_suspend() or unhandled_exception() of its own wick_finish().
 */
class task_promise
{
#ifdef WICK_TABLES_NOTE
	::wick_site site;
#endif
	::wick_task task;

      public:
	task_promise() : task()
	{
	}
	~task_promise()
	{
		if (wick_task_is(&task))
			wick_finish(WICK_CANCELLED);
	}
	task_promise(const task_promise &) = delete;
	task_promise &operator=(const task_promise &) = delete;
	void wick_create(const char *function, const char *file, unsigned line)
	{
#ifdef WICK_TABLES_NOTE
		site = {0, 0, line, function, function, file};
		wick_task_create_at(&task, &site, function);
#else
		wick_task_create(&task, function);
		(void)file;
		(void)line;
#endif
	}
	void wick_finish(::wick_end how)
	{
		if (wick_task_is(&task))
			wick_task_finish(&task, how);
	}
	::wick_task *wick_task_of()
	{
		return &task;
	}
	std::suspend_always initial_suspend(const char *function = __builtin_FUNCTION(),
					    const char *file = __builtin_FILE(),
					    unsigned line = __builtin_LINE()) noexcept
	{
		wick_create(function, file, line);
		return {};
	}
	std::suspend_always final_suspend() noexcept
	{
		wick_finish(WICK_COMPLETED);
		return {};
	}
	void unhandled_exception() noexcept
	{
		wick_finish(WICK_FAILED);
	}
};

/**
 * resume - have a coroutine run whose promise is a task_promise
 */
template <class promise> void resume(std::coroutine_handle<promise> handle)
{
	task_run running(handle.promise().wick_task_of());

	handle.resume();
}
#endif

} // namespace wick

#endif
