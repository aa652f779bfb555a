/* serve_attack_test.c - files made to stop, to blow up or to mislead the server that lists them */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/io.h"
#include "flamescope/serve/catalog.h"
#include "flamescope/serve/packs.h"
#include "folder_fixture.h"

/* A folder, and what the tests put there. */
struct place {
	char folder[FOLDER_BYTES];
};

static void path_of(const struct place *place, const char *name, char path[256])
{
	(void)snprintf(path, 256, "%s/%s", place->folder, name);
}

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	folder_make(place->folder);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	static const char *const names[] = {"a.perf", "b.perf", "c.perf", "a.perf.gz", "fifo.perf"};
	struct place *place = *state;
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(place, names[i], path);
		(void)unlink(path);
	}
	assert_int_equal(folder_count(place->folder), 0); /* nothing else was written there */
	folder_remove(place->folder);
	free(place);
	return 0;
}

/* Text as a gzip member. */
static size_t gzip(const void *text, size_t len, unsigned char *to, size_t room)
{
	z_stream stream = {.next_in = (unsigned char *)text,
			   .avail_in = (uInt)len,
			   .next_out = to,
			   .avail_out = (uInt)room};

	assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	(void)deflateEnd(&stream);
	return stream.total_out;
}

static uint64_t cpu_ms(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A line of 4 GB in 4 MB: the list needs only its beginning. */
static void a_line_of_gigabytes_is_not_inflated_for_the_list(void **state)
{
	enum { MEMBER = 1024 * 1024, MEMBERS = 4096, ROOM = 16 * 1024 };
	const struct place *place = *state;
	char *nothing = calloc(1, MEMBER);
	unsigned char zipped[ROOM];
	struct catalog *catalog = NULL;
	uint64_t before;
	char path[256];
	size_t len;
	int fd;

	assert_non_null(nothing);
	path_of(place, "a.perf.gz", path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	len = gzip("# hostname : box\n", 17, zipped, ROOM);
	assert_int_equal(io_write_all(fd, zipped, len, NULL), 0);
	len = gzip(nothing, MEMBER, zipped, ROOM);
	for (int i = 0; i < MEMBERS; i++)
		assert_int_equal(io_write_all(fd, zipped, len, NULL), 0);
	(void)close(fd);
	free(nothing);
	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	before = cpu_ms();
	assert_int_equal(catalog_scan(catalog, UINT64_MAX), 0);
	before = cpu_ms() - before;
	catalog_free(catalog);
	if (before > 500)
		fail_msg("%llu ms for a list", (unsigned long long)before);
}

static void a_host_is_text_and_ends_with_a_character(void **state)
{
	const struct place *place = *state;
	char text[400] = "# hostname : b\xff\x1b[2J";
	struct catalog *catalog = NULL;
	struct buf list;

	for (int i = 0; i < 150; i++)
		(void)strcat(text, "\xc3\xa9");
	(void)strcat(text, "\n");
	folder_put(place->folder, "a.perf", text);
	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	assert_int_equal(catalog_scan(catalog, UINT64_MAX), 0);
	buf_init(&list, 65536);
	catalog_list(catalog, &list);
	assert_non_null(strstr(buf_text(&list), "\"host\":\"b\xef\xbf\xbd\xef\xbf\xbd[2J\xc3\xa9"));
	assert_non_null(strstr(buf_text(&list), "\xc3\xa9\",\"from_ns\""));
	buf_release(&list);
	catalog_free(catalog);
}

/* tmpfs, btrfs and XFS take times that int64_t has no nanoseconds for. */
static void a_time_of_long_after_is_one(void **state)
{
	static const int64_t last_ns = INT64_MAX / 4;
	const struct stat years[] = {{.st_mtim.tv_sec = INT64_MAX},
				     {.st_mtim.tv_sec = INT64_MIN},
				     {.st_mtim.tv_sec = 9223372037},
				     {.st_mtim = {.tv_sec = 1, .tv_nsec = 5}}};

	(void)state;
	for (size_t i = 0; i < sizeof(years) / sizeof(years[0]); i++) {
		const int64_t ns = catalog_stamp_of(&years[i]).mtime_ns;

		assert_true(ns >= 0 && ns <= last_ns);
	}
	assert_int_equal(catalog_stamp_of(&years[3]).mtime_ns, 1000000005);
}

/* Who waits for a reader of the pipe would write, and be killed when wick closes it. */
static void a_pipe_is_not_touched(void **state)
{
	const struct place *place = *state;
	struct catalog *catalog = NULL;
	struct catalog_stamp stamp;
	char path[256];
	pid_t child;
	int status;

	path_of(place, "fifo.perf", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	child = fork();
	if (child == 0)
		_exit(open(path, O_WRONLY | O_CLOEXEC) < 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(catalog_open(catalog, "fifo.perf", &stamp), -EACCES);
		(void)usleep(5000);
		assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	catalog_free(catalog);
}

/* A request and its end, which another thread reports. */
struct asking {
	struct packs_request request;
	char *name;
	sem_t done;
};

static void on_done(void *context)
{
	(void)sem_post(&((struct asking *)context)->done);
}

static void begin(struct packs *packs, struct asking *asking, const char *name)
{
	*asking = (struct asking){.name = strdup(name)};
	(void)sem_init(&asking->done, 0, 0);
	asking->request = (struct packs_request){
		.names = &asking->name, .n_names = 1, .done = on_done, .context = asking};
	assert_int_equal(packs_queue(packs, &asking->request), 0);
}

static int await(struct asking *asking)
{
	while (sem_wait(&asking->done) < 0)
		continue;
	(void)sem_destroy(&asking->done);
	free(asking->name);
	return asking->request.error;
}

static int ask(struct packs *packs, struct asking *asking, const char *name)
{
	begin(packs, asking, name);
	return await(asking);
}

/* Who reads slowly keeps what he is sent in memory: others are told to come again. */
static void no_more_is_held_than_may_be(void **state)
{
	static const char text[] =
		"app  1/1  [000] 10.000001:  1 cpu-clock: \n\t  1 f+0x1 (/x)\n\n";
	const struct place *place = *state;
	struct catalog *catalog = NULL;
	struct packs *packs = NULL;
	struct asking first, again, other;
	char byte;

	folder_put(place->folder, "a.perf", text);
	folder_put(place->folder, "b.perf", text);
	folder_put(place->folder, "c.perf", text);
	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	assert_int_equal(packs_new(catalog, 1, &packs, NULL), 0);
	assert_int_equal(ask(packs, &first, "a.perf"), 0);
	assert_int_equal(ask(packs, &other, "b.perf"), -EBUSY);
	packs_release(packs, &other.request);
	packs_release(packs, &first.request);
	assert_int_equal(ask(packs, &first, "b.perf"), 0);
	/* what is being sent already costs nothing, and is there as long as anybody has it */
	assert_int_equal(ask(packs, &again, "b.perf"), 0);
	packs_release(packs, &again.request);
	assert_int_equal(pread(first.request.fd, &byte, 1, 0), 1);
	packs_release(packs, &first.request);
	assert_int_equal(first.request.fd, -1);
	assert_int_equal(ask(packs, &first, "c.perf"), 0);
	packs_release(packs, &first.request);
	packs_stop(packs);
	packs_free(packs);
	catalog_free(catalog);
}

/* 64 GB of zeros, which take longer than a client waits; two requests for them take one thread. */
static void a_large_file_does_not_delay_the_others(void **state)
{
	static const char text[] =
		"app  1/1  [000] 10.000001:  1 cpu-clock: \n\t  1 f+0x1 (/x)\n\n";
	const struct place *place = *state;
	struct catalog *catalog = NULL;
	struct packs *packs = NULL;
	struct asking large[PACKS_LOADERS + 1], small;
	char path[256];

	folder_put(place->folder, "a.perf", text);
	folder_put(place->folder, "b.perf", text);
	path_of(place, "a.perf", path);
	for (off_t at = 1; at <= 128; at++) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		assert_int_equal(pwrite(fd, "\n", 1, at << 29), 1);
		(void)close(fd);
	}
	assert_int_equal(catalog_new(place->folder, &catalog, NULL), 0);
	assert_int_equal(packs_new(catalog, UINT64_MAX, &packs, NULL), 0);
	for (size_t i = 0; i <= PACKS_LOADERS; i++)
		begin(packs, &large[i], "a.perf");
	assert_int_equal(ask(packs, &small, "b.perf"), 0);
	packs_release(packs, &small.request);
	packs_stop(packs);
	for (size_t i = 0; i <= PACKS_LOADERS; i++)
		assert_int_equal(await(&large[i]), -ECANCELED);
	packs_free(packs);
	catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_of_gigabytes_is_not_inflated_for_the_list,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(a_host_is_text_and_ends_with_a_character,
						make_place, remove_place),
		cmocka_unit_test(a_time_of_long_after_is_one),
		cmocka_unit_test_setup_teardown(a_pipe_is_not_touched, make_place, remove_place),
		cmocka_unit_test_setup_teardown(no_more_is_held_than_may_be, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(a_large_file_does_not_delay_the_others, make_place,
						remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
