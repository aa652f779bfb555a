/*
 * wick_uv.h - callbacks of libuv as tasks
 *
 *	#include <uv.h>
 *	#include <wick_uv.h>
 *
 *	wick_uv_timer_start(&timer, on_timer, 100, 0);	instead of uv_timer_start(...)
 *	wick_uv_close((uv_handle_t *)&timer, on_close);	instead of uv_close(...)
 *
 * Each callback that is armed by one of these is a task, named after the callback and placed where
 * it was armed: it exists from then until it is disarmed (stopped, closed, or called for the only
 * time), and runs while it is called, in the context that there was when it was armed. handle->data
 * is the program's.
 *
 * What is armed is kept by the handle's address, some 100 ns a call.  A handle that is armed again
 * without having been stopped begins a new task.
 *
 * Context: any thread.
 */
#ifndef WICK_UV_H
#define WICK_UV_H

#include "wick.h"

#include <stdlib.h>
#include <uv.h>

#ifdef WICK_TABLES_NOTE

#ifdef __cplusplus
extern "C" {
#endif

enum { WICK_UV_BUCKETS = 1024 };

enum wick_uv_kind {
	WICK_UV_TIMER,
	WICK_UV_READ,
	WICK_UV_LISTEN,
	WICK_UV_ASYNC,
	WICK_UV_POLL,
	WICK_UV_SIGNAL,
	WICK_UV_IDLE,
	WICK_UV_PREPARE,
	WICK_UV_CHECK,
	WICK_UV_REQUEST /* called once; the address is that of the request */
};

/* Private, as all up to wick_uv_close(). */
struct wick_uv_armed {
	struct wick_uv_armed *next;
	const void *handle;
	void (*callback)(void);
	void (*work)(void);
	struct wick_task task;
	struct wick_context context;
	enum wick_uv_kind kind;
	int calls; /* that are going on */
	int gone;  /* disarmed */
};

struct wick_uv_bucket {
	int locked;
	struct wick_uv_armed *first;
};

struct wick_uv_table {
	struct wick_uv_bucket buckets[WICK_UV_BUCKETS];
};

extern struct wick_uv_table wick_uv_table_1 __attribute__((weak, visibility("hidden")));
__attribute__((used)) struct wick_uv_table wick_uv_table_1 = {{{0, 0}}};

/** wick_uv_lock - lock the bucket of a handle */
static inline struct wick_uv_bucket *wick_uv_lock(const void *handle)
{
	uint64_t hash = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
	struct wick_uv_bucket *bucket = &wick_uv_table_1.buckets[hash >> 54];

	while (__atomic_exchange_n(&bucket->locked, 1, __ATOMIC_ACQUIRE))
		;
	return bucket;
}

/** wick_uv_unlock - unlock it */
static inline void wick_uv_unlock(struct wick_uv_bucket *bucket)
{
	__atomic_store_n(&bucket->locked, 0, __ATOMIC_RELEASE);
}

/** wick_uv_place - where in a bucket what is armed is linked */
static inline struct wick_uv_armed **wick_uv_place(struct wick_uv_bucket *bucket,
						   const void *handle, enum wick_uv_kind kind)
{
	struct wick_uv_armed **at = &bucket->first;

	while (*at && ((*at)->handle != handle || (*at)->kind != kind))
		at = &(*at)->next;
	return at;
}

/**
 * wick_uv_find - what is armed of a handle
 *
 * Return:  that; 0 when nothing is.
 */
static inline struct wick_uv_armed *wick_uv_find(const void *handle, enum wick_uv_kind kind)
{
	struct wick_uv_bucket *bucket = wick_uv_lock(handle);
	struct wick_uv_armed *armed = *wick_uv_place(bucket, handle, kind);

	wick_uv_unlock(bucket);
	return armed;
}

/**
 * wick_uv_disarm - a handle's callback is not called any more
 *
 * Return:  0.
 */
static inline int wick_uv_disarm(const void *handle, enum wick_uv_kind kind, enum wick_end how)
{
	struct wick_uv_bucket *bucket = wick_uv_lock(handle);
	struct wick_uv_armed **at = wick_uv_place(bucket, handle, kind);
	struct wick_uv_armed *armed = *at;

	if (armed)
		*at = armed->next;
	wick_uv_unlock(bucket);
	if (!armed)
		return 0;
	armed->gone = 1;
	if (armed->calls)
		return 0; /* what calls it frees it */
	wick_task_finish(&armed->task, how);
	free(armed);
	return 0;
}

/**
 * wick_uv_arm - keep the context that a handle's callback is to have
 *
 * Return:  1; 0 when there is no callback, and nothing to keep; UV_ENOMEM.
 */
static inline int wick_uv_arm(const void *handle, enum wick_uv_kind kind, void (*callback)(void),
			      struct wick_site *site)
{
	struct wick_uv_armed *armed;
	struct wick_uv_bucket *bucket;

	(void)wick_uv_disarm(handle, kind, WICK_COMPLETED);
	if (!callback)
		return 0;
	armed = (struct wick_uv_armed *)calloc(1, sizeof(*armed));
	if (!armed)
		return UV_ENOMEM;
	armed->context = wick_context_get();
	armed->handle = handle;
	armed->kind = kind;
	armed->callback = callback;
	wick_task_create_at(&armed->task, site, site->name);
	bucket = wick_uv_lock(handle);
	armed->next = bucket->first;
	bucket->first = armed;
	wick_uv_unlock(bucket);
	return 1;
}

/**
 * wick_uv_armed_as - what a call of libuv returned, for what was armed for it
 *
 * Return:  it; what is armed is disarmed if it is an error.
 */
static inline int wick_uv_armed_as(int result, const void *handle, enum wick_uv_kind kind)
{
	if (result < 0)
		(void)wick_uv_disarm(handle, kind, WICK_FAILED);
	return result;
}

/**
 * wick_uv_enter - a callback is called
 *
 * Return:  what was armed.
 */
static inline struct wick_uv_armed *wick_uv_enter(const void *handle, enum wick_uv_kind kind)
{
	struct wick_uv_armed *armed = wick_uv_find(handle, kind);

	if (armed->calls++ == 0)
		wick_task_run(&armed->task);
	return armed;
}

/** wick_uv_leave - a callback returns */
static inline void wick_uv_leave(struct wick_uv_armed *armed)
{
	if (--armed->calls != 0)
		return;
	if (!armed->gone) {
		wick_task_suspend(&armed->task);
		armed->task.value = armed->context;
		return;
	}
	wick_task_finish(&armed->task, WICK_COMPLETED);
	free(armed);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types and lists */
#define WICK_UV_CALLER(name, kind, type, parameters, arguments)                                    \
	static inline void wick_uv_call_##name parameters                                          \
	{                                                                                          \
		struct wick_uv_armed *armed = wick_uv_enter(handle, kind);                         \
                                                                                                   \
		if (kind == WICK_UV_REQUEST)                                                       \
			(void)wick_uv_disarm(handle, kind, WICK_COMPLETED);                        \
		if (armed->callback)                                                               \
			((type)armed->callback) arguments;                                         \
		wick_uv_leave(armed);                                                              \
	}

/* NOLINTEND(bugprone-macro-parentheses) */
/**
 * WICK_UV_CALLER - what libuv calls instead of the program's callback
 *
 * One of a request is disarmed before: the program may free the request, or begin another with it.
 */
WICK_UV_CALLER(timer, WICK_UV_TIMER, uv_timer_cb, (uv_timer_t * handle), (handle))
WICK_UV_CALLER(async, WICK_UV_ASYNC, uv_async_cb, (uv_async_t * handle), (handle))
WICK_UV_CALLER(idle, WICK_UV_IDLE, uv_idle_cb, (uv_idle_t * handle), (handle))
WICK_UV_CALLER(prepare, WICK_UV_PREPARE, uv_prepare_cb, (uv_prepare_t * handle), (handle))
WICK_UV_CALLER(check, WICK_UV_CHECK, uv_check_cb, (uv_check_t * handle), (handle))
WICK_UV_CALLER(read, WICK_UV_READ, uv_read_cb,
	       (uv_stream_t * handle, ssize_t n, const uv_buf_t *buf), (handle, n, buf))
WICK_UV_CALLER(listen, WICK_UV_LISTEN, uv_connection_cb, (uv_stream_t * handle, int status),
	       (handle, status))
WICK_UV_CALLER(poll, WICK_UV_POLL, uv_poll_cb, (uv_poll_t * handle, int status, int events),
	       (handle, status, events))
WICK_UV_CALLER(signal, WICK_UV_SIGNAL, uv_signal_cb, (uv_signal_t * handle, int number),
	       (handle, number))
WICK_UV_CALLER(write, WICK_UV_REQUEST, uv_write_cb, (uv_write_t * handle, int status),
	       (handle, status))
WICK_UV_CALLER(connect, WICK_UV_REQUEST, uv_connect_cb, (uv_connect_t * handle, int status),
	       (handle, status))
WICK_UV_CALLER(shutdown, WICK_UV_REQUEST, uv_shutdown_cb, (uv_shutdown_t * handle, int status),
	       (handle, status))
WICK_UV_CALLER(after_work, WICK_UV_REQUEST, uv_after_work_cb, (uv_work_t * handle, int status),
	       (handle, status))
WICK_UV_CALLER(fs, WICK_UV_REQUEST, uv_fs_cb, (uv_fs_t * handle), (handle))
WICK_UV_CALLER(getaddrinfo, WICK_UV_REQUEST, uv_getaddrinfo_cb,
	       (uv_getaddrinfo_t * handle, int status, struct addrinfo *found),
	       (handle, status, found))

/** wick_uv_call_work - what a thread of libuv's pool calls */
static inline void wick_uv_call_work(uv_work_t *handle)
{
	struct wick_uv_armed *armed = wick_uv_enter(handle, WICK_UV_REQUEST);

	((uv_work_cb)armed->work)(handle);
	wick_uv_leave(armed);
}

/**
 * wick_uv_queue_work_at - wick_uv_queue_work() at a site
 *
 * Return:  that of uv_queue_work().
 */
static inline int wick_uv_queue_work_at(uv_loop_t *loop, uv_work_t *work, uv_work_cb work_cb,
					uv_after_work_cb after, struct wick_site *site)
{
	if (wick_uv_arm(work, WICK_UV_REQUEST, (void (*)(void))wick_uv_call_work, site) < 0)
		return UV_ENOMEM;
	wick_uv_find(work, WICK_UV_REQUEST)->callback = (void (*)(void))after;
	wick_uv_find(work, WICK_UV_REQUEST)->work = (void (*)(void))work_cb;
	return wick_uv_armed_as(
		uv_queue_work(loop, work, wick_uv_call_work, wick_uv_call_after_work), work,
		WICK_UV_REQUEST);
}

/** wick_uv_closing - nothing of a handle is armed any more */
static inline void wick_uv_closing(const void *handle)
{
	int kind;

	for (kind = 0; kind < WICK_UV_REQUEST; kind++)
		(void)wick_uv_disarm(handle, (enum wick_uv_kind)kind, WICK_COMPLETED);
}

#define WICK_UV_SITE(callback)                                                                     \
	static struct wick_site wick_site = {0, 0, __LINE__, #callback, __func__, __FILE__}

/* Arms a callback and makes the call; without a callback there is nothing to arm. */
#define WICK_UV_ARM(handle, kind, callback, call, bare)                                            \
	__extension__({                                                                            \
		WICK_UV_SITE(callback);                                                            \
		int wick_armed =                                                                   \
			wick_uv_arm(handle, kind, (void (*)(void))(callback), &wick_site);         \
		wick_armed < 0 ? wick_armed                                                        \
			       : wick_uv_armed_as(wick_armed ? (call) : (bare), handle, kind);     \
	})

/* As the functions of libuv without wick_.  Their arguments are evaluated more than once. */
#define wick_uv_timer_start(handle, callback, timeout, repeat)                                     \
	WICK_UV_ARM(handle, WICK_UV_TIMER, callback,                                               \
		    uv_timer_start(handle, wick_uv_call_timer, timeout, repeat), UV_EINVAL)
#define wick_uv_timer_stop(handle)                                                                 \
	(wick_uv_disarm(handle, WICK_UV_TIMER, WICK_COMPLETED), uv_timer_stop(handle))
#define wick_uv_read_start(stream, alloc, callback)                                                \
	WICK_UV_ARM(stream, WICK_UV_READ, callback,                                                \
		    uv_read_start(stream, alloc, wick_uv_call_read), UV_EINVAL)
#define wick_uv_read_stop(stream)                                                                  \
	(wick_uv_disarm(stream, WICK_UV_READ, WICK_COMPLETED), uv_read_stop(stream))
#define wick_uv_listen(stream, backlog, callback)                                                  \
	WICK_UV_ARM(stream, WICK_UV_LISTEN, callback,                                              \
		    uv_listen(stream, backlog, wick_uv_call_listen), UV_EINVAL)
#define wick_uv_async_init(loop, handle, callback)                                                 \
	WICK_UV_ARM(handle, WICK_UV_ASYNC, callback,                                               \
		    uv_async_init(loop, handle, wick_uv_call_async),                               \
		    uv_async_init(loop, handle, 0))
#define wick_uv_poll_start(handle, events, callback)                                               \
	WICK_UV_ARM(handle, WICK_UV_POLL, callback,                                                \
		    uv_poll_start(handle, events, wick_uv_call_poll), UV_EINVAL)
#define wick_uv_poll_stop(handle)                                                                  \
	(wick_uv_disarm(handle, WICK_UV_POLL, WICK_COMPLETED), uv_poll_stop(handle))
#define wick_uv_signal_start(handle, callback, number)                                             \
	WICK_UV_ARM(handle, WICK_UV_SIGNAL, callback,                                              \
		    uv_signal_start(handle, wick_uv_call_signal, number), UV_EINVAL)
#define wick_uv_signal_stop(handle)                                                                \
	(wick_uv_disarm(handle, WICK_UV_SIGNAL, WICK_COMPLETED), uv_signal_stop(handle))
#define wick_uv_idle_start(handle, callback)                                                       \
	WICK_UV_ARM(handle, WICK_UV_IDLE, callback, uv_idle_start(handle, wick_uv_call_idle),      \
		    UV_EINVAL)
#define wick_uv_idle_stop(handle)                                                                  \
	(wick_uv_disarm(handle, WICK_UV_IDLE, WICK_COMPLETED), uv_idle_stop(handle))
#define wick_uv_prepare_start(handle, callback)                                                    \
	WICK_UV_ARM(handle, WICK_UV_PREPARE, callback,                                             \
		    uv_prepare_start(handle, wick_uv_call_prepare), UV_EINVAL)
#define wick_uv_prepare_stop(handle)                                                               \
	(wick_uv_disarm(handle, WICK_UV_PREPARE, WICK_COMPLETED), uv_prepare_stop(handle))
#define wick_uv_check_start(handle, callback)                                                      \
	WICK_UV_ARM(handle, WICK_UV_CHECK, callback, uv_check_start(handle, wick_uv_call_check),   \
		    UV_EINVAL)
#define wick_uv_check_stop(handle)                                                                 \
	(wick_uv_disarm(handle, WICK_UV_CHECK, WICK_COMPLETED), uv_check_stop(handle))
#define wick_uv_write(request, stream, bufs, n_bufs, callback)                                     \
	WICK_UV_ARM(request, WICK_UV_REQUEST, callback,                                            \
		    uv_write(request, stream, bufs, n_bufs, wick_uv_call_write),                   \
		    uv_write(request, stream, bufs, n_bufs, 0))
#define wick_uv_tcp_connect(request, tcp, address, callback)                                       \
	WICK_UV_ARM(request, WICK_UV_REQUEST, callback,                                            \
		    uv_tcp_connect(request, tcp, address, wick_uv_call_connect), UV_EINVAL)
#define wick_uv_shutdown(request, stream, callback)                                                \
	WICK_UV_ARM(request, WICK_UV_REQUEST, callback,                                            \
		    uv_shutdown(request, stream, wick_uv_call_shutdown),                           \
		    uv_shutdown(request, stream, 0))
#define wick_uv_getaddrinfo(loop, request, callback, node, service, hints)                         \
	WICK_UV_ARM(request, WICK_UV_REQUEST, callback,                                            \
		    uv_getaddrinfo(loop, request, wick_uv_call_getaddrinfo, node, service, hints), \
		    uv_getaddrinfo(loop, request, 0, node, service, hints))
/* wick_uv_fs(&request, on_read, uv_fs_read, loop, &request, ...): the arguments without the
 * callback */
#define wick_uv_fs(request, callback, function, ...)                                               \
	WICK_UV_ARM(request, WICK_UV_REQUEST, callback, function(__VA_ARGS__, wick_uv_call_fs),    \
		    function(__VA_ARGS__, 0))
#define wick_uv_queue_work(loop, request, work, after)                                             \
	__extension__({                                                                            \
		WICK_UV_SITE(work);                                                                \
		wick_uv_queue_work_at(loop, request, work, after, &wick_site);                     \
	})
#define wick_uv_close(handle, callback) (wick_uv_closing(handle), uv_close(handle, callback))

#ifdef __cplusplus
}
#endif

#else

#define wick_uv_timer_start                          uv_timer_start
#define wick_uv_timer_stop                           uv_timer_stop
#define wick_uv_read_start                           uv_read_start
#define wick_uv_read_stop                            uv_read_stop
#define wick_uv_listen                               uv_listen
#define wick_uv_async_init                           uv_async_init
#define wick_uv_poll_start                           uv_poll_start
#define wick_uv_poll_stop                            uv_poll_stop
#define wick_uv_signal_start                         uv_signal_start
#define wick_uv_signal_stop                          uv_signal_stop
#define wick_uv_idle_start                           uv_idle_start
#define wick_uv_idle_stop                            uv_idle_stop
#define wick_uv_prepare_start                        uv_prepare_start
#define wick_uv_prepare_stop                         uv_prepare_stop
#define wick_uv_check_start                          uv_check_start
#define wick_uv_check_stop                           uv_check_stop
#define wick_uv_write                                uv_write
#define wick_uv_tcp_connect                          uv_tcp_connect
#define wick_uv_shutdown                             uv_shutdown
#define wick_uv_getaddrinfo                          uv_getaddrinfo
#define wick_uv_queue_work                           uv_queue_work
#define wick_uv_close                                uv_close
#define wick_uv_fs(request, callback, function, ...) function(__VA_ARGS__, callback)

#endif

#endif
