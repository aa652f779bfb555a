/* export_files_test.c - where counts go: files, commands, sockets, and readers that do not read */
#include "base/io.h"
#include "tools/export/export.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 4 * 1024 * 1024 };

static char folder[] = "/tmp/wick-export-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void path_in(char path[static 128], const char *name)
{
	(void)snprintf(path, 128, "%s/%s", folder, name);
}

static unsigned n_reports;
static char last_report[512];

static void on_report(const char *message)
{
	n_reports++;
	(void)snprintf(last_report, sizeof(last_report), "%s", message);
}

static void a_page_takes_the_place_of_the_last(void **state)
{
	char path[128];
	struct buf page;
	struct buf text;
	struct err err = {0};

	(void)state;
	path_in(path, "wick.prom");
	buf_init(&page, BYTES);
	buf_init(&text, BYTES);
	for (int i = 0; i < 2; i++) {
		buf_printf(&page, "# HELP wick_x %d\n", i);
		assert_int_equal(page_write_file(path, &page, &err), 0);
	}
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_string_equal(buf_text(&text), "# HELP wick_x 0\n# HELP wick_x 1\n");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(page_write_file("/nowhere/x.prom", &page, &err), -ENOENT);
	buf_release(&page);
	buf_release(&text);
}

static void lines_are_appended_to_a_file(void **state)
{
	char path[128];
	struct sink *sink;
	struct sink_stats stats;
	struct buf text;
	struct err err = {0};

	(void)state;
	path_in(path, "lines");
	buf_init(&text, BYTES);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sink_new(path, on_report, &sink, &err), 0);
		sink_add(sink, "{}\n{}\n", 6);
		sink_free(sink, &stats);
		assert_int_equal(stats.lines, 2);
		assert_int_equal(stats.lost, 0);
	}
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_string_equal(buf_text(&text), "{}\n{}\n{}\n{}\n");
	assert_int_equal(unlink(path), 0);
	buf_release(&text);
}

static void a_command_gets_every_line_and_the_end(void **state)
{
	char command[256];
	char path[128];
	struct sink *sink;
	struct buf text;
	struct err err = {0};

	(void)state;
	path_in(path, "counted");
	buf_init(&text, BYTES);
	(void)snprintf(command, sizeof(command), "|wc -l >%s", path);
	assert_int_equal(sink_new(command, on_report, &sink, &err), 0);
	for (int i = 0; i < 100; i++)
		sink_add(sink, "{}\n", 3);
	sink_free(sink, NULL);
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_string_equal(buf_text(&text), "100\n");
	assert_int_equal(unlink(path), 0);
	buf_release(&text);
}

/* A reader that never reads: everything beyond the pipe and what may wait is lost, and said once.
 */
static void a_reader_that_blocks_holds_nothing_up(void **state)
{
	static char line[1024 * 1024];
	struct sink *sink;
	struct sink_stats stats;
	struct err err = {0};
	uint64_t begin_ns;

	(void)state;
	n_reports = 0;
	assert_int_equal(sink_new("|exec sleep 4", on_report, &sink, &err), 0);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	begin_ns = io_now_ns();
	for (int i = 0; i < 40; i++)
		sink_add(sink, line, sizeof(line));
	assert_true(io_now_ns() - begin_ns < UINT64_C(1000000000));
	sink_free(sink, &stats);
	assert_true(io_now_ns() - begin_ns < UINT64_C(3500000000));
	assert_int_equal(stats.lines, 0);
	assert_int_equal(stats.lost, 40);
	assert_int_equal(n_reports, 1);
	assert_non_null(strstr(last_report, "too slow"));
}

static void links_and_pipes_are_no_files(void **state)
{
	struct err err = {0};
	struct sink *sink;
	char path[128];

	(void)state;
	path_in(path, "odd");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(sink_new(path, on_report, &sink, &err), -ENXIO);
	assert_int_equal(page_check_file(path, &err), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(sink_new(path, on_report, &sink, &err), -ELOOP);
	assert_int_equal(page_check_file(path, &err), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sink_new("/dev/null", on_report, &sink, &err), -EINVAL);
}

/* FILE of --textfile is removed at the end: it must not be anything else. */
static void only_a_page_of_wick_is_replaced(void **state)
{
	struct err err = {0};
	struct buf text;
	char path[128];

	(void)state;
	path_in(path, "x.prom");
	buf_init(&text, BYTES);
	assert_int_equal(page_check_file(path, &err), 0);
	buf_add(&text, "# HELP wick_samples_total x\n");
	assert_int_equal(page_write_file(path, &text, &err), 0);
	assert_int_equal(page_check_file(path, &err), 0);
	buf_clear(&text);
	buf_add(&text, "# HELP wicket_open x\n");
	assert_int_equal(page_write_file(path, &text, &err), 0);
	assert_int_equal(page_check_file(path, &err), -EEXIST);
	/* It came there while wick recorded. */
	assert_int_equal(page_write_file(path, &text, &err), -EEXIST);
	assert_int_equal(unlink(path), 0);
	buf_release(&text);
}

static void a_reader_that_is_gone_is_reported_once(void **state)
{
	struct sink *sink;
	struct sink_stats stats;
	struct err err = {0};

	(void)state;
	n_reports = 0;
	assert_int_equal(sink_new("unix:/nowhere/socket", on_report, &sink, &err), 0);
	sink_add(sink, "{}\n", 3);
	sink_add(sink, "{}\n", 3);
	sink_free(sink, &stats);
	assert_int_equal(stats.lost, 2);
	assert_int_equal(n_reports, 1);
	assert_int_equal(sink_new("/nowhere/file", on_report, &sink, &err), -ENOENT);
}

static void on_nudge(void *context)
{
	++*(int *)context;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 0), 0);
	return fd;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void a_socket_of_others_is_neither_waited_for_nor_removed(void **state)
{
	struct listener *listener;
	struct err err = {0};
	char where[160];
	char path[128];
	int nudges = 0;
	int client;
	int fd;

	(void)state;
	path_in(path, "x.sock");
	(void)snprintf(where, sizeof(where), "unix:%s", path);
	fd = listen_at(path);
	client = connect_to(path); /* its queue is full */
	assert_int_equal(listener_new(where, on_nudge, &nudges, &listener, &err), -EADDRINUSE);
	(void)close(client);
	(void)close(fd);
	/* One that is left of a recording that was killed. */
	assert_int_equal(listener_new(where, on_nudge, &nudges, &listener, &err), 0);
	assert_int_equal(unlink(path), 0);
	fd = listen_at(path);
	listener_free(listener);
	assert_int_equal(unlink(path), 0);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_takes_the_place_of_the_last),
		cmocka_unit_test(lines_are_appended_to_a_file),
		cmocka_unit_test(a_command_gets_every_line_and_the_end),
		cmocka_unit_test(a_reader_that_blocks_holds_nothing_up),
		cmocka_unit_test(links_and_pipes_are_no_files),
		cmocka_unit_test(only_a_page_of_wick_is_replaced),
		cmocka_unit_test(a_reader_that_is_gone_is_reported_once),
		cmocka_unit_test(a_socket_of_others_is_neither_waited_for_nor_removed),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
