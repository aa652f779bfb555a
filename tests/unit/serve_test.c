/* serve_test.c - what the page holds is data; what is outside the folder or unknown stays out */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/io.h"
#include "child_fixture.h"
#include "flamescope/pack/pack.h"
#include "flamescope/serve/catalog.h"
#include "flamescope/serve/packs.h"
#include "flamescope/serve/serve.h"
#include "folder_fixture.h"

#define EVIL "</script><script>alert(1)</script><!--\"'&\x01\xff"

enum { N_SAMPLES = 4 };

/* A profile all of whose strings are EVIL (told apart by a digit), and its columns. */
struct evil_profile {
	struct profile profile;
	const char *strings[8];
	char texts[8][64];
	uint64_t times[N_SAMPLES];
	uint32_t threads[N_SAMPLES];
	uint32_t stacks[N_SAMPLES];
	uint64_t weights[N_SAMPLES];
	uint16_t cpus[N_SAMPLES];
	uint8_t events[N_SAMPLES];
	uint32_t codes[N_SAMPLES];
	int64_t values[N_SAMPLES];
	int64_t deltas[N_SAMPLES];
	uint32_t tag_values[2];
	struct profile_frame frame;
	struct profile_node nodes[2];
	struct profile_thread thread;
	struct profile_file file;
};

static void make_columns(struct evil_profile *evil)
{
	for (unsigned i = 0; i < N_SAMPLES; i++) {
		evil->times[i] = i * UINT64_C(1000000000);
		evil->stacks[i] = 1;
		evil->weights[i] = 1 + i;
		evil->codes[i] = 1;
		evil->values[i] = 10 * (int64_t)i;
		evil->deltas[i] = -(int64_t)i;
	}
}

static void make_evil(struct evil_profile *evil)
{
	struct profile *profile = &evil->profile;

	memset(evil, 0, sizeof(*evil));
	evil->strings[0] = "";
	for (int i = 1; i < 8; i++) {
		(void)snprintf(evil->texts[i], sizeof(evil->texts[i]), "%d" EVIL, i);
		evil->strings[i] = evil->texts[i];
	}
	make_columns(evil);
	evil->tag_values[1] = 1;
	evil->frame = (struct profile_frame){.name = 2, .module = 3};
	evil->nodes[1] = (struct profile_node){.parent = 0, .frame = 0};
	evil->thread = (struct profile_thread){.comm = 4, .host = 5, .pid = 7, .tid = 8};
	evil->file = (struct profile_file){.path = evil->texts[6], .problem = evil->texts[7]};
	*profile = (struct profile){
		.n_samples = N_SAMPLES,
		.start_ns = UINT64_C(5000000000),
		.length_ns = UINT64_C(3000000000),
		.has_epoch = true,
		.epoch_offset_ns = INT64_C(1000000000000),
		.has_times = true,
		.times_ns = evil->times,
		.threads = evil->threads,
		.stacks = evil->stacks,
		.weights = evil->weights,
		.cpus = evil->cpus,
		.events = evil->events,
		.n_tags = 1,
		.n_metrics = 1,
		.n_events = 1,
		.n_frames = 1,
		.frames = &evil->frame,
		.n_nodes = 2,
		.nodes = evil->nodes,
		.n_threads = 1,
		.thread_list = &evil->thread,
		.n_strings = 8,
		.strings = evil->strings,
		.command = 6,
		.captured = 7,
		.n_files = 1,
		.files = &evil->file,
	};
	profile->tags[0] = (struct profile_tag){
		.name = 1, .n_values = 2, .values = evil->tag_values, .codes = evil->codes};
	profile->metrics[0] = (struct profile_metric){
		.name = 1, .unit = 2, .values = evil->values, .deltas = evil->deltas};
	profile->event_names[0] = 3;
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strcasestr(text, word)); text++)
		n++;
	return n;
}

/* The page of a profile, as text. */
static void write_evil(struct buf *text, size_t n_recordings, struct evil_profile *evil)
{
	struct page page = {.title = EVIL, .state = EVIL, .n_recordings = n_recordings};
	int fd = file_in_memory("", 0);
	struct err err = {0};

	for (size_t i = 0; i < n_recordings; i++) {
		page.recordings[i] = &evil->profile;
		page.names[i] = EVIL;
	}
	if (page_write(&page, fd, &err) < 0)
		fail_msg("%s", err.text);
	buf_init(text, 64 * 1024 * 1024);
	assert_int_equal(io_read_fd(fd, text), 0);
	(void)close(fd);
}

static void no_string_of_a_recording_becomes_markup(void **state)
{
	struct evil_profile evil;
	struct buf page, bare;

	(void)state;
	make_evil(&evil);
	write_evil(&page, 2, &evil);
	write_evil(&bare, 0, &evil);
	assert_int_equal(strlen(buf_text(&page)), page.len);
	/* one more a recording than without, and all of them closed */
	assert_int_equal(count(buf_text(&page), "<script"), count(buf_text(&bare), "<script") + 2);
	assert_int_equal(count(buf_text(&page), "<script"), count(buf_text(&page), "</script"));
	assert_int_equal(count(buf_text(&page), "alert(1)</"), 0);
	assert_int_equal(count(buf_text(&page), "<!--"), 0);
	assert_int_equal(count(buf_text(&page), "{{"), 0);
	assert_int_equal(count(buf_text(&page), "Content-Security-Policy"), 1);
	buf_release(&page);
	buf_release(&bare);
}

static size_t base64(const char *text, size_t len, unsigned char *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t word = 0;
	unsigned n_bits = 0;
	size_t n = 0;

	for (size_t i = 0; i < len && text[i] != '='; i++) {
		const char *digit = strchr(digits, text[i]);

		assert_non_null(digit);
		word = word << 6 | (uint32_t)(digit - digits);
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			to[n++] = (unsigned char)(word >> n_bits);
		}
	}
	return n;
}

/* What the element with ID holds, inflated; its bytes. */
static size_t unpack(struct buf *page, const char *id, unsigned char *to, size_t room)
{
	static unsigned char zipped[65536];
	z_stream stream = {0};
	const char *at = strstr(buf_text(page), id);

	assert_non_null(at);
	at = strchr(at, '>') + 1;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = zipped;
	stream.avail_in = (uInt)base64(at, (size_t)(strchr(at, '<') - at), zipped);
	stream.next_out = to;
	stream.avail_out = (uInt)room;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	(void)inflateEnd(&stream);
	return stream.total_out;
}

static void the_page_holds_the_whole_recording(void **state)
{
	static _Alignas(8) unsigned char pack[65536];
	struct profile *profile = NULL;
	struct evil_profile evil;
	struct err err = {0};
	struct buf page;
	size_t n;

	(void)state;
	make_evil(&evil);
	write_evil(&page, 1, &evil);
	n = unpack(&page, "id=\"wick-pack-0\"", pack, sizeof(pack));
	if (pack_read(pack, n, &profile, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(profile->n_samples, N_SAMPLES);
	assert_string_equal(profile->strings[profile->frames[0].name], evil.texts[2]);
	assert_int_equal(profile->weights[3], 4);
	profile_free(profile);
	buf_release(&page);
}

static void a_served_page_holds_no_recording_and_the_token(void **state)
{
	const struct page page = {.title = "t", .state = "group=state", .token = "abcdef"};
	struct buf text;

	(void)state;
	buf_init(&text, 1024 * 1024);
	assert_int_equal(page_served(&page, "n0nce", &text, NULL), 0);
	assert_non_null(strstr(buf_text(&text), "\"wick/main.js\":\"/web/main.js?token=abcdef\""));
	assert_non_null(strstr(buf_text(&text), "\"state\":\"group=state\""));
	assert_null(strstr(buf_text(&text), "base64,"));
	assert_null(strstr(buf_text(&text), "x-wick-pack"));
	buf_release(&text);
}

static void base64_is_that_of_the_standard(void **state)
{
	/* RFC 4648 section 10 */
	static const char *const vectors[][2] = {
		{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
	struct buf buf;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		buf_init(&buf, 64);
		base64_add(&buf, (const unsigned char *)vectors[i][0], strlen(vectors[i][0]));
		assert_string_equal(buf_text(&buf), vectors[i][1]);
		buf_release(&buf);
	}
}

static void only_our_own_names_are_known(void **state)
{
	static const char *const ours[] = {"127.0.0.1", "127.0.0.1:80", "localhost:8642",
					   "LocalHost", "[::1]:8080",   "[::1]",
					   "my.name:1", "127.1.2.3"};
	static const char *const others[] = {"",
					     ":80",
					     "evil.example",
					     "evil.example:8642",
					     "127.0.0.1.evil.example",
					     "localhost.evil.example",
					     "localhost:80:80",
					     "localhost:x",
					     "[::1",
					     "[::1]x",
					     "[]",
					     "192.168.0.1",
					     "2130706433",
					     "127.1",
					     "localhost@evil.example",
					     " localhost"};
	const char *const names[] = {"my.name"};
	const struct guard guard = {.listen = "127.0.0.1", .hosts = names, .n_hosts = 1};
	const struct guard any = {.listen = "0.0.0.0"};

	(void)state;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!guard_knows_host(&guard, ours[i]))
			fail_msg("'%s' is ours", ours[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (guard_knows_host(&guard, others[i]))
			fail_msg("'%s' is not ours", others[i]);
	assert_false(guard_knows_host(&guard, NULL));
	assert_true(guard_knows_host(&any, "192.168.0.1:80"));
	assert_false(guard_knows_host(&any, "evil.example"));
}

static void only_the_whole_token_is_right(void **state)
{
	const struct guard guard = {.listen = "127.0.0.1", .token = "0123456789abcdef"};
	const struct guard open = {.listen = "127.0.0.1"};
	char one[GUARD_TOKEN_TEXT], other[GUARD_TOKEN_TEXT];

	(void)state;
	assert_true(guard_knows_token(&guard, "0123456789abcdef"));
	assert_false(guard_knows_token(&guard, "0123456789abcdeF"));
	assert_false(guard_knows_token(&guard, "0123456789abcde"));
	assert_false(guard_knows_token(&guard, "0123456789abcdeff"));
	assert_false(guard_knows_token(&guard, ""));
	assert_false(guard_knows_token(&guard, NULL));
	assert_true(guard_knows_token(&open, NULL));
	assert_int_equal(guard_token(one), 0);
	assert_int_equal(guard_token(other), 0);
	assert_int_equal(strlen(one), GUARD_TOKEN_TEXT - 1);
	assert_string_not_equal(one, other);
}

/* A folder with a recording, a hidden one, a secret beside it and links to it. */
struct place {
	char root[FOLDER_BYTES];
	char folder[FOLDER_BYTES + 8];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	char path[256];

	folder_make(place->root);
	(void)snprintf(place->folder, sizeof(place->folder), "%s/rec", place->root);
	assert_int_equal(mkdir(place->folder, 0700), 0);
	folder_put(place->root, "secret.perf", "secret\n");
	folder_put(place->folder, "a.perf",
		   "# hostname : box\n# wick : {\"format\":1,\"epoch_offset_ns\":1000000000000}\n"
		   "app  1/1  [000] 10.000001:  1 cpu-clock: \n\t  1 f+0x1 (/x)\n\n"
		   "app  1/1  [000] 12.500000:  1 cpu-clock: \n\t  1 f+0x1 (/x)\n\n");
	folder_put(place->folder, ".hidden.perf", "x\n");
	folder_put(place->folder, "notes", "x\n");
	(void)snprintf(path, sizeof(path), "%s/link.perf", place->folder);
	assert_int_equal(symlink("../secret.perf", path), 0);
	(void)snprintf(path, sizeof(path), "%s/up", place->folder);
	assert_int_equal(symlink("..", path), 0);
	(void)snprintf(path, sizeof(path), "%s/fifo.perf", place->folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	folder_remove(place->root);
	free(place);
	return 0;
}

static void nothing_outside_the_folder_is_opened(void **state)
{
	static const char *const names[] = {"../secret.perf",
					    "link.perf",
					    "up/secret.perf",
					    "/etc/passwd.perf",
					    "./a.perf",
					    ".hidden.perf",
					    "a.perf/",
					    "rec/../a.perf",
					    "",
					    "//a.perf",
					    "notes",
					    "fifo.perf",
					    "..",
					    "up/rec/a.perf",
					    "a.perf/../../secret.perf",
					    "../rec/a.perf"};
	const struct place *place = *state;
	struct catalog *catalog = NULL;
	struct catalog_stamp stamp;
	int fd;

	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (catalog_open(catalog, names[i], &stamp) >= 0)
			fail_msg("'%s' was opened", names[i]);
	fd = catalog_open(catalog, "a.perf", &stamp);
	assert_true(fd >= 0);
	assert_true(stamp.bytes > 100);
	(void)close(fd);
	catalog_free(catalog);
}

/* From now on the kernel has no openat2(2), as before Linux 5.6. */
static bool lose_openat2(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = 4, .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
	       syscall(SYS_openat2, AT_FDCWD, ".", NULL, 0) < 0 && errno == ENOSYS;
}

static void nor_without_openat2(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (!lose_openat2())
			_exit(77);
		nothing_outside_the_folder_is_opened(state);
		_exit(0);
	}
	status = child_status(child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_list_has_recordings_and_what_is_known_of_them(void **state)
{
	const struct place *place = *state;
	struct catalog *catalog = NULL;
	uint64_t version;
	struct buf list;

	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	assert_int_equal(catalog_scan(catalog, UINT64_MAX), 0);
	buf_init(&list, 65536);
	catalog_list(catalog, &list);
	assert_int_equal(count(buf_text(&list), "\"file\""), 1);
	assert_non_null(strstr(buf_text(&list), "\"file\":\"a.perf\""));
	assert_non_null(strstr(buf_text(&list), "\"host\":\"box\""));
	assert_non_null(strstr(buf_text(&list), "\"from_ns\":\"1010000001000\""));
	assert_non_null(strstr(buf_text(&list), "\"to_ns\":\"1012500000000\""));
	version = catalog_version(catalog);
	assert_int_equal(catalog_scan(catalog, UINT64_MAX), 0);
	assert_true(catalog_version(catalog) == version);
	folder_put(place->folder, "a.perf", "#\n");
	assert_int_equal(catalog_scan(catalog, UINT64_MAX), 0);
	assert_true(catalog_version(catalog) != version);
	buf_release(&list);
	catalog_free(catalog);
}

static void a_range_takes_what_ends_in_it(void **state)
{
	const struct place *place = *state;
	struct catalog_choice choice = {.host = "box", .last_ns = 60000000000};
	struct catalog *catalog = NULL;
	char **names = NULL;
	int64_t from_ns = 0, to_ns = 0;

	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	assert_int_equal(catalog_scan(catalog, UINT64_MAX), 0);
	assert_int_equal(catalog_choose(catalog, &choice, &names, &from_ns, &to_ns), 1);
	assert_string_equal(names[0], "a.perf");
	assert_int_equal(to_ns, 1012500000000);
	assert_int_equal(from_ns, 952500000000);
	catalog_names_free(names, 1);
	choice.host = "other";
	assert_int_equal(catalog_choose(catalog, &choice, &names, &from_ns, &to_ns), -ENOENT);
	catalog_free(catalog);
}

static void what_was_before_is_left_out_of_every_column(void **state)
{
	struct evil_profile evil;
	uint64_t *times = NULL;
	struct profile view;

	(void)state;
	make_evil(&evil);
	/* own clock 6.5 s: the third of four samples is the first */
	assert_int_equal(trim_before(&evil.profile, 1006500000000, &view, &times), 0);
	assert_int_equal(view.n_samples, 2);
	assert_int_equal(view.start_ns, 7000000000);
	assert_int_equal(view.length_ns, 1000000000);
	assert_int_equal(view.times_ns[0], 0);
	assert_int_equal(view.times_ns[1], 1000000000);
	assert_int_equal(view.weights[0], 3);
	assert_int_equal(view.metrics[0].values[1], 30);
	free(times);
	assert_int_equal(trim_before(&evil.profile, INT64_MIN, &view, &times), 0);
	assert_int_equal(view.n_samples, N_SAMPLES);
	assert_int_equal(trim_before(&evil.profile, INT64_MAX, &view, &times), 0);
	assert_int_equal(view.n_samples, N_SAMPLES);
	assert_null(times);
}

static void names_of_recordings_are_known_by_their_ends(void **state)
{
	(void)state;
	assert_true(catalog_is_recording("a.perf"));
	assert_true(catalog_is_recording("b/a.perf.gz"));
	assert_true(catalog_is_recording("a.folded.zst"));
	assert_false(catalog_is_recording(".perf"));
	assert_false(catalog_is_recording(".a.perf"));
	assert_false(catalog_is_recording("a.perf.html"));
	assert_false(catalog_is_recording("a.gz"));
	assert_false(catalog_is_recording("a.perf.gz.gz"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_string_of_a_recording_becomes_markup),
		cmocka_unit_test(the_page_holds_the_whole_recording),
		cmocka_unit_test(a_served_page_holds_no_recording_and_the_token),
		cmocka_unit_test(base64_is_that_of_the_standard),
		cmocka_unit_test(only_our_own_names_are_known),
		cmocka_unit_test(only_the_whole_token_is_right),
		cmocka_unit_test_setup_teardown(nothing_outside_the_folder_is_opened, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(nor_without_openat2, make_place, remove_place),
		cmocka_unit_test_setup_teardown(the_list_has_recordings_and_what_is_known_of_them,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(a_range_takes_what_ends_in_it, make_place,
						remove_place),
		cmocka_unit_test(what_was_before_is_left_out_of_every_column),
		cmocka_unit_test(names_of_recordings_are_known_by_their_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
