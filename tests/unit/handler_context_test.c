/* handler_context_test.c - what the handler copies of a thread's context, and what it must not read
 */
#include "sampler/handler/context.h"
#include "sampler/handler/memory.h"
#include "sampler/wire/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

enum { PAGE = 4096, DTV_WORDS = 32, MAX_OUT = 8 + CONTEXT_MAX_BYTES };

/* A thread with a TCB of our own: { self, dtv, self }, and its static block before it. */
struct fixture {
	struct process *p;
	struct ring_header *header;
	struct ring_slot *ring;
	struct slot slot;
	_Alignas(64) uint64_t block[16];
	uint64_t tcb[4];
	uint64_t dtv[DTV_WORDS];
	struct otel_record record;
	unsigned char *pages; /* the second cannot be read */
	_Alignas(8) unsigned char out[MAX_OUT];
};

static int begin(void **state)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) & ~(size_t)63);

	memset(f, 0, sizeof(*f));
	f->p = calloc(1, sizeof(*f->p));
	f->header = calloc(1, sizeof(*f->header));
	f->ring = calloc(1, RING_BIG_SLOT_BYTES);
	f->p->header = f->header;
	f->p->pid = getpid();
	f->p->state = AGENT_SAMPLING;
	f->slot = (struct slot){.ring = f->ring, .own = (void *)f->ring->own};
	f->ring->thread_pointer = (uint64_t)f->tcb;
	f->tcb[0] = (uint64_t)f->tcb;
	f->tcb[1] = (uint64_t)(f->dtv + 2);
	f->pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)mprotect(f->pages + PAGE, PAGE, PROT_NONE);
	f->record = (struct otel_record){.trace_id = {1}, .span_id = {2}, .valid = 1};
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	(void)munmap(f->pages, 2 * PAGE);
	free(f->p);
	free(f->header);
	free(f->ring);
	free(f);
	return 0;
}

static void post(struct fixture *f, int i, enum context_place place, enum context_format format)
{
	f->header->contexts[i] = (struct context_variable){
		.place = place,
		.format = (uint16_t)format,
		.module = 3,
		.serial = (uint32_t)i + 1,
		.offset =
			place == CONTEXT_TP ? (int64_t)((uint64_t)f->block - (uint64_t)f->tcb) : 8,
	};
}

/* Return: the data, with how much there is; NULL: no context. */
static const uint8_t *copy(struct fixture *f, size_t *ret_len)
{
	struct record_context *context = (void *)f->out;
	uint32_t n;

	memset(f->out, 0xee, sizeof(f->out));
	n = context_append(f->p, &f->slot, context);
	*ret_len = n ? context->bytes : 0;
	if (!n)
		return NULL;
	assert_int_equal(n, sizeof(*context) + (context->bytes + 7U) / 8 * 8);
	assert_true(n <= MAX_OUT);
	return context->data;
}

static bool has_context(struct fixture *f)
{
	size_t n;

	return copy(f, &n) != NULL;
}

/* APART: from where wick.h has a thread's record. */
static void point_to_page(struct fixture *f, size_t apart)
{
	struct otel_record *record =
		(void *)(f->pages + offsetof(struct table_thread, record) + apart);

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	f->header->contexts[0].flags = CONTEXT_STAYS;
	f->header->tids[0] = 77;
	memcpy(f->pages, &f->header->tids[0], sizeof(uint32_t));
	memcpy(record, &f->record, OTEL_RECORD_HEAD);
	f->block[0] = (uint64_t)record;
}

static void a_record_of_another_library_may_be_unmapped(void **state)
{
	struct fixture *f = *state;

	point_to_page(f, 16);
	assert_true(has_context(f));
	(void)mprotect(f->pages, PAGE, PROT_NONE);
	assert_false(has_context(f));
}

static void a_page_is_kept_only_if_it_is_the_threads_block(void **state)
{
	struct fixture *f = *state;

	point_to_page(f, 0);
	f->header->tids[0] = 78;
	assert_true(has_context(f));
	(void)mprotect(f->pages, PAGE, PROT_NONE);
	assert_false(has_context(f));
	(void)mprotect(f->pages, PAGE, PROT_READ | PROT_WRITE);
	f->header->tids[0] = 77;
	assert_true(has_context(f));
	/* Without a system call. */
	f->p->state = AGENT_NO_SYSCALLS;
	memset(f->slot.own->probed, 0, sizeof(f->slot.own->probed));
	assert_true(has_context(f));
}

static void add_attribute(struct fixture *f, uint16_t bytes)
{
	f->record.attrs_bytes = bytes;
	f->record.attrs[0] = 4;
	f->record.attrs[1] = 5;
	memcpy(f->record.attrs + 2, "hello", 5);
}

static void records_are_read_by_the_thread_pointer(void **state)
{
	struct fixture *f = *state;
	const uint8_t *data;
	size_t n;

	assert_false(has_context(f)); /* nothing is posted */
	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	assert_false(has_context(f)); /* the thread has none */
	f->block[0] = (uint64_t)&f->record;
	add_attribute(f, 7);
	data = copy(f, &n);
	assert_int_equal(n, OTEL_RECORD_HEAD + 7);
	assert_memory_equal(data, &f->record, n);
	assert_int_equal(data[n], 0);
	f->record.valid = 0;
	assert_false(has_context(f));
	f->record.valid = 2;
	assert_false(has_context(f));
}

static void blocks_of_libraries_are_found_in_the_dtv(void **state)
{
	struct fixture *f = *state;
	uint64_t *dtv = f->dtv + 2; /* glibc: its length is at [-1], of 16 bytes */

	post(f, 0, CONTEXT_DTV, CONTEXT_OTEL);
	f->block[1] = (uint64_t)&f->record;
	f->dtv[0] = 2;
	dtv[6] = (uint64_t)f->block;
	assert_false(has_context(f)); /* module 3 of 2 */
	f->dtv[0] = 3;
	assert_true(has_context(f));
	dtv[6] = UINT64_MAX; /* not allocated */
	assert_false(has_context(f));
	dtv[6] = 0;
	assert_false(has_context(f));
	dtv[6] = 0x10; /* and nonsense */
	assert_false(has_context(f));
	f->tcb[1] = 0;
	assert_false(has_context(f));
}

static void musl_has_another_dtv(void **state)
{
	struct fixture *f = *state;
	uint64_t *dtv = f->dtv + 2;

	post(f, 0, CONTEXT_DTV_MUSL, CONTEXT_OTEL);
	f->block[1] = (uint64_t)&f->record;
	dtv[0] = 3;
	dtv[3] = (uint64_t)f->block;
	assert_true(has_context(f));
	dtv[0] = 2;
	assert_false(has_context(f));
	dtv[0] = 3;
	dtv[3] = 0;
	assert_false(has_context(f));
}

static void pointers_to_nothing_are_no_context(void **state)
{
	struct fixture *f = *state;
	const uint64_t nothing[] = {8,
				    2,
				    1,
				    (uint64_t)f->pages + PAGE,
				    (uint64_t)&f->record + 1,
				    UINT64_MAX,
				    UINT64_MAX - 1,
				    UINT64_C(1) << 63,
				    (uint64_t)f->pages + PAGE - 26};

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		f->block[0] = nothing[i];
		assert_false(has_context(f));
	}
	/* A variable that is nowhere. */
	f->block[0] = (uint64_t)&f->record;
	f->header->contexts[0].offset = (int64_t)((uint64_t)f->pages + PAGE - (uint64_t)f->tcb);
	assert_false(has_context(f));
	f->header->contexts[0].offset = INT64_MIN;
	assert_false(has_context(f));
}

static void too_many_attributes_are_cut(void **state)
{
	struct fixture *f = *state;
	unsigned char *at = f->pages + PAGE - OTEL_RECORD_HEAD;
	size_t n;

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	f->block[0] = (uint64_t)&f->record;
	f->record.attrs_bytes = UINT16_MAX;
	assert_non_null(copy(f, &n));
	assert_int_equal(n, CONTEXT_MAX_BYTES);
	/* The head alone where the rest cannot be read. */
	memcpy(at, &f->record, OTEL_RECORD_HEAD);
	f->block[0] = (uint64_t)at;
	assert_non_null(copy(f, &n));
	assert_int_equal(n, OTEL_RECORD_HEAD);
}

static void a_page_that_is_gone_is_not_read_again(void **state)
{
	struct fixture *f = *state;

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	memcpy(f->pages, &f->record, OTEL_RECORD_HEAD);
	f->block[0] = (uint64_t)f->pages;
	assert_true(has_context(f));
	(void)mprotect(f->pages, PAGE, PROT_NONE);
	assert_false(has_context(f));
}

static void values_count_unless_they_are_zero(void **state)
{
	struct fixture *f = *state;
	struct context_thread *thread = (void *)f->block;
	size_t n;

	post(f, 0, CONTEXT_TP, CONTEXT_WICK);
	thread->block = 77;
	thread->value.flags = 1;
	assert_false(has_context(f));
	thread->value.identity = 9;
	assert_memory_equal(copy(f, &n), &thread->value, sizeof(thread->value));
	assert_int_equal(n, sizeof(thread->value));
}

static void the_first_variable_with_a_context_wins(void **state)
{
	struct fixture *f = *state;
	struct record_context *context = (void *)f->out;

	post(f, 1, CONTEXT_TP, CONTEXT_OTEL);
	post(f, 3, CONTEXT_TP, CONTEXT_WICK);
	f->block[0] = 0;
	f->block[1] = 1;
	assert_true(has_context(f));
	assert_int_equal(context->serial, 4);
	f->block[0] = (uint64_t)&f->record;
	assert_true(has_context(f));
	assert_int_equal(context->serial, 2);
	assert_int_equal(context->format, CONTEXT_OTEL);
	f->header->contexts[1].format = 9; /* unknown */
	assert_true(has_context(f));
	assert_int_equal(context->serial, 4);
}

static void without_system_calls_only_proven_pages_are_read(void **state)
{
	struct fixture *f = *state;

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	memcpy(f->pages, &f->record, OTEL_RECORD_HEAD);
	f->block[0] = (uint64_t)f->pages;
	f->p->state = AGENT_NO_SYSCALLS;
	assert_false(has_context(f));
	f->p->state = AGENT_SAMPLING;
	assert_true(has_context(f));
	f->p->state = AGENT_NO_SYSCALLS;
	assert_true(has_context(f));
	f->block[0] = (uint64_t)f->pages + PAGE;
	assert_false(has_context(f));
}

struct label {
	uint64_t key_len;
	const void *key;
	uint64_t value_len;
	const void *value;
};

struct label_set {
	const struct label *labels;
	uint64_t n;
	uint64_t size;
};

static void labels_are_bounded(void **state)
{
	struct fixture *f = *state;
	static char text[300];
	struct label labels[40] = {{3, "key", 5, "value"}, {4, NULL, 4, "none"},
				   {300, text, 1, "x"},    {1, "k", 300, text},
				   {2, "ok", 0, NULL},     {1, "n", 9, (void *)8},
				   {1, (void *)8, 1, "n"}, {1, "z", UINT64_MAX, f->pages + PAGE}};
	struct label_set set = {labels, 8, 8};
	const uint8_t *data;
	size_t n;

	memset(text, 't', sizeof(text));
	post(f, 0, CONTEXT_TP, CONTEXT_LABELS);
	f->block[0] = (uint64_t)&set;
	data = copy(f, &n);
	assert_int_equal(n, 10 + 2 + 1 + 255 + 2 + 2);
	assert_memory_equal(data, "\3key\5value\1k\377ttt", 16);
	assert_memory_equal(data + n - 4, "\2ok\0", 4);
	for (size_t i = 0; i < 40; i++)
		labels[i] = (struct label){1, "a", 1, "b"};
	set.n = UINT64_MAX;
	assert_non_null(copy(f, &n));
	assert_int_equal(n, 4 * CONTEXT_MAX_LABELS);
	for (size_t i = 0; i < 40; i++)
		labels[i] = (struct label){255, text, 255, text};
	assert_non_null(copy(f, &n));
	assert_int_equal(n, 512);
	set.labels = (void *)(f->pages + PAGE - 8);
	assert_null(copy(f, &n));
	set.n = 0;
	assert_null(copy(f, &n));
}

static void a_variable_that_is_being_changed_is_not_read(void **state)
{
	struct fixture *f = *state;

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	f->block[0] = (uint64_t)&f->record;
	f->header->contexts[0].place = CONTEXT_NOWHERE;
	assert_false(has_context(f));
}

static void while_modules_may_go_the_kernel_reads(void **state)
{
	struct fixture *f = *state;
	size_t n;

	f->p->unloading = PROCESS_UNHOOKED;
	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	f->block[0] = (uint64_t)&f->record;
	add_attribute(f, 7);
	assert_non_null(copy(f, &n));
	assert_int_equal(n, OTEL_RECORD_HEAD + 7);
	f->block[0] = (uint64_t)f->pages + PAGE;
	assert_null(copy(f, &n));
}

static void a_module_that_may_be_gone_is_not_read(void **state)
{
	struct fixture *f = *state;

	post(f, 0, CONTEXT_TP, CONTEXT_OTEL);
	f->block[0] = (uint64_t)&f->record;
	assert_true(has_context(f));
	f->p->unloading = 1;
	assert_false(has_context(f));
	f->p->unloading = 0;
	f->header->unloads = 1;
	assert_false(has_context(f)); /* the collector has not looked again */
	f->header->contexts[0].flags = CONTEXT_KEPT;
	assert_true(has_context(f));
	f->header->contexts[0].flags = 0;
	f->header->unloads_seen = 1;
	assert_true(has_context(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_record_of_another_library_may_be_unmapped, begin,
						end),
		cmocka_unit_test_setup_teardown(a_page_is_kept_only_if_it_is_the_threads_block,
						begin, end),
		cmocka_unit_test_setup_teardown(records_are_read_by_the_thread_pointer, begin, end),
		cmocka_unit_test_setup_teardown(blocks_of_libraries_are_found_in_the_dtv, begin,
						end),
		cmocka_unit_test_setup_teardown(musl_has_another_dtv, begin, end),
		cmocka_unit_test_setup_teardown(pointers_to_nothing_are_no_context, begin, end),
		cmocka_unit_test_setup_teardown(too_many_attributes_are_cut, begin, end),
		cmocka_unit_test_setup_teardown(a_page_that_is_gone_is_not_read_again, begin, end),
		cmocka_unit_test_setup_teardown(values_count_unless_they_are_zero, begin, end),
		cmocka_unit_test_setup_teardown(the_first_variable_with_a_context_wins, begin, end),
		cmocka_unit_test_setup_teardown(without_system_calls_only_proven_pages_are_read,
						begin, end),
		cmocka_unit_test_setup_teardown(labels_are_bounded, begin, end),
		cmocka_unit_test_setup_teardown(a_variable_that_is_being_changed_is_not_read, begin,
						end),
		cmocka_unit_test_setup_teardown(a_module_that_may_be_gone_is_not_read, begin, end),
		cmocka_unit_test_setup_teardown(while_modules_may_go_the_kernel_reads, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
