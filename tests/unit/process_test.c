/* process_test.c - draining a process that writes what it likes into the shared memory */
#include "base/units.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/stream/filter.h"
#include "sampler/collector/stream/stream.h"
#include "sampler/procfs/proc.h"

#include "base/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct collector_options options = {.hz = 99, .discovery = DISCOVERY_TIMER};

/* A process that is ourselves, and a second mapping of its rings: the target's. */
struct fixture {
	struct queue queue;
	struct collector_stats stats;
	struct stream stream;
	struct process *process;
	unsigned char *ring;
	struct ring_header *header;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture || queue_init(&fixture->queue, 64 << 20) < 0)
		return -1;
	fixture->stream.order.queue = &fixture->queue;
	fixture->stream.order.stats = &fixture->stats;
	if (process_new(&fixture->process, 1, getpid(), &options, NULL) < 0)
		return -1;
	fixture->ring = mmap(NULL, ring_chunk_offset(RING_MAX_CHUNKS), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_NORESERVE, fixture->process->ring.fd, 0);
	if (fixture->ring == MAP_FAILED)
		return -1;
	fixture->header = (void *)fixture->ring;
	fixture->process->claim.n_threads = 100; /* enough for the samples of any test */
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	process_end(fixture->process, &fixture->stream.order);
	stream_flush(&fixture->stream, UINT64_MAX);
	event_order_release(&fixture->stream.order);
	queue_release(&fixture->queue);
	(void)munmap(fixture->ring, ring_chunk_offset(RING_MAX_CHUNKS));
	free(fixture);
	return 0;
}

static struct ring_slot *slot_of(const struct fixture *fixture, uint32_t index)
{
	uint32_t chunk = index / RING_CHUNK_SLOTS;

	return (void *)(fixture->ring + ring_chunk_offset(chunk) +
			index % RING_CHUNK_SLOTS * ring_slot_bytes(chunk));
}

static void use_slots(const struct fixture *fixture, uint32_t n)
{
	atomic_store(&fixture->header->n_chunks, (n + RING_CHUNK_SLOTS - 1) / RING_CHUNK_SLOTS);
	atomic_store(&fixture->header->n_slots, n);
}

static void put(const struct fixture *fixture, uint32_t index, const void *record, size_t bytes)
{
	struct ring_slot *slot = slot_of(fixture, index);
	uint64_t head = atomic_load(&slot->head);

	memcpy(slot->data + head % ring_data_bytes(index / RING_CHUNK_SLOTS), record, bytes);
	atomic_store(&slot->head, head + bytes);
}

static void put_sample(const struct fixture *fixture, uint32_t index, uint32_t tid,
		       uint64_t time_ns)
{
	union {
		struct record_sample sample;
		unsigned char bytes[sizeof(struct record_sample) + 8];
	} record = {.sample = {.head = {sizeof(record), RECORD_SAMPLE, 0},
			       .time_ns = time_ns,
			       .tid = tid,
			       .weight = 1,
			       .period_ns = 10101010,
			       .n_pcs = 1}};

	put(fixture, index, &record, sizeof(record));
}

/* Drain all slots, and give back what comes out of the queue at once. */
static struct event *drain(struct fixture *fixture)
{
	fixture->process->sweep = (struct slot_sweep){0};
	process_drain(fixture->process, &fixture->stream.order);
	stream_flush(&fixture->stream, UINT64_MAX - 1);
	return queue_take(&fixture->queue, 0);
}

static void gives_what_was_committed_and_moves_the_tail(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now = io_now_ns();
	struct event *node;

	use_slots(fixture, 1);
	put_sample(fixture, 0, 7, now);
	node = drain(fixture);
	assert_non_null(node);
	assert_int_equal(node->time_ns, now);
	assert_int_equal(node->sample.tid, 7);
	assert_int_equal(atomic_load(&slot_of(fixture, 0)->tail),
			 atomic_load(&slot_of(fixture, 0)->head));
	assert_true(atomic_load(&fixture->header->drained_ns) >= now);
	queue_forget(&fixture->queue, node);
	assert_null(drain(fixture));
}

static uint64_t n_given(struct fixture *fixture)
{
	process_drain(fixture->process, &fixture->stream.order);
	stream_flush(&fixture->stream, UINT64_MAX - 1);
	for (struct event *node = queue_take(&fixture->queue, 0); node;
	     node = queue_take(&fixture->queue, 0))
		queue_forget(&fixture->queue, node);
	return fixture->stats.samples;
}

static void drains_changed_slots_and_sometimes_all(void **state)
{
	struct fixture *fixture = *state;
	_Atomic uint64_t *changed = fixture->header->changed;

	use_slots(fixture, 100);
	assert_int_equal(n_given(fixture), 0);
	put_sample(fixture, 3, 7, io_now_ns());
	put_sample(fixture, 70, 8, io_now_ns());
	assert_int_equal(n_given(fixture), 0);
	atomic_fetch_or(&changed[1], UINT64_C(1) << (70 - 64));
	assert_int_equal(n_given(fixture), 1);
	assert_int_equal(atomic_load(&changed[1]), 0);
	/* One that is not there yet is looked at when it is. */
	atomic_fetch_or(&changed[1], UINT64_C(1) << (110 - 64));
	assert_int_equal(n_given(fixture), 1);
	use_slots(fixture, 120);
	put_sample(fixture, 110, 9, io_now_ns());
	assert_int_equal(n_given(fixture), 2);
	fixture->process->sweep.next_ns = io_now_ns();
	fixture->process->sweep.cpu_ns = fixture->process->charged_ns + 1;
	assert_int_equal(n_given(fixture), 2); /* it has not run since */
	fixture->process->sweep.last_ns = io_now_ns();
	assert_int_equal(n_given(fixture), 3);
	assert_true(fixture->process->sweep.next_ns > io_now_ns());
}

/* Samples of 10 ms in a file of 25 ms: some are folded into the next, and nothing is lost. */
static void counts_in_periods_of_the_file(void **state)
{
	struct fixture *fixture = *state;
	uint64_t weight = 0;

	fixture->stream.base_ns = 25000000;
	use_slots(fixture, 1);
	for (int i = 0; i < 50; i++)
		put_sample(fixture, 0, 7, io_now_ns());
	for (struct event *node = drain(fixture); node; node = queue_take(&fixture->queue, 0)) {
		weight += node->sample.weight;
		assert_true(node->sample.weight > 0);
		queue_forget(&fixture->queue, node);
	}
	/* 50 periods of 10.1 ms are 20.2 of 25 ms; where the first begins is chance. */
	assert_in_range(weight, 20, 21);
	assert_int_equal(fixture->stats.weight, weight);
	assert_int_equal(fixture->stats.samples + fixture->stats.folded, 50);
}

static void believes_no_more_slots_than_there_are(void **state)
{
	struct fixture *fixture = *state;

	atomic_store(&fixture->header->n_slots, UINT32_MAX);
	assert_int_equal(ring_view_n_slots(&fixture->process->ring), 0);
	atomic_store(&fixture->header->n_chunks, 2);
	assert_int_equal(ring_view_n_slots(&fixture->process->ring), 2 * RING_CHUNK_SLOTS);
	atomic_store(&fixture->header->n_chunks, UINT32_MAX);
	assert_int_equal(ring_view_n_slots(&fixture->process->ring), RING_MAX_SLOTS);
	/* The header's own limit is not what we go by. */
	fixture->header->max_slots = UINT32_MAX;
	assert_int_equal(ring_view_n_slots(&fixture->process->ring), RING_MAX_SLOTS);
	assert_null(ring_view_slot(&fixture->process->ring, RING_MAX_SLOTS));
	assert_null(drain(fixture));
}

static void reads_the_last_slot_of_the_last_chunk(void **state)
{
	struct fixture *fixture = *state;
	struct event *node;

	use_slots(fixture, RING_MAX_SLOTS);
	put_sample(fixture, RING_MAX_SLOTS - 1, 7, io_now_ns());
	node = drain(fixture);
	assert_non_null(node);
	queue_forget(&fixture->queue, node);
}

static void refuses_times_that_cannot_be(void **state)
{
	struct fixture *fixture = *state;

	use_slots(fixture, 1);
	put_sample(fixture, 0, 7, 0);
	put_sample(fixture, 0, 7, fixture->process->started_ns - 1);
	put_sample(fixture, 0, 7, io_now_ns() + NS_PER_S);
	put_sample(fixture, 0, 7, UINT64_MAX);
	assert_null(drain(fixture));
	assert_int_equal(fixture->stats.lost_corrupt, 4);
	assert_int_equal(fixture->stats.samples, 0);
}

static void refuses_a_head_beyond_the_ring(void **state)
{
	struct fixture *fixture = *state;

	use_slots(fixture, 1);
	atomic_store(&slot_of(fixture, 0)->head, ring_data_bytes(0) + 8);
	assert_null(drain(fixture));
	assert_int_equal(fixture->stats.lost_corrupt, 1);
	assert_null(drain(fixture));
	assert_int_equal(fixture->stats.lost_corrupt, 1);
}

static void counts_no_loss_twice_and_none_backwards(void **state)
{
	struct fixture *fixture = *state;
	struct ring_slot *slot = slot_of(fixture, 0);

	use_slots(fixture, 1);
	atomic_store(&slot->lost_full, 10);
	atomic_store(&fixture->header->lost_noslot, 5);
	(void)drain(fixture);
	(void)drain(fixture);
	assert_int_equal(fixture->stats.lost_full, 10);
	atomic_store(&slot->lost_full, 3);
	atomic_store(&fixture->header->lost_noslot, 0);
	(void)drain(fixture);
	assert_int_equal(fixture->stats.lost_full, 10);
	assert_int_equal(fixture->stats.lost_noslot, 5);
	atomic_store(&slot->lost_full, UINT64_MAX);
	(void)drain(fixture);
	atomic_store(&fixture->header->lost_noslot, UINT64_MAX);
	(void)drain(fixture);
	assert_int_equal(fixture->stats.lost_full, UINT64_MAX);
}

static void says_once_that_an_agent_could_not_start(void **state)
{
	struct fixture *fixture = *state;

	atomic_store(&fixture->header->agent_errno, 11);
	atomic_store(&fixture->header->state, AGENT_NO_TIMER);
	(void)drain(fixture);
	(void)drain(fixture);
	assert_int_equal(fixture->stats.agentless, 1);
	assert_int_equal(fixture->stats.agentless_errno, 11);
}

static void gives_a_dead_threads_slot_back_after_its_last_record(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t gone = INT32_MAX; /* beyond pid_max */
	struct event *node;

	use_slots(fixture, 2);
	atomic_store(&fixture->header->tids[0], gone);
	atomic_store(&fixture->header->tids[1], (uint32_t)getpid());
	assert_null(drain(fixture));
	put_sample(fixture, 0, gone, io_now_ns());
	process_reap(fixture->process, &fixture->stream.order);
	assert_int_equal(atomic_load(&fixture->header->tids[0]), RING_TID_DEAD);
	assert_int_equal(atomic_load(&fixture->header->tids[1]), (uint32_t)getpid());
	node = drain(fixture);
	assert_non_null(node);
	assert_int_equal(node->sample.tid, gone);
	queue_forget(&fixture->queue, node);
	/* What comes of that tid later is another thread's. */
	assert_null(map_get(&fixture->process->threads, gone));
}

static void believes_no_more_cpu_than_there_was(void **state)
{
	struct fixture *fixture = *state;

	atomic_store(&fixture->header->cpu_ns, UINT64_MAX);
	process_charge(fixture->process);
	assert_true(fixture->process->charged_ns < 3600 * NS_PER_S * 1024);
}

/* A weight that the process's clock cannot explain, in one sample or in many, whatever its unit. */
static void believes_no_more_samples_than_cpu(void **state)
{
	struct fixture *fixture = *state;
	struct record_sample sample = {.weight = 1000000, .period_ns = 10101010};
	uint64_t began_ns = proc_cpu_ns(getpid());
	uint64_t believed = 0;

	fixture->process->claim.n_threads = 0;
	process_charge(fixture->process);
	assert_true(process_believe(fixture->process, &sample, &fixture->stats));
	assert_in_range(sample.weight, 1, 200);
	assert_int_equal(fixture->stats.lost_forged, 1000000 - sample.weight);
	for (int i = 0; i < 100000; i++) {
		if (i % 10000 == 5000)
			(void)usleep(50000); /* what passes without CPU explains nothing */
		sample = (struct record_sample){.weight = 1, .period_ns = 1};
		believed += process_believe(fixture->process, &sample, &fixture->stats);
	}
	/* Each claims a millisecond at least; a part and the scatter come to the CPU. */
	assert_in_range(believed * NS_PER_MS, 0,
			2 * (proc_cpu_ns(getpid()) - began_ns) + 100 * NS_PER_MS);
	assert_true(fixture->process->claim.cut);
	process_charge(fixture->process);
	assert_false(fixture->process->claim.cut);
}

static void gives_the_mappings_of_a_process(void **state)
{
	struct fixture *fixture = *state;
	bool found = false;
	struct event *node;

	(void)process_update_mappings(fixture->process, &fixture->stream.order, true);
	stream_flush(&fixture->stream, UINT64_MAX - 1);
	while ((node = queue_take(&fixture->queue, 0))) {
		uint64_t here = (uint64_t)(uintptr_t)&gives_the_mappings_of_a_process;

		assert_int_equal(node->kind, EVENT_KIND_MAPPING);
		found = found || (node->mapping.start <= here && here < node->mapping.end &&
				  strstr(node->mapping.path, "process_test"));
		queue_forget(&fixture->queue, node);
	}
	assert_true(found);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* ---- samples that are left out */

static bool starts_with_w(void *context, const char *comm, size_t len)
{
	unsigned *n_asked = context;

	(*n_asked)++;
	return len > 0 && comm[0] == 'w';
}

static void put_name(const struct fixture *fixture, uint32_t index, uint32_t tid, uint64_t time_ns,
		     const char *comm)
{
	struct record_thread record = {
		.head = {sizeof(record), RECORD_THREAD, 0}, .time_ns = time_ns, .tid = tid};

	(void)strncpy(record.comm, comm, sizeof(record.comm) - 1);
	put(fixture, index, &record, sizeof(record));
}

/* The tid of the next sample that is given; 0 when there is none. */
static uint32_t next_tid(struct fixture *fixture)
{
	struct event *node = drain(fixture);
	uint32_t tid = node ? node->sample.tid : 0;

	queue_forget(&fixture->queue, node);
	return tid;
}

static void the_first_name_is_that_of_samples_before_it(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now = io_now_ns();
	struct event *node;

	use_slots(fixture, 1);
	put_name(fixture, 0, 7, now + 1000, "worker");
	put_sample(fixture, 0, 7, now + 1000);
	put_sample(fixture, 0, 7, now); /* was interrupted by the one that gave the name */
	for (unsigned i = 0; i < 2; i++) {
		node = drain(fixture);
		assert_non_null(node);
		assert_int_equal(node->time_ns, now + i * 1000UL);
		assert_string_equal(node->sample.comm, "worker");
		queue_forget(&fixture->queue, node);
	}
}

static void gives_only_samples_of_threads_that_are_named(void **state)
{
	struct fixture *fixture = *state;
	unsigned n_asked = 0;
	struct filter keep = {.options = {.names = starts_with_w, .context = &n_asked}};
	uint64_t now = io_now_ns();

	fixture->stream.filter = &keep;
	use_slots(fixture, 2);
	put_name(fixture, 0, 7, now, "worker");
	put_name(fixture, 1, 8, now, "other");
	for (unsigned i = 0; i < 3; i++) {
		put_sample(fixture, 0, 7, now + 2 * i + 1);
		put_sample(fixture, 1, 8, now + 2 * i);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(next_tid(fixture), 7);
	assert_int_equal(next_tid(fixture), 0);
	assert_int_equal(n_asked, 2);
	assert_int_equal(fixture->stats.samples, 6);
	assert_int_equal(fixture->stats.weight, 6);
	assert_int_equal(fixture->stats.threads, 2);
	assert_int_equal(fixture->stats.filtered[SERIES_CLOCK].weight, 3);
	assert_int_equal(fixture->stats.filtered[SERIES_CLOCK].samples, 3);
	/* A new name is asked about anew. */
	put_name(fixture, 1, 8, io_now_ns(), "w");
	put_sample(fixture, 1, 8, io_now_ns());
	assert_int_equal(next_tid(fixture), 8);
	assert_int_equal(n_asked, 3);
}

static void gives_only_samples_of_the_states_asked_for(void **state)
{
	struct fixture *fixture = *state;
	struct filter keep = {.options = {.states = 1U << STATE_SLEEPING}};

	fixture->stream.filter = &keep;
	use_slots(fixture, 1);
	put_sample(fixture, 0, 7, io_now_ns());
	assert_int_equal(next_tid(fixture), 0);
	assert_int_equal(fixture->stats.filtered[SERIES_CLOCK].weight, 1);
	keep.options.states |= 1U << STATE_RUNNING;
	put_sample(fixture, 0, 7, io_now_ns());
	assert_int_equal(next_tid(fixture), 7);
	assert_int_equal(fixture->stats.filtered[SERIES_CLOCK].weight, 1);
}

static void named_threads_are_kept_beside_the_top(void **state)
{
	struct fixture *fixture = *state;
	unsigned n_asked = 0;
	struct filter keep = {
		.options = {.top = {.n = 1}, .names = starts_with_w, .context = &n_asked}};
	uint64_t now = io_now_ns();

	top_init(&keep.top, &keep.options.top);
	fixture->stream.filter = &keep;
	use_slots(fixture, 1);
	put_name(fixture, 0, 9, now, "worker");
	for (uint32_t tid = 7; tid <= 9; tid++)
		put_sample(fixture, 0, tid, now + tid);
	assert_int_equal(next_tid(fixture), 7); /* the free slot */
	assert_int_equal(next_tid(fixture), 9);
	assert_int_equal(next_tid(fixture), 0);
	assert_int_equal(fixture->stats.filtered[SERIES_CLOCK].weight, 1);
	filter_release(&keep);
}

static void a_delta_is_against_the_sample_given_before(void **state)
{
	struct fixture *fixture = *state;
	unsigned n_asked = 0;
	struct filter keep = {.options = {.names = starts_with_w, .context = &n_asked}};
	uint64_t now = io_now_ns();
	struct event *node;

	fixture->stream.filter = &keep;
	use_slots(fixture, 1);
	for (unsigned i = 0; i < 4; i++) {
		union {
			struct record_sample sample;
			unsigned char bytes[sizeof(struct record_sample) + 8];
		} record = {.sample = {.head = {sizeof(record), RECORD_SAMPLE, 0},
				       .time_ns = now + 2 * i + 1,
				       .tid = 7,
				       .weight = 1,
				       .period_ns = 10101010,
				       .minflt = 10 + i * i * 100,
				       .n_pcs = 1}};

		put_name(fixture, 0, 7, now + 2 * i, i % 2 ? "w" : "x");
		put(fixture, 0, &record, sizeof(record));
	}
	node = drain(fixture);
	assert_int_equal(node->sample.metrics[1].value, 110);
	assert_int_equal(node->sample.metrics[1].delta, 0);
	queue_forget(&fixture->queue, node);
	node = drain(fixture);
	assert_int_equal(node->sample.metrics[1].value, 910);
	assert_int_equal(node->sample.metrics[1].delta, 800);
	queue_forget(&fixture->queue, node);
}

/* Who writes samples can write any tid into them. */
static void remembers_so_many_threads_and_no_more(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t tid = 1; tid <= PROCESS_MAX_THREADS; tid++)
		assert_non_null(process_thread(fixture->process, tid));
	assert_null(process_thread(fixture->process, PROCESS_MAX_THREADS + 1));
	assert_non_null(process_thread(fixture->process, 1));
	process_forget_thread(fixture->process, 1);
	assert_non_null(process_thread(fixture->process, PROCESS_MAX_THREADS + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(gives_what_was_committed_and_moves_the_tail),
		with_fixture(drains_changed_slots_and_sometimes_all),
		with_fixture(counts_in_periods_of_the_file),
		with_fixture(believes_no_more_slots_than_there_are),
		with_fixture(reads_the_last_slot_of_the_last_chunk),
		with_fixture(refuses_times_that_cannot_be),
		with_fixture(refuses_a_head_beyond_the_ring),
		with_fixture(counts_no_loss_twice_and_none_backwards),
		with_fixture(says_once_that_an_agent_could_not_start),
		with_fixture(gives_a_dead_threads_slot_back_after_its_last_record),
		with_fixture(believes_no_more_cpu_than_there_was),
		with_fixture(believes_no_more_samples_than_cpu),
		with_fixture(gives_the_mappings_of_a_process),
		with_fixture(the_first_name_is_that_of_samples_before_it),
		with_fixture(gives_only_samples_of_threads_that_are_named),
		with_fixture(gives_only_samples_of_the_states_asked_for),
		with_fixture(named_threads_are_kept_beside_the_top),
		with_fixture(a_delta_is_against_the_sample_given_before),
		with_fixture(remembers_so_many_threads_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
