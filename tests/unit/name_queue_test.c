/* name_queue_test.c - samples stay in order while names are being loaded */
#include "tools/record/name_queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_SEEN = 32 };

/* A symbolizer that has names for everything but addresses at or above `loading`. */
static struct {
	uint64_t loading;
	uint64_t due_ns; /* when it looks again */
	unsigned exits;
	unsigned asked;          /* for samples that wait behind another */
	uint64_t seen[MAX_SEEN]; /* addresses delivered, 1000 + process for exits */
	bool named[MAX_SEEN];
	char label[MAX_SEEN][8];
	size_t n_seen;
	bool stopped;
} world;

int symbolizer_resolve(struct symbolizer *symbolizer, struct sample *sample, bool force)
{
	bool known = sample->frames[0].addr < world.loading;

	(void)symbolizer;
	if (!known && !force)
		return -EAGAIN;
	sample->frames[0].symbol = known ? "name" : NULL;
	return known ? 0 : 1;
}

void symbolizer_request(struct symbolizer *symbolizer, const struct sample *sample)
{
	(void)symbolizer;
	world.asked += sample->n_frames == 1;
}

void symbolizer_exit(struct symbolizer *symbolizer, uint32_t process)
{
	(void)symbolizer;
	assert_true(world.n_seen < MAX_SEEN);
	world.seen[world.n_seen++] = 1000 + process;
}

uint64_t symbolizer_due_ns(const struct symbolizer *symbolizer)
{
	(void)symbolizer;
	return world.due_ns;
}

void symbolizer_wait(struct symbolizer *symbolizer, uint64_t timeout_ns)
{
	(void)symbolizer;
	(void)timeout_ns;
	world.loading = UINT64_MAX; /* the loader is done */
}

void symbolizer_stop(struct symbolizer *symbolizer)
{
	(void)symbolizer;
	world.stopped = true;
}

static void on_sample(void *context, const struct sample *sample)
{
	(void)context;
	assert_true(world.n_seen < MAX_SEEN);
	world.named[world.n_seen] = sample->frames[0].symbol != NULL;
	for (size_t i = 0; i < sample->n_labels; i++)
		(void)snprintf(world.label[world.n_seen], sizeof(world.label[0]), "%s=%s",
			       sample->labels[i].key, sample->labels[i].value);
	world.seen[world.n_seen++] = sample->frames[0].addr;
}

static struct name_queue new_queue(uint64_t loading)
{
	memset(&world, 0, sizeof(world));
	world.loading = loading;
	return (struct name_queue){.deliver = on_sample};
}

static void add(struct name_queue *queue, uint64_t addr, uint64_t now_ns)
{
	struct frame frame = {.addr = addr};
	struct sample sample = {.n_frames = 1, .frames = &frame};

	name_queue_add(queue, &sample, now_ns);
	memset(&frame, 0xee, sizeof(frame)); /* the collector takes its memory back */
}

static void labels_wait_with_their_sample(void **state)
{
	struct name_queue queue = new_queue(100);
	struct frame frame = {.addr = 200};
	char value[] = "v";
	struct sample_label label = {.key = "k", .value = value};
	struct sample sample = {.n_frames = 1, .frames = &frame, .n_labels = 1, .labels = &label};

	(void)state;
	name_queue_add(&queue, &sample, 1);
	value[0] = 'x'; /* the collector takes its memory back */
	label.key = NULL;
	world.loading = 300;
	name_queue_drain(&queue);
	assert_int_equal(world.n_seen, 1);
	assert_string_equal(world.label[0], "k=v");
}

static void samples_with_names_go_straight_through(void **state)
{
	struct name_queue queue = new_queue(100);

	(void)state;
	add(&queue, 1, 1);
	add(&queue, 2, 2);
	assert_int_equal(world.n_seen, 2);
	assert_null(queue.first);
}

static void no_thread_overtakes_a_waiting_one(void **state)
{
	struct name_queue queue = new_queue(10);

	(void)state;
	add(&queue, 50, 1);
	add(&queue, 1, 2);
	name_queue_exit(&queue, 7);
	add(&queue, 2, 3);
	assert_int_equal(world.n_seen, 0);
	world.loading = 100;
	name_queue_advance(&queue, 50000000);
	assert_int_equal(world.n_seen, 4);
	assert_int_equal(world.seen[0], 50);
	assert_int_equal(world.seen[1], 1);
	assert_int_equal(world.seen[2], 1007);
	assert_int_equal(world.seen[3], 2);
	assert_true(world.named[0]);
	assert_int_equal(queue.bytes, 0);
	assert_int_equal(queue.unnamed_frames, 0);
}

static void waits_five_seconds_and_counts(void **state)
{
	struct name_queue queue = new_queue(10);

	(void)state;
	add(&queue, 50, 1000);
	name_queue_advance(&queue, NAME_QUEUE_WAIT_NS);
	assert_int_equal(world.n_seen, 0);
	name_queue_advance(&queue, NAME_QUEUE_WAIT_NS + 1000);
	assert_int_equal(world.n_seen, 1);
	assert_false(world.named[0]);
	assert_int_equal(queue.unnamed_frames, 1);
	assert_int_equal(queue.unnamed_samples, 1);
}

static void says_when_it_has_something_to_do(void **state)
{
	struct name_queue queue = new_queue(10);
	uint64_t soon_ns;

	(void)state;
	assert_true(name_queue_due_ns(&queue, 1000) == UINT64_MAX);
	add(&queue, 50, 1000);
	soon_ns = name_queue_due_ns(&queue, 1000); /* a loader is at it */
	assert_true(soon_ns > 1000 && soon_ns < 100000000);
	world.due_ns = 300000000; /* what is new is gathered until then */
	assert_int_equal(name_queue_due_ns(&queue, 1000), 300000000);
	world.due_ns = 2 * NAME_QUEUE_WAIT_NS;
	assert_int_equal(name_queue_due_ns(&queue, 1000), NAME_QUEUE_WAIT_NS + 1000);
	world.due_ns = UINT64_MAX; /* other names, which it does not know of */
	assert_int_equal(name_queue_due_ns(&queue, 1000), soon_ns);
	name_queue_drain(&queue);
	assert_true(name_queue_due_ns(&queue, 1000) == UINT64_MAX);
}

static void an_exit_alone_is_told_at_once(void **state)
{
	struct name_queue queue = new_queue(10);

	(void)state;
	name_queue_exit(&queue, 3);
	assert_int_equal(world.n_seen, 1);
	assert_int_equal(world.seen[0], 1003);
}

static void memory_is_bounded(void **state)
{
	struct name_queue queue = new_queue(10);
	struct frame frames[SAMPLE_MAX_FRAMES] = {{.addr = 50}};
	struct sample sample = {.n_frames = SAMPLE_MAX_FRAMES, .frames = frames};

	(void)state;
	queue.bytes = NAME_QUEUE_BYTES; /* as if much was waiting */
	name_queue_add(&queue, &sample, 1);
	name_queue_advance(&queue, 2);
	assert_int_equal(world.n_seen, 1);
	assert_int_equal(queue.bytes, NAME_QUEUE_BYTES);
}

static void draining_waits_for_the_loader(void **state)
{
	struct name_queue queue = new_queue(10);

	(void)state;
	add(&queue, 50, UINT64_MAX / 2);
	name_queue_drain(&queue);
	assert_int_equal(world.n_seen, 1);
	assert_true(world.named[0]);
	assert_true(world.stopped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_with_names_go_straight_through),
		cmocka_unit_test(labels_wait_with_their_sample),
		cmocka_unit_test(no_thread_overtakes_a_waiting_one),
		cmocka_unit_test(waits_five_seconds_and_counts),
		cmocka_unit_test(says_when_it_has_something_to_do),
		cmocka_unit_test(an_exit_alone_is_told_at_once),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(draining_waits_for_the_loader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
