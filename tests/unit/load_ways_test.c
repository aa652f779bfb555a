/* load_ways_test.c - whatever reads a text, and however, the profile is the same */
#include "load_fixture.h"
#include "sanitized.h"

#include "base/io.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char small[] =
	"# hostname : vm\n"
	"# wick : "
	"{\"hz\":99,\"epoch_offset_ns\":5,\"metrics\":[{\"name\":\"cpu_ns\",\"unit\":\"ns\","
	"\"kind\":\"counter\"}]}\n"
	"#\n"
	"# s st=sleeping wait=futex on=pipe:[7] cpu_ns=12,-3 rss_kib=5,0 task=9 comm=Worker%203\n"
	"Worker_3  4000/4001  [001] 12345.020202:          2 cpu-clock: \n"
	"\t            7f01 leaf+0x1a (/lib/libc.so.6)\n"
	"\t            7f03 inner (inlined)\n"
	"\t            4011 main+0x2b (/opt/app)\n"
	"\n"
	"# req : {\"tier\":\"db\",\"identity\":\"x 1/2 [000] 1.5: 1 ev: \"}\n"
	"# s st=running cpu_ns=13,1\n"
	"# req : {\"task\":\"a\"}\n"
	"# l a.c:3 - -\n"
	"app  4000/4000  [000] 12345.030202:          1 cpu-clock: \n"
	"\t            7f02 leaf+0x1b (/lib/libc.so.6)\n"
	"\t            4011 main+0x2b (/opt/app)\n"
	"\n"
	"\n"
	"app  4000/4000  [000] 12344.030202:          1 cycles: \n"
	"\n"
	"nonsense\n"
	"app  4000 12345.5: cycles:\tmetric_wick_x: 1, 2\n"
	"\t            4011 main+0x2b (/opt/app)\n"
	"app  4000 12345.5: cycles:\n"
	"\t            4011 main+0x2b (/opt/app)\n"
	"\n"
	"# wick-end : {\"samples\":5,\"lost_full\":3}\n";

/* Under sanitizers at every fourth. */
static void agrees_on_texts_cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(small); len += SANITIZED ? 4 : 1)
		profile_free(fixture_load(small, len));
}

static void finds_what_is_in_the_text(void **state)
{
	struct profile *p = fixture_load(small, sizeof(small) - 1);

	(void)state;
	assert_int_equal(p->n_samples, 5);
	assert_int_equal(p->files[0].bad_lines, 1);
	assert_int_equal(p->files[0].bad[0], 21);
	assert_int_equal(p->files[0].lost, 3);
	assert_int_equal(p->start_ns, UINT64_C(12344030202000));
	assert_int_equal(p->n_tags, 4);
	assert_string_equal(p->strings[p->tags[0].name], "state");
	assert_string_equal(p->strings[p->tags[3].name], "task");
	assert_string_equal(p->strings[p->thread_list[p->threads[1]].comm], "Worker 3");
	assert_string_equal(p->strings[p->thread_list[0].host], "vm");
	assert_int_equal(p->n_metrics, 3);
	assert_string_equal(p->strings[p->metrics[0].unit], "ns");
	assert_int_equal(p->metrics[0].deltas[1], -3);
	assert_true(p->metrics[0].values[0] == PROFILE_ABSENT);
	/* `x` is of the inline dialect: the last sample has the value of the one before it */
	assert_int_equal(p->metrics[2].values[4], 1);
	assert_int_equal(p->metrics[2].deltas[4], 0);
	/* leaf has the address where it was first seen */
	assert_int_equal(p->frames[p->nodes[p->stacks[1]].frame].addr, 0x7f01);
	assert_int_equal(p->frames[p->nodes[p->stacks[2]].frame].addr, 0x7f01);
	assert_int_equal(p->stacks[0], 0);
	profile_free(p);
}

static void replace_all(struct buf *buf, const char *text, const char *what, const char *by)
{
	const char *at;

	buf_init(buf, 1 << 20);
	while ((at = strstr(text, what)) != NULL) {
		assert_int_equal(buf_append(buf, text, (size_t)(at - text)), 0);
		buf_add(buf, by);
		text = at + strlen(what);
	}
	buf_add(buf, text);
}

static size_t count_after(const char *what, const char *by)
{
	struct buf text;
	struct profile *profile;
	size_t n;

	replace_all(&text, small, what, by);
	profile = fixture_load(text.data, text.len);
	n = profile->n_samples;
	profile_free(profile);
	buf_release(&text);
	return n;
}

static void agrees_on_unusual_texts(void **state)
{
	(void)state;
	assert_int_equal(count_after("\n", "\r\n"), 5);
	assert_int_equal(count_after("\n\n", "\n"), 5);
	assert_int_equal(count_after("\n\n", "\n \t\n"), 5);
	assert_int_equal(count_after("\n\n", "\n\r\n\n"), 5);
	assert_int_equal(count_after("# s ", "# x "), 5);
	assert_int_equal(count_after("leaf", "le\ta\xff(f (x)"), 5);
	assert_int_equal(count_after("/lib/libc.so.6)", "/lib/libc.so.6"), 5);
	assert_int_equal(count_after("12345.03", "12345"), 5);
	assert_int_equal(count_after("12345.03", "x12345"), 4);
	assert_int_equal(count_after("app  4000", "#s 4000"), 5);
	assert_int_equal(count_after("app  4000", "# s 4000"), 5);
	assert_int_equal(count_after("app  4000", "# l 4000"), 5);
	assert_int_equal(count_after("app  4000", "     4000"), 5);
	assert_int_equal(count_after("leaf+0x1a", ""), 5);
	assert_int_equal(count_after("main", "main->x->y"), 5);
	assert_int_equal(count_after("\t ", ""), 5);
	assert_int_equal(count_after("app  4000", "# app"), 1);
	assert_int_equal(count_after("\n\n", "\n\n\n\n\n\n"), 5);
	assert_int_equal(count_after("main", "\n\n"), 5);
}

/* A NUL or a newline more, at every third byte; under sanitizers at every ninth. */
static void agrees_on_texts_with_a_byte_more(void **state)
{
	char text[sizeof(small) + 1];

	(void)state;
	for (size_t at = 0; at < sizeof(small) - 1; at += SANITIZED ? 9 : 3) {
		memcpy(text, small, at);
		text[at] = at % 2 ? '\n' : '\0';
		memcpy(text + at + 1, small + at, sizeof(small) - 1 - at);
		profile_free(fixture_load(text, sizeof(small)));
	}
}

static void agrees_on_golden_files(void **state)
{
	static const char *const names[] = {
		"golden.perf",      "golden_bare.perf", "zoo.bare.perf", "zoo.comment.perf",
		"zoo.group.perf",   "zoo.inline.perf",  "zoo.ns.perf",   "zoo.plain.perf",
		"zoo.srcline.perf", "labels.perf"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct profile *profile;
		struct err err = {0};
		char path[512];
		struct buf text;

		buf_init(&text, 1 << 20);
		(void)snprintf(path, sizeof(path), "%s/%s", GOLDEN, names[i]);
		assert_int_equal(io_read_file(path, &text, &err), 0);
		profile = fixture_load(text.data, text.len);
		assert_true(profile->n_samples >= 90);
		assert_int_equal(profile->files[0].bad_lines, 0);
		profile_free(profile);
		buf_release(&text);
	}
}

/* One of these for every sample, by a generator that is the same everywhere. */
static uint32_t next_number(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void add_generated(struct buf *text, uint32_t *seed)
{
	uint32_t kind = next_number(seed) % 40;
	uint32_t depth = 1 + next_number(seed) % 12;

	if (kind % 2)
		buf_printf(text, "# s st=s%u m%u=%u,-%u k%u=v%u\n", kind % 5, kind % 7,
			   next_number(seed) % 100, kind, kind % 3, next_number(seed) % 50);
	if (kind == 38)
		buf_add(text, "\tno frame\n# comment\n");
	buf_printf(text, "t%u  %u/%u  [00%u] %u.%06u:  %u ev%u: \n", kind % 6, kind % 3, kind % 6,
		   kind % 8, 100 + next_number(seed) % 9, next_number(seed) % 1000000, kind,
		   kind % 4);
	for (uint32_t i = 0; i < depth; i++)
		buf_printf(text, "\t%16x f%u+0x%x (/m%u)\n", next_number(seed) % 4096, i + kind % 4,
			   next_number(seed) % 64, kind % 4);
	buf_add(text, kind == 39 ? "" : kind == 37 ? "\n\n\n" : "\n");
}

static void agrees_on_generated_files(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 8; i++) {
		struct profile *profile;
		uint32_t seed = i;
		struct buf text;

		buf_init(&text, 1 << 20);
		for (uint32_t j = 0; j < 300 * i; j++)
			add_generated(&text, &seed);
		profile = fixture_load(text.data, text.len);
		assert_int_equal(profile->n_samples, 300 * i);
		profile_free(profile);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_on_texts_cut_at_every_byte),
		cmocka_unit_test(finds_what_is_in_the_text),
		cmocka_unit_test(agrees_on_unusual_texts),
		cmocka_unit_test(agrees_on_texts_with_a_byte_more),
		cmocka_unit_test(agrees_on_golden_files),
		cmocka_unit_test(agrees_on_generated_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
