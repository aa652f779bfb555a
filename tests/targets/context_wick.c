/*
 * context_wick.c - a program whose state is laid out as wick.h lays it out (sampler/wire/tables.h),
 * written by hand: a thread and a child by fork that get the context of their creators, and a
 * thread with a record
 */
#include "sampler/wire/tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Not exported: the note says where they are. */
_Thread_local struct context_thread wick_thread_1;
_Thread_local void *otel_thread_ctx_v1;
struct tables_anchor wick_anchor_1;
extern _Thread_local struct context_thread wick_thread_1;
extern _Thread_local void *otel_thread_ctx_v1;
extern struct tables_anchor wick_anchor_1;

__asm__(".pushsection .note.wick.tables, \"a\", %note\n"
	"	.balign 4\n"
	"	.long 5, 24, 0x74\n"
	"	.asciz \"wick\"\n"
	"	.balign 4\n"
	"	.8byte wick_anchor_1 - .\n"
	"	.8byte wick_thread_1@dtpoff\n"
	"	.8byte otel_thread_ctx_v1@dtpoff\n"
	"	.popsection\n");

static struct tables_state state = {.abi = TABLES_ABI, .bytes = sizeof(state)};
static struct tables tables;
static volatile unsigned long sink;

static void burn(void)
{
	struct timespec now;
	double begin = 0;

	do {
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i ^ sink;
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		if (begin == 0)
			begin = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	} while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < begin + 0.3);
}

static __attribute__((noinline, noclone)) void *handed(void *unused)
{
	burn();
	__asm__ volatile("" ::: "memory");
	return unused;
}

static __attribute__((noinline, noclone)) void *forked(void *unused)
{
	burn();
	__asm__ volatile("nop" ::: "memory"); /* not the same function as handed() */
	return unused;
}

static unsigned add(struct otel_record *record, unsigned at, uint8_t key, const char *value)
{
	record->attrs[at] = key;
	record->attrs[at + 1] = (uint8_t)strlen(value);
	memcpy(record->attrs + at + 2, value, strlen(value));
	return at + 2 + (unsigned)strlen(value);
}

static __attribute__((noinline, noclone)) void *recorded(void *unused)
{
	static struct otel_record record;
	unsigned n = add(&record, 0, CONTEXT_IDENTITY, "GET /y z");

	n = add(&record, n, CONTEXT_TASK, "proc@/src/dir/a.c:12");
	n = add(&record, n, CONTEXT_TIER, "queue");
	n = add(&record, n, CONTEXT_TIER, "db");
	record.attrs_bytes = (uint16_t)add(&record, n, CONTEXT_FUNCTION, "f@b.c:3");
	memset(record.trace_id, 7, sizeof(record.trace_id));
	memset(record.span_id, 7, sizeof(record.span_id));
	record.valid = 1;
	otel_thread_ctx_v1 = &record;
	burn();
	__asm__ volatile("" ::: "memory");
	return unused;
}

static void run(void *(*start)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start, NULL))
		_exit(3);
	(void)pthread_join(thread, NULL);
}

int main(void)
{
	struct table_name *name = &tables.names[5];
	struct context_thread *own = &wick_thread_1;
	pid_t child;

	wick_anchor_1 = (struct tables_anchor){.abi = TABLES_ABI, .state = (uint64_t)&state};
	state.tables = (uint64_t)&tables;
	name->kind = NAME_IDENTITY;
	name->bytes = 6;
	memcpy(name->text, "GET /x", 7);
	memset(own->value.trace_id, 5, sizeof(own->value.trace_id));
	memset(own->value.span_id, 5, sizeof(own->value.span_id));
	own->value.identity = 5;
	run(handed);
	child = fork();
	if (child == 0) {
		(void)forked(NULL);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	memset(&own->value, 0, sizeof(own->value));
	run(recorded);
	return 0;
}
