/* pack_test.c - a profile there and back, a stranger's pack, and the index made of packs */
#include "load_fixture.h"

#include "base/io.h"
#include "flamescope/load/load.h"
#include "flamescope/pack/pack.h"
#include "flamescope/serve/packs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static const char text[] =
	"# wick : {\"metrics\":[{\"name\":\"m\",\"unit\":\"B\",\"kind\":\"gauge\"}]}\n"
	"# s st=running m=1,2 op=\"free\\\xff\n"
	"a  1/1  [000] 10.5:  1 cpu-clock: \n"
	"\t 1 f+0x3 (m)\n"
	"\n"
	"nonsense\n"
	"b  1/2  [001] 11.5:  7 cpu-clock: \n"
	"\t 2 g (inlined)\n"
	"\t 1 f (m)\n"
	"\n";

static void gives_back_what_was_written(void **state)
{
	struct profile *p = fixture_load(text, sizeof(text) - 1);
	struct profile *again = NULL;
	struct err err = {0};
	struct buf one;
	struct buf other;

	(void)state;
	fixture_pack(p, &one);
	assert_int_equal(pack_read(one.data, one.len, &again, &err), 0);
	fixture_pack(again, &other);
	assert_int_equal(one.len, other.len);
	assert_memory_equal(one.data, other.data, one.len);
	assert_int_equal(again->n_samples, 2);
	assert_int_equal(again->files[0].bad[0], 6);
	assert_int_equal(again->metrics[0].kind, METRIC_GAUGE);
	assert_true(again->frames[again->nodes[again->stacks[1]].frame].inlined);
	profile_free(again);
	profile_free(p);
	buf_release(&one);
	buf_release(&other);
}

/* A number in a file may be any 64 bits: the pack of it is read all the same. */
static void gives_back_the_largest_numbers(void **state)
{
	static const char largest[] =
		"a  1/1  [000] 18446744073.709551615:  18446744073709551615 cpu-clock: \n"
		"\tffffffffffffffff f+0xffffffffffffffff (m)\n"
		"\n"
		"# wick-end : {\"lost_full\":18446744073709551615}\n";
	struct profile *p = fixture_load(largest, sizeof(largest) - 1);
	struct profile *again = NULL;
	struct err err = {0};
	struct buf pack;

	(void)state;
	assert_true(p->files[0].lost == UINT64_MAX);
	fixture_pack(p, &pack);
	assert_int_equal(pack_read(pack.data, pack.len, &again, &err), 0);
	assert_true(again->files[0].lost == UINT64_MAX);
	assert_true(again->times_ns[0] == p->times_ns[0]);
	assert_true(again->start_ns == p->start_ns);
	assert_true(again->weights[0] == UINT64_MAX);
	assert_true(again->frames[0].addr == UINT64_MAX);
	assert_true(again->frames[0].offset == UINT64_MAX);
	profile_free(again);
	profile_free(p);
	buf_release(&pack);
}

/* Two threads that count, one sample that says nothing, numbers of every width. */
static const char steps[] =
	"# wick : {\"metrics\":[{\"name\":\"m\",\"unit\":\"ns\",\"kind\":\"counter\"},"
	"{\"name\":\"w\",\"unit\":\"B\",\"kind\":\"gauge\"}]}\n"
	"# s m=70000000000,70000000000 w=-9223372036854775807,9223372036854775807\n"
	"a  1/1  [000] 10.5:  1 cpu-clock: \n\t 1 f+0x3 (m)\n\n"
	"# s m=500,500 w=0,-1\n"
	"a  1/2  [000] 11.5:  1 cpu-clock: \n\t 1 f+0x3 (m)\n\n"
	"# s st=running\n"
	"a  1/1  [000] 9000000012.5:  1 cpu-clock: \n\t 1 f+0x3 (m)\n\n"
	"# s m=70000000009,9\n"
	"a  1/1  [000] 9000000013.5:  1 cpu-clock: \n\t 1 f+0x3 (m)\n\n";

static bool has_section(const struct buf *pack, const char *name, uint32_t size)
{
	for (size_t at = 24; at + 40 <= pack->len && at < 24 + 40 * 64; at += 40) {
		uint32_t found;

		memcpy(&found, pack->data + at + 32, sizeof(found));
		if (strncmp(pack->data + at, name, 16) == 0)
			return found == size;
	}
	return false;
}

static void gives_back_narrow_numbers_and_steps(void **state)
{
	struct profile *p = fixture_load(steps, sizeof(steps) - 1);
	struct profile *again = NULL;
	struct buf bytes;

	(void)state;
	fixture_pack(p, &bytes);
	assert_true(has_section(&bytes, "value0_step", 1));
	assert_true(has_section(&bytes, "value1", 8));
	assert_true(has_section(&bytes, "delta0", 8));
	assert_true(has_section(&bytes, "stack", 1));
	assert_int_equal(pack_read(bytes.data, bytes.len, &again, NULL), 0);
	assert_int_equal(again->n_samples, 4);
	assert_memory_equal(again->times_ns, p->times_ns, 4 * sizeof(*p->times_ns));
	assert_memory_equal(again->threads, p->threads, 4 * sizeof(*p->threads));
	for (size_t i = 0; i < 2; i++) {
		assert_memory_equal(again->metrics[i].values, p->metrics[i].values,
				    4 * sizeof(int64_t));
		assert_memory_equal(again->metrics[i].deltas, p->metrics[i].deltas,
				    4 * sizeof(int64_t));
	}
	assert_true(again->metrics[0].values[0] == INT64_C(70000000000));
	assert_true(again->metrics[0].values[2] == PROFILE_ABSENT);
	assert_true(again->metrics[0].values[3] == INT64_C(70000000009));
	assert_true(again->metrics[1].values[0] == -INT64_MAX);
	assert_true(again->metrics[1].deltas[0] == INT64_MAX);
	profile_free(again);
	profile_free(p);
	buf_release(&bytes);
}

/* The check sums are right again after the change: what is inside has to be looked at too. */
static void repair(struct buf *buf)
{
	uint32_t n;

	memcpy(&n, buf->data + 12, sizeof(n));
	for (uint32_t i = 0; i < n && 24 + (i + 1) * 40 <= buf->len; i++) {
		char *section = buf->data + 24 + (size_t)i * 40;
		uint64_t offset;
		uint64_t count;
		uint32_t size;
		uint32_t crc;

		memcpy(&offset, section + 16, sizeof(offset));
		memcpy(&count, section + 24, sizeof(count));
		memcpy(&size, section + 32, sizeof(size));
		if (offset > buf->len || size > 8 ||
		    count > (buf->len - offset) / (size ? size : 1))
			continue;
		crc = (uint32_t)crc32_z(0, (unsigned char *)buf->data + offset, count * size);
		memcpy(section + 36, &crc, sizeof(crc));
	}
}

/* All that a reader of a profile would follow. */
static uint64_t touch(const struct profile *p)
{
	uint64_t sum = strlen(p->strings[p->command]) + strlen(p->strings[p->captured]);

	for (size_t i = 0; i < p->n_samples; i++) {
		sum += p->times_ns[i] + p->weights[i] + p->cpus[i] + p->event_names[p->events[i]] +
		       strlen(p->strings[p->thread_list[p->threads[i]].comm]);
		for (uint32_t node = p->stacks[i]; node; node = p->nodes[node].parent)
			sum += strlen(p->strings[p->frames[p->nodes[node].frame].name]);
		for (size_t j = 0; j < p->n_tags; j++)
			sum += p->tags[j].codes[i] == PROFILE_TAG_OTHER
				       ? 0
				       : strlen(p->strings[p->tags[j].values[p->tags[j].codes[i]]]);
		for (size_t j = 0; j < p->n_metrics; j++)
			sum += (uint64_t)p->metrics[j].values[i] ^
			       (uint64_t)p->metrics[j].deltas[i];
	}
	return sum;
}

static void refuses_or_bears_every_changed_byte(void **state)
{
	struct profile *p = fixture_load(text, sizeof(text) - 1);
	size_t refused = 0;
	struct buf bytes;

	(void)state;
	fixture_pack(p, &bytes);
	profile_free(p);
	for (size_t at = 0; at < bytes.len; at++) {
		struct buf changed;
		struct profile *read = NULL;

		buf_init(&changed, bytes.len);
		assert_int_equal(buf_append(&changed, bytes.data, bytes.len), 0);
		changed.data[at] = (char)(changed.data[at] + 1 + (char)(at % 5 * 50));
		repair(&changed);
		if (pack_read(changed.data, changed.len, &read, NULL) == 0)
			assert_true(touch(read) != 12345);
		else
			refused++;
		profile_free(read);
		read = NULL;
		assert_int_not_equal(pack_read(bytes.data, at, &read, NULL), 0);
		buf_release(&changed);
	}
	assert_true(refused > bytes.len / 3);
	buf_release(&bytes);
}

static char *large_file(void)
{
	struct buf buf;
	char *path;

	buf_init(&buf, 8 << 20);
	for (unsigned i = 0; buf.len < (5 << 20); i++)
		buf_printf(&buf,
			   "a  1/1  [000] %u.5:  1 cpu-clock: \n\t 1 f%u (m)\n\t 2 main (m)\n\n", i,
			   i % 100);
	path = file_make(buf.data, buf.len);
	buf_release(&buf);
	return path;
}

static void set_age(const char *path, long seconds)
{
	struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct profile *load_indexed(const char *path, const char *directory)
{
	struct load_options options = {.paths = &path, .n_paths = 1, .index_dir = directory};
	struct profile *profile = NULL;

	assert_int_equal(load_profile(&options, &profile, NULL), 0);
	return profile;
}

static void keeps_an_index_of_what_does_not_change(void **state)
{
	char directory[FOLDER_BYTES];
	char command[FOLDER_BYTES + 32];
	char *path = large_file();
	struct profile *first;
	struct profile *second;
	struct buf one;
	struct buf other;

	(void)state;
	folder_make(directory);
	profile_free(load_indexed(path, directory));
	assert_int_equal(folder_count(directory), 0); /* it was written just now */
	set_age(path, 1000000);
	first = load_indexed(path, directory);
	assert_int_equal(folder_count(directory), 1);
	second = load_indexed(path, directory);
	fixture_pack(first, &one);
	fixture_pack(second, &other);
	assert_int_equal(one.len, other.len);
	assert_memory_equal(one.data, other.data, one.len);
	profile_free(first);
	profile_free(second);
	set_age(path, 2000000); /* as if it were another file */
	profile_free(load_indexed(path, directory));
	assert_int_equal(folder_count(directory), 2);
	(void)snprintf(command, sizeof(command), "for f in %s/*; do echo >$f; done", directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): of our own making */
	second = load_indexed(path, directory);
	assert_true(second->n_samples > 50000);
	profile_free(second);
	folder_remove(directory);
	file_remove(path);
	buf_release(&one);
	buf_release(&other);
}

enum { N_MANY = 300000 };

/* Samples that make a pack of several blocks: of numbers that do not compress. */
static void make_many(const struct profile *of, struct profile *profile)
{
	uint64_t random = 1;

	*profile = *of;
	profile->n_samples = N_MANY;
	profile->n_tags = profile->n_metrics = 0;
	profile->length_ns = N_MANY - 1;
	profile->times_ns = calloc(N_MANY, sizeof(*profile->times_ns));
	profile->weights = calloc(N_MANY, sizeof(*profile->weights));
	profile->threads = profile->stacks = calloc(N_MANY, sizeof(*profile->threads));
	profile->cpus = calloc(N_MANY, sizeof(*profile->cpus));
	profile->events = calloc(N_MANY, sizeof(*profile->events));
	for (size_t i = 0; i < N_MANY; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		profile->times_ns[i] = i;
		profile->weights[i] = i % 3 ? random : i; /* what repeats is far apart, too */
	}
}

static void release_many(struct profile *profile)
{
	free(profile->times_ns);
	free(profile->weights);
	free(profile->threads);
	free(profile->cpus);
	free(profile->events);
}

static void a_pack_of_many_blocks_is_one_gzip_file(void **state)
{
	struct profile *small = fixture_load(text, sizeof(text) - 1);
	struct profile profile;
	struct buf pack, zipped;
	struct err err = {0};
	z_stream stream = {0};
	unsigned char *out;
	uint64_t n_bytes = 0;
	int fd = -1;

	(void)state;
	make_many(small, &profile);
	assert_int_equal(packed_make(&profile, NULL, &fd, &n_bytes, &err), 0);
	fixture_pack(&profile, &pack);
	buf_init(&zipped, SIZE_MAX / 2);
	assert_int_equal(io_read_fd(fd, &zipped), 0);
	assert_int_equal(zipped.len, n_bytes);
	assert_true(pack.len > (size_t)4 * 256 * 1024);
	out = malloc(pack.len + 1);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* which compares the checksum */
	stream.next_in = (unsigned char *)zipped.data;
	stream.avail_in = (uInt)zipped.len;
	stream.next_out = out;
	stream.avail_out = (uInt)pack.len + 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(stream.total_out, pack.len);
	assert_memory_equal(out, pack.data, pack.len);
	(void)inflateEnd(&stream);
	free(out);
	buf_release(&pack);
	buf_release(&zipped);
	(void)close(fd);
	release_many(&profile);
	profile_free(small);
}

static void a_pack_that_nobody_wants_any_more_is_given_up(void **state)
{
	const _Atomic bool stop = true;
	struct profile *p = fixture_load(text, sizeof(text) - 1);
	struct err err = {0};
	uint64_t n_bytes;
	int fd = -1;

	(void)state;
	assert_int_equal(packed_make(p, &stop, &fd, &n_bytes, &err), -ECANCELED);
	assert_int_equal(fd, -1);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_back_what_was_written),
		cmocka_unit_test(gives_back_the_largest_numbers),
		cmocka_unit_test(gives_back_narrow_numbers_and_steps),
		cmocka_unit_test(refuses_or_bears_every_changed_byte),
		cmocka_unit_test(keeps_an_index_of_what_does_not_change),
		cmocka_unit_test(a_pack_of_many_blocks_is_one_gzip_file),
		cmocka_unit_test(a_pack_that_nobody_wants_any_more_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
