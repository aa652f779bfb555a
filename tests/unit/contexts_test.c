/* contexts_test.c - the variables of this very process, found from outside, and what they say */
#include "sampler/collector/context/blocked_context.h"
#include "sampler/collector/context/contexts.h"
#include "sampler/collector/context/labels.h"
#include "sampler/collector/context/loader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

/* As another vendor's library has it. */
extern __attribute__((visibility("default"))) _Thread_local struct otel_record *otel_thread_ctx_v1;
_Thread_local struct otel_record *otel_thread_ctx_v1;

static int mem_fd;

static uint64_t own_pointer(void)
{
	return (uint64_t)__builtin_thread_pointer();
}

static int open_memory(void **state)
{
	(void)state;
	mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return mem_fd < 0;
}

static int close_memory(void **state)
{
	(void)state;
	return close(mem_fd);
}

static void the_loader_lists_modules(void **state)
{
	struct loader loader;
	struct loader again;
	char name[LOADER_NAME_BYTES];
	bool libc = false;

	(void)state;
	assert_int_equal(loader_read(&loader, getpid(), mem_fd), 0);
	assert_int_equal(loader_read(&again, getpid(), mem_fd), 0);
	assert_true(loader_same(&loader, &again));
	assert_false(loader_has_more(&loader));
	loader_name(&loader, &loader.at[0], name);
	assert_string_equal(name, "");
	for (size_t i = 1; i < loader.n; i++) {
		loader_name(&loader, &loader.at[i], name);
		libc |= strcmp(name, "libc.so.6") == 0;
	}
	assert_true(libc);
	again.n--; /* as before the last was loaded */
	assert_false(loader_same(&loader, &again));
	assert_true(loader_has_more(&again));
	loader_release(&again);
	loader_release(&loader);
	assert_int_equal(loader_read(&loader, 0, mem_fd), -ENOENT);
}

static void symbols_are_found_by_type(void **state)
{
	struct elf_dynamic dynamic;
	struct loader_module nowhere;
	struct loader loader;
	uint64_t value;

	(void)state;
	assert_int_equal(loader_read(&loader, getpid(), mem_fd), 0);
	assert_true(loader_dynamic(&loader, &loader.at[0], &dynamic));
	assert_true(loader_symbol(&loader, &dynamic, "otel_thread_ctx_v1", STT_TLS, &value));
	assert_false(loader_symbol(&loader, &dynamic, "otel_thread_ctx_v1", STT_OBJECT, &value));
	assert_false(loader_symbol(&loader, &dynamic, "otel_thread_ctx_v2", STT_TLS, &value));
	/* Tables that are nowhere. */
	nowhere = loader.at[0];
	nowhere.dynamic = 8;
	assert_false(loader_dynamic(&loader, &nowhere, &dynamic));
	dynamic.gnu_hash = UINT64_MAX - 7;
	assert_false(loader_symbol(&loader, &dynamic, "otel_thread_ctx_v1", STT_TLS, &value));
	loader_release(&loader);
}

static struct otel_record a_record(uint8_t byte)
{
	struct otel_record record = {.valid = 1, .attrs_bytes = 4, .attrs = {9, 2, 'h', 'i'}};

	memset(record.trace_id, byte, sizeof(record.trace_id));
	return record;
}

static void variables_are_posted_once(void **state)
{
	struct ring_header *header = calloc(1, sizeof(*header));
	struct otel_record record = a_record(3);
	struct contexts *contexts;
	struct labels labels;
	uint32_t serial;

	(void)state;
	assert_int_equal(contexts_new(&contexts, getpid(), NULL, 0), 0);
	assert_true(contexts_any(contexts));
	contexts_post(contexts, header);
	assert_int_equal(header->contexts[0].place, CONTEXT_TP);
	assert_int_equal(header->contexts[0].format, CONTEXT_OTEL);
	assert_int_equal(own_pointer() + (uint64_t)header->contexts[0].offset,
			 (uint64_t)&otel_thread_ctx_v1);
	assert_int_equal(header->contexts[1].place, CONTEXT_NOWHERE);
	serial = header->contexts[0].serial;
	assert_int_not_equal(serial, 0);
	contexts_follow(contexts, header, 1, true);
	assert_int_equal(header->contexts[0].serial, serial);
	header->unloads = 4;
	contexts_follow(contexts, header, 2, false);
	assert_int_equal(header->unloads_seen, 4);

	contexts_blocked(contexts, own_pointer(), &labels);
	assert_int_equal(labels.n, 0);
	otel_thread_ctx_v1 = &record;
	contexts_blocked(contexts, own_pointer(), &labels);
	assert_int_equal(labels.n, 2);
	assert_string_equal(labels.text, "trace");
	assert_true(labels_has(&labels, "attr_9"));
	contexts_blocked(contexts, 8, &labels);
	assert_int_equal(labels.n, 0);
	otel_thread_ctx_v1 = NULL;
	contexts_free(contexts);
	free(header);
}

static void a_serial_that_was_never_posted_says_nothing(void **state)
{
	struct ring_header *header = calloc(1, sizeof(*header));
	union context_copy copy = {.head = {.format = CONTEXT_OTEL, .bytes = OTEL_RECORD_HEAD}};
	struct contexts *contexts;
	struct labels labels;

	(void)state;
	memset(copy.head.data, 1, OTEL_RECORD_HEAD);
	assert_int_equal(contexts_new(&contexts, getpid(), NULL, 0), 0);
	contexts_post(contexts, header);
	for (uint32_t serial = 0; serial < 40; serial++) {
		copy.head.serial = serial;
		contexts_labels(contexts, &copy.head, &labels);
		assert_int_equal(labels.n, serial == header->contexts[0].serial ? 2 : 0);
	}
	contexts_labels(NULL, &copy.head, &labels);
	assert_int_equal(labels.n, 0);
	contexts_free(contexts);
	free(header);
}

static void *find_own_pointer(void *ret_found)
{
	*(uint64_t *)ret_found =
		blocked_thread_pointer(mem_fd, (uint64_t)__builtin_frame_address(0));
	return (void *)own_pointer();
}

static void a_thread_pointer_is_found_above_the_stack(void **state)
{
	pthread_t thread;
	uint64_t found;
	void *pointer;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer's own variables of a thread are larger than what is searched */
#endif
	assert_int_equal(pthread_create(&thread, NULL, find_own_pointer, &found), 0);
	assert_int_equal(pthread_join(thread, &pointer), 0);
	assert_int_equal(found, (uint64_t)pointer);
	assert_int_equal(blocked_thread_pointer(mem_fd, UINT64_MAX), 0);
	assert_int_equal(blocked_thread_pointer(mem_fd, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_loader_lists_modules),
		cmocka_unit_test(symbols_are_found_by_type),
		cmocka_unit_test(variables_are_posted_once),
		cmocka_unit_test(a_serial_that_was_never_posted_says_nothing),
		cmocka_unit_test(a_thread_pointer_is_found_above_the_stack),
	};

	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
