/* index_test.c - what makes the second opening quick is trusted in nothing, and keeps to its room
 */
#include "load_fixture.h"

#include "base/io.h"
#include "flamescope/load/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char key[] = "0123456789abcdef0123456789abcdef";
static const char text[] = "# wick : {\"hz\":99,\"metrics\":[{\"name\":\"rss\"}]}\n"
			   "# s st=running rss=5,1\n"
			   "a  1/1  [000] 10.5:  1 cpu-clock: \n"
			   "\t 1 f (m)\n"
			   "\n"
			   "# s st=sleeping wait=futex rss=6,1\n"
			   "b  1/2  [000] 11.5:  1 cpu-clock: \n"
			   "\t 2 g (m)\n"
			   "\t 1 f (m)\n"
			   "\n";

/* A folder with an index in it, and a recording. */
struct index_dir {
	char folder[FOLDER_BYTES];
	char index[80];
	char pack[160];
	char *recording;
	const char *paths[1];
	struct load_options options;
};

static int set_up(void **state)
{
	struct index_dir *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	folder_make(place->folder);
	(void)snprintf(place->index, sizeof(place->index), "%s/index", place->folder);
	(void)snprintf(place->pack, sizeof(place->pack), "%s/%s.pack", place->index, key);
	place->recording = file_make(text, strlen(text));
	place->paths[0] = place->recording;
	place->options = (struct load_options){
		.paths = place->paths, .n_paths = 1, .index_dir = place->index};
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct index_dir *place = *state;

	folder_remove(place->folder);
	file_remove(place->recording);
	free(place);
	return 0;
}

static struct profile *load(const struct load_options *options)
{
	struct profile *profile = NULL;
	struct err err = {0};

	if (load_profile(options, &profile, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

/* Something is kept under KEY. */
static void keep(const struct index_dir *place)
{
	struct load_options options = place->options;
	struct profile *profile;

	options.no_index = true;
	profile = load(&options);
	index_write(&place->options, key, profile);
	profile_free(profile);
	assert_int_equal(access(place->pack, R_OK), 0);
}

static bool is_read(const struct index_dir *place)
{
	struct profile *profile = index_read(&place->options, key);
	size_t n = profile ? profile->n_samples : 0;

	profile_free(profile);
	return n == 2;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void keeps_what_only_the_user_can_read(void **state)
{
	const struct index_dir *place = *state;
	mode_t mask = umask(0);

	keep(place);
	(void)umask(mask);
	assert_true(is_read(place));
	assert_int_equal(mode_of(place->index), 0700);
	assert_int_equal(mode_of(place->pack), 0600);
	assert_null(index_read(&place->options, "fedcba9876543210fedcba9876543210"));
}

static void reads_nothing_where_others_may_write(void **state)
{
	const struct index_dir *place = *state;

	keep(place);
	for (mode_t bit = 02; bit <= 020; bit <<= 3) {
		assert_int_equal(chmod(place->index, 0700 | bit), 0);
		assert_false(is_read(place));
	}
	assert_int_equal(chmod(place->index, 0700), 0);
	assert_true(is_read(place));
}

static void reads_nothing_of_another_user(void **state)
{
	const struct index_dir *place = *state;

	if (geteuid() != 0)
		skip(); /* files cannot be given away */
	keep(place);
	assert_int_equal(chown(place->pack, 1, (gid_t)-1), 0);
	assert_false(is_read(place));
	assert_int_equal(chown(place->pack, 0, (gid_t)-1), 0);
	assert_true(is_read(place));
	assert_int_equal(chown(place->index, 1, (gid_t)-1), 0);
	assert_false(is_read(place));
	/* nor is anything written there */
	assert_int_equal(unlink(place->pack), 0);
	index_write(&place->options, key, NULL);
	assert_int_equal(access(place->pack, F_OK), -1);
}

static void follows_no_link_and_waits_for_no_pipe(void **state)
{
	const struct index_dir *place = *state;
	char other[192];

	keep(place);
	(void)snprintf(other, sizeof(other), "%s.other", place->pack);
	assert_int_equal(rename(place->pack, other), 0);
	assert_int_equal(symlink(other, place->pack), 0);
	assert_false(is_read(place));
	assert_int_equal(unlink(place->pack), 0);
	assert_int_equal(mkfifo(place->pack, 0600), 0);
	assert_false(is_read(place));
	assert_int_equal(unlink(place->pack), 0);
	assert_int_equal(rename(other, place->pack), 0);
	assert_true(is_read(place));
}

static void write_pack(const struct index_dir *place, const void *bytes, size_t len)
{
	int fd = open(place->pack, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len, NULL), 0);
	(void)close(fd);
}

/* What is read of BYTES is nothing, or what was kept: padding between the sections may be damaged.
 */
static void check_damaged(const struct index_dir *place, const struct buf *kept, const void *bytes,
			  size_t len)
{
	struct profile *profile;
	struct buf again;

	write_pack(place, bytes, len);
	profile = index_read(&place->options, key);
	if (!profile) {
		assert_int_equal(access(place->pack, F_OK), len ? -1 : 0); /* removed */
		return;
	}
	fixture_pack(profile, &again);
	assert_int_equal(again.len, kept->len);
	assert_memory_equal(again.data, kept->data, kept->len);
	buf_release(&again);
	profile_free(profile);
}

static void survives_every_byte_damaged(void **state)
{
	const struct index_dir *place = *state;
	struct profile *profile;
	struct buf kept, bytes;
	struct err err = {0};
	size_t unseen = 0;

	keep(place);
	buf_init(&bytes, 1 << 20);
	assert_int_equal(io_read_file(place->pack, &bytes, &err), 0);
	profile = index_read(&place->options, key);
	assert_non_null(profile);
	fixture_pack(profile, &kept);
	profile_free(profile);
	for (size_t i = 0; i < bytes.len; i++) {
		bytes.data[i] = (char)~bytes.data[i];
		check_damaged(place, &kept, bytes.data, bytes.len);
		unseen += access(place->pack, F_OK) == 0;
		bytes.data[i] = (char)~bytes.data[i];
	}
	/* up to seven bytes before each of the sections */
	assert_true(unseen < bytes.len / 4);
	for (size_t len = 0; len < bytes.len; len++)
		check_damaged(place, &kept, bytes.data, len);
	buf_release(&bytes);
	buf_release(&kept);
}

/* Files that look like packs: LEN bytes (none of them on the disk), last used SECONDS ago. */
static void put_other(const struct index_dir *place, const char *name, uint64_t len, long seconds)
{
	struct timespec times[2] = {{.tv_sec = 0}, {.tv_sec = time(NULL) - seconds}};
	char path[192];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", place->index, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	assert_int_equal(futimens(fd, times), 0);
	(void)close(fd);
}

static bool is_there(const struct index_dir *place, const char *name)
{
	char path[192];

	(void)snprintf(path, sizeof(path), "%s/%s", place->index, name);
	return access(path, F_OK) == 0;
}

static void removes_what_was_not_used_for_longest(void **state)
{
	const struct index_dir *place = *state;
	const uint64_t max = (uint64_t)INDEX_MAX_MIB << 20;

	keep(place);
	put_other(place, "aa.pack", max / 2, 300);
	put_other(place, "bb.pack", max / 4, 100);
	put_other(place, "cc.pack", max / 2, 200);
	put_other(place, "dd.pack.123", max / 2, 400); /* of a program that was killed */
	put_other(place, "notes.txt", max, 500);
	keep(place);
	assert_true(is_read(place));
	assert_true(is_there(place, "bb.pack"));
	assert_true(is_there(place, "cc.pack"));
	assert_false(is_there(place, "aa.pack"));
	assert_false(is_there(place, "dd.pack.123"));
	assert_true(is_there(place, "notes.txt"));
}

static void uses_are_noted(void **state)
{
	const struct index_dir *place = *state;
	struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 5}};
	struct stat st;

	keep(place);
	assert_int_equal(utimensat(AT_FDCWD, place->pack, times, 0), 0);
	assert_true(is_read(place));
	assert_int_equal(stat(place->pack, &st), 0);
	assert_true(st.st_mtim.tv_sec > 5);
}

enum { LARGE_BYTES = 4500000 }; /* an index is worth it */

/* A large recording that has been as it is for long. */
static void make_large(struct index_dir *place)
{
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct buf buf;

	buf_init(&buf, LARGE_BYTES + 1024);
	for (int i = 0; buf.len < LARGE_BYTES; i++)
		buf_printf(&buf, "a  1/1  [000] %d.5:  1 cpu-clock: \n\t 1 f%0100d (m)\n\n", i,
			   i % 7);
	(void)unlink(place->recording);
	free(place->recording);
	place->recording = file_make(buf.data, buf.len);
	place->paths[0] = place->recording;
	assert_int_equal(utimensat(AT_FDCWD, place->recording, times, 0), 0);
	buf_release(&buf);
}

static bool key_of(const struct index_dir *place, char ret_key[INDEX_KEY_SIZE])
{
	return index_key(&place->options, ret_key);
}

/* Change a byte, and leave the times as they were. */
static void change_byte(const struct index_dir *place, off_t at)
{
	int fd = open(place->recording, O_RDWR | O_CLOEXEC);
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	assert_int_equal(futimens(fd, times), 0);
	(void)close(fd);
}

static void a_key_tells_what_the_file_holds(void **state)
{
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000, .tv_nsec = 1}};
	struct index_dir *place = *state;
	char first[INDEX_KEY_SIZE], other[INDEX_KEY_SIZE];

	assert_false(key_of(place, first)); /* small */
	make_large(place);
	assert_true(key_of(place, first));
	assert_true(key_of(place, other));
	assert_string_equal(first, other);
	for (int i = 0; i < 3; i++) {
		off_t at = i == 0 ? 10 : i == 1 ? LARGE_BYTES - 10 : LARGE_BYTES / 33 + 100;

		change_byte(place, at);
		assert_true(key_of(place, other));
		assert_string_not_equal(first, other);
		change_byte(place, at);
	}
	assert_int_equal(utimensat(AT_FDCWD, place->recording, times, 0), 0);
	assert_true(key_of(place, other));
	assert_string_not_equal(first, other);
	assert_int_equal(truncate(place->recording, LARGE_BYTES - 200), 0);
	assert_false(key_of(place, other)); /* it may change again before its time does */
	times[1].tv_nsec = 0;
	assert_int_equal(utimensat(AT_FDCWD, place->recording, times, 0), 0);
	assert_true(key_of(place, other));
	assert_string_not_equal(first, other);
	place->paths[0] = "-";
	assert_false(key_of(place, other));
	place->paths[0] = "/no/such/file";
	assert_false(key_of(place, other));
}

/* As a server opens it: by a descriptor whose number is another each time. */
static void a_file_is_found_by_any_name(void **state)
{
	struct index_dir *place = *state;
	char first[INDEX_KEY_SIZE], other[INDEX_KEY_SIZE], name[64];
	struct profile *profile;
	int fd;

	make_large(place);
	assert_true(key_of(place, first));
	profile_free(load(&place->options));
	fd = open(place->recording, O_RDONLY | O_CLOEXEC);
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	place->paths[0] = name;
	assert_true(key_of(place, other));
	assert_string_equal(first, other);
	profile = index_read(&place->options, other);
	assert_non_null(profile);
	assert_string_equal(profile->files[0].path, name);
	profile_free(profile);
	(void)close(fd);
}

/* What is loaded is the same without an index, with a good one and with a damaged one. */
static void a_damaged_index_is_made_anew(void **state)
{
	struct index_dir *place = *state;
	char name[INDEX_KEY_SIZE];
	size_t n = 0;

	make_large(place);
	assert_true(key_of(place, name));
	(void)snprintf(place->pack, sizeof(place->pack), "%s/%s.pack", place->index, name);
	for (int i = 0; i < 4; i++) {
		struct profile *profile = load(&place->options);

		assert_true(n == 0 || profile->n_samples == n);
		n = profile->n_samples;
		profile_free(profile);
		profile = index_read(&place->options, name);
		assert_non_null(profile);
		assert_int_equal(profile->n_samples, n);
		profile_free(profile);
		if (i == 1)
			assert_int_equal(truncate(place->pack, 1000), 0);
		else if (i == 2)
			write_pack(place, "wickpack", 8);
	}
}

/* Of what the loader makes of a text: FNV-1a, 64 bits. */
static uint64_t add_hash(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t add_loaded(uint64_t hash, const char *path, const char *name)
{
	struct load_options options = {.paths = &path, .n_paths = 1, .no_index = true};
	struct profile *profile = load(&options);
	struct buf packed;

	/* the file's own name is no part of it */
	profile->files[0].path = (char *)(uintptr_t)name;
	fixture_pack(profile, &packed);
	hash = add_hash(hash, packed.data, packed.len);
	buf_release(&packed);
	profile_free(profile);
	return hash;
}

static uint64_t add_text(uint64_t hash, const char *bytes)
{
	char *path = file_make(bytes, strlen(bytes));

	hash = add_loaded(hash, path, "text");
	file_remove(path);
	return hash;
}

/*
 * An index that an older loader has made is taken for what this one would make, unless INDEX_FORMAT
 * says that they differ.
 */
static void the_format_counts_up_when_other_profiles_are_made(void **state)
{
	static const struct {
		int format;
		uint64_t hash;
	} known = {9, UINT64_C(0x19b69b78a8328255)};
	static const char *const names[] = {
		"golden.perf",      "golden_bare.perf", "zoo.bare.perf", "zoo.comment.perf",
		"zoo.group.perf",   "zoo.inline.perf",  "zoo.ns.perf",   "zoo.plain.perf",
		"zoo.srcline.perf", "labels.perf"};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/%s", GOLDEN, names[i]);
		hash = add_loaded(hash, path, names[i]);
	}
	hash = add_text(hash, text);
	hash = add_text(hash, "main;work;read 12\nmain;work 3\n");
	hash = add_text(hash, "S 1/2 [001] 1.5: 2 ev:\tmetric_heap: 7, -8\n\t 1 f\n"
			      "nonsense\n\n  x  3 2.5: ev: \r\n\t 2 [unknown] ([unknown])\r\n\r\n");
	if (hash != known.hash && INDEX_FORMAT == known.format)
		fail_msg("the loader makes other profiles than it did: count INDEX_FORMAT up in "
			 "flamescope/load/internal.h, and write {%d, UINT64_C(%#llx)} into this "
			 "test",
			 INDEX_FORMAT + 1, (unsigned long long)hash);
	if (hash != known.hash || INDEX_FORMAT != known.format)
		fail_msg("INDEX_FORMAT is another: write {%d, UINT64_C(%#llx)} into this test",
			 INDEX_FORMAT, (unsigned long long)hash);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PLACE(keeps_what_only_the_user_can_read),
		WITH_PLACE(reads_nothing_where_others_may_write),
		WITH_PLACE(reads_nothing_of_another_user),
		WITH_PLACE(follows_no_link_and_waits_for_no_pipe),
		WITH_PLACE(survives_every_byte_damaged),
		WITH_PLACE(removes_what_was_not_used_for_longest),
		WITH_PLACE(uses_are_noted),
		WITH_PLACE(a_key_tells_what_the_file_holds),
		WITH_PLACE(a_file_is_found_by_any_name),
		WITH_PLACE(a_damaged_index_is_made_anew),
		cmocka_unit_test(the_format_counts_up_when_other_profiles_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
