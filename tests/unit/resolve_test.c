/* resolve_test.c - frames with the calls inlined there, live and offline, from this very program */
#include "symbolize/symbolize.h"

#include "folder_fixture.h"
#include "tests/unit/symbolize/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

/* Where the innermost of these calls stands, and in which line. */
static uint64_t here;
static int here_line;

static inline __attribute__((always_inline)) void inner(void)
{
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(here));
	here_line = __LINE__ - 1;
}

static inline __attribute__((always_inline)) void middle(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void outer(void)
{
	middle();
	__asm__ volatile("" ::: "memory");
}

static struct symbolizer *start(const struct symbolize_options *options)
{
	struct symbolizer *symbolizer = NULL;
	struct err err = {0};

	outer();
	here--; /* it is where the next instruction begins */
	assert_int_equal(symbolizer_new(options, &symbolizer, &err), 0);
	target_add_maps(symbolizer, getpid(), 0, HIDE_NOTHING);
	return symbolizer;
}

static const char *file_of(const struct frame *frame)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	return slash ? slash + 1 : frame->file;
}

static void check_chain(const struct sample *sample)
{
	static const char *const names[] = {"inner", "middle", "outer"};

	assert_int_equal(sample->n_frames, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(sample->frames[i].symbol, names[i]);
		assert_int_equal(sample->frames[i].inlined, i < 2);
		assert_string_equal(file_of(&sample->frames[i]), "resolve_test.c");
		assert_int_not_equal(sample->frames[i].line, 0);
	}
	assert_int_equal(sample->frames[0].line, here_line);
}

static void inlined_calls_are_frames(void **state)
{
	const struct symbolize_options options = {.wait = true, .no_cache = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame frame = {.addr = here, .exact = true};
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};

	(void)state;
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	check_chain(&sample);
	assert_int_equal(sample.frames[0].addr, here);
	symbolizer_free(symbolizer);
}

static void the_waker_keeps_its_place_behind_them(void **state)
{
	const struct symbolize_options options = {.wait = true, .no_cache = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame frames[] = {{.addr = here, .exact = true}, {.addr = here, .exact = true}};
	struct sample sample = {
		.process = 1, .time_ns = 1, .n_frames = 1, .n_waker = 1, .frames = frames};

	(void)state;
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	check_chain(&sample);
	assert_int_equal(sample.n_waker, 3);
	assert_string_equal(sample.frames[5].symbol, "outer");
	symbolizer_free(symbolizer);
}

static void without_inlined_calls_there_is_the_function(void **state)
{
	const struct symbolize_options options = {
		.wait = true, .no_cache = true, .no_inline = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame frame = {.addr = here, .exact = true};
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};

	(void)state;
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	assert_int_equal(sample.n_frames, 1);
	assert_string_equal(sample.frames[0].symbol, "outer");
	symbolizer_free(symbolizer);
}

static void a_stack_too_deep_with_them_keeps_its_leaf(void **state)
{
	enum { N = SAMPLE_MAX_NAMED / 2 };
	const struct symbolize_options options = {.wait = true, .no_cache = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame *frames = calloc(N, sizeof(*frames));
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = N, .frames = frames};

	(void)state;
	assert_non_null(frames);
	for (size_t i = 0; i < N; i++)
		frames[i] = (struct frame){.addr = here, .exact = true};
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	assert_int_equal(sample.n_frames, SAMPLE_MAX_NAMED);
	assert_true(sample.truncated);
	assert_string_equal(sample.frames[0].symbol, "inner");
	free(frames);
	symbolizer_free(symbolizer);
}

static void nothing_is_searched_without_a_request(void **state)
{
	const struct symbolize_options options = {.wait = true, .no_symbols = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame frame = {.addr = here, .exact = true};
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};
	const struct symbolize_module *modules;

	(void)state;
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	assert_int_equal(sample.n_frames, 1);
	assert_null(sample.frames[0].symbol);
	assert_int_not_equal(sample.frames[0].module_offset, 0);
	assert_int_equal(symbolizer_modules(symbolizer, &modules), 1);
	assert_string_equal(modules[0].source, "none");
	assert_string_equal(modules[0].try, "");
	symbolizer_free(symbolizer);
}

/* Nothing is known of any module yet when the whole stack is asked for. */
static void what_is_asked_before_a_module_is_read_is_not_forgotten(void **state)
{
	enum { N = 64 };
	const struct symbolize_options options = {.no_cache = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame frames[N];
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = N, .frames = frames};

	(void)state;
	for (size_t i = 0; i < N; i++)
		frames[i] = (struct frame){.addr = here + 1 - i, .exact = true};
	frames[N - 1].addr = (uint64_t)(uintptr_t)&strtol; /* of another module */
	symbolizer_request(symbolizer, &sample);
	while (symbolizer_is_busy(symbolizer))
		symbolizer_wait(symbolizer, UINT64_C(1000000000));
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	assert_true(sample.n_frames > N);
	symbolizer_free(symbolizer);
}

/* The offset of HERE in this program, and the program's build-id. */
static uint64_t offset_here(char build_id[2 * 64 + 1])
{
	const struct symbolize_options options = {.wait = true, .no_symbols = true};
	struct symbolizer *symbolizer = start(&options);
	struct frame frame = {.addr = here, .exact = true};
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};
	const struct symbolize_module *modules;
	uint64_t offset;

	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	offset = sample.frames[0].module_offset;
	assert_int_equal(symbolizer_modules(symbolizer, &modules), 1);
	(void)snprintf(build_id, 2 * 64 + 1, "%s", modules[0].build_id);
	symbolizer_free(symbolizer);
	return offset;
}

/* As `wick symbolize` does: the threads of the loader, a list, and one wait. */
static void offline_is_the_same(void **state)
{
	const struct symbolize_options options = {.no_cache = true};
	struct symbolizer *symbolizer = NULL;
	char build_id[2 * 64 + 1];
	struct frame frame = {.exact = true};
	struct sample sample = {.n_frames = 1, .frames = &frame};
	struct module *module;
	struct err err = {0};

	(void)state;
	frame.module_offset = offset_here(build_id);
	assert_int_equal(symbolizer_new(&options, &symbolizer, &err), 0);
	module = symbolizer_open(symbolizer, "/proc/self/exe", -1, build_id, &err);
	assert_non_null(module);
	while (symbolizer_is_busy(symbolizer))
		symbolizer_wait(symbolizer, UINT64_C(1000000000));
	symbolizer_request_in(symbolizer, module, frame.module_offset);
	while (symbolizer_is_busy(symbolizer))
		symbolizer_wait(symbolizer, UINT64_C(1000000000));
	assert_int_equal(symbolizer_resolve_in(symbolizer, module, &sample, false), 0);
	check_chain(&sample);
	symbolizer_free(symbolizer);
}

static void another_build_is_refused(void **state)
{
	const struct symbolize_options options = {.wait = true, .no_cache = true};
	struct symbolizer *symbolizer = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(symbolizer_new(&options, &symbolizer, &err), 0);
	assert_null(
		symbolizer_open(symbolizer, "/proc/self/exe", -1, "00112233445566778899", &err));
	assert_non_null(strstr(err.text, "is not the one that ran"));
	assert_null(symbolizer_open(symbolizer, "/proc/self/exe", -1, "none", &err));
	assert_null(symbolizer_open(symbolizer, "/no/such/file", -1, "", &err));
	symbolizer_free(symbolizer);
}

/* A folder of its own for the cache: the second time no debugging information is needed. */
static void what_was_found_is_kept(void **state)
{
	char folder[FOLDER_BYTES];
	struct symbolize_options options = {.wait = true, .cache_folder = folder};
	char command[FOLDER_BYTES + 64];

	(void)state;
	folder_make(folder);
	for (int i = 0; i < 2; i++) {
		struct symbolizer *symbolizer = start(&options);
		struct frame frame = {.addr = here, .exact = true};
		struct sample sample = {
			.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};

		assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
		check_chain(&sample);
		symbolizer_free(symbolizer);
	}
	(void)snprintf(command, sizeof(command), "find %s -name '*.symbols' | grep -q .", folder);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of this test's own */
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_calls_are_frames),
		cmocka_unit_test(the_waker_keeps_its_place_behind_them),
		cmocka_unit_test(without_inlined_calls_there_is_the_function),
		cmocka_unit_test(a_stack_too_deep_with_them_keeps_its_leaf),
		cmocka_unit_test(nothing_is_searched_without_a_request),
		cmocka_unit_test(what_is_asked_before_a_module_is_read_is_not_forgotten),
		cmocka_unit_test(offline_is_the_same),
		cmocka_unit_test(another_build_is_refused),
		cmocka_unit_test(what_was_found_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
