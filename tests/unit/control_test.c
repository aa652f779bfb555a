/* control_test.c - which clients a recording accepts, what counts as a request, and what is done
 * with others
 */
#include "child_fixture.h"
#include "folder_fixture.h"
#include "tools/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

enum { PATH_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) };

struct fixture {
	char runtime[FOLDER_BYTES];
	struct control_server server;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	folder_make(fixture->runtime);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", fixture->runtime, 1), 0);
	assert_int_equal(control_server_open(&fixture->server, NULL), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char path[80];

	control_server_close(&fixture->server);
	(void)snprintf(path, sizeof(path), "%s/wick", fixture->runtime);
	assert_int_equal(rmdir(path), 0); /* the socket has gone */
	assert_int_equal(rmdir(fixture->runtime), 0);
	free(fixture);
	return 0;
}

static int try_to_reach(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int reach(const struct fixture *fixture)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_int_equal(try_to_reach(fd, fixture->server.path), 0);
	return fd;
}

static struct control_request request(uint16_t verb)
{
	return (struct control_request){
		.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .verb = verb, .pid = 7};
}

static bool is_dropped(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}

static void takes_a_request_and_answers_it(void **state)
{
	struct fixture *fixture = *state;
	struct control_request asked = request(CONTROL_RATE);
	struct control_reply reply = {.result = CONTROL_DONE, .hz = 199};
	struct control_client *client;
	int fd = reach(fixture);

	assert_null(control_server_take(&fixture->server, 0));
	assert_true(control_server_is_busy(&fixture->server));
	assert_int_equal(send(fd, &asked, sizeof(asked), 0), sizeof(asked));
	client = control_server_take(&fixture->server, 1);
	assert_non_null(client);
	assert_int_equal(client->request.verb, CONTROL_RATE);
	assert_null(control_server_take(&fixture->server, 2 * SECOND));
	client->barrier = 5;
	assert_null(control_server_next(&fixture->server, 4));
	assert_ptr_equal(control_server_next(&fixture->server, 5), client);
	control_server_answer(client, &reply);
	assert_int_equal(recv(fd, &reply, sizeof(reply), 0), sizeof(reply));
	assert_int_equal(reply.hz, 199);
	assert_int_equal(reply.wick_pid, getpid());
	assert_false(control_server_is_busy(&fixture->server));
	(void)close(fd);
}

static void drops_what_is_no_request(void **state)
{
	struct fixture *fixture = *state;
	struct control_request lies[] = {request(0), request(CONTROL_VERBS), request(CONTROL_STOP),
					 request(CONTROL_STOP), request(CONTROL_STOP)};
	char bytes[sizeof(lies[0]) + 1] = {0};

	lies[2].magic++;
	lies[3].version++;
	lies[4].pid = 0;
	for (size_t i = 0; i < 7; i++) {
		int fd = reach(fixture);
		size_t len = i < 5 ? sizeof(lies[0]) : sizeof(lies[0]) + (i == 5 ? -1UL : 1);

		memcpy(bytes, &lies[i < 5 ? i : 1], sizeof(lies[0]));
		assert_int_equal(send(fd, bytes, len, 0), len);
		assert_null(control_server_take(&fixture->server, 0));
		assert_true(is_dropped(fd));
		(void)close(fd);
	}
	assert_false(control_server_is_busy(&fixture->server));
}

static void drops_a_client_that_is_silent_for_a_second(void **state)
{
	struct fixture *fixture = *state;
	int fd = reach(fixture);

	assert_null(control_server_take(&fixture->server, SECOND));
	assert_null(control_server_take(&fixture->server, 2 * SECOND - 1));
	assert_false(is_dropped(fd));
	assert_null(control_server_take(&fixture->server, 2 * SECOND));
	assert_true(is_dropped(fd));
	(void)close(fd);
}

static void serves_on_when_all_places_were_taken(void **state)
{
	struct fixture *fixture = *state;
	struct control_request asked = request(CONTROL_STATUS);
	int silent[CONTROL_CLIENTS + 2];
	int fd;

	for (size_t i = 0; i < CONTROL_CLIENTS + 2; i++)
		silent[i] = reach(fixture);
	fd = reach(fixture);
	assert_int_equal(send(fd, &asked, sizeof(asked), 0), sizeof(asked));
	assert_null(control_server_take(&fixture->server, 0));
	assert_null(control_server_take(&fixture->server, SECOND)); /* they are dropped */
	assert_non_null(control_server_take(&fixture->server, SECOND));
	for (size_t i = 0; i < CONTROL_CLIENTS + 2; i++)
		(void)close(silent[i]);
	(void)close(fd);
}

static void trusts_only_a_directory_that_is_private(void **state)
{
	struct fixture *fixture = *state;
	struct control_directories places;
	char path[80];

	(void)snprintf(path, sizeof(path), "%s/wick", fixture->runtime);
	control_directories_list(geteuid(), &places);
	assert_true(places.n >= 2);
	assert_string_equal(places.at[0], path);
	assert_true(control_directory_is_private(path, geteuid()));
	assert_false(control_directory_is_private(path, geteuid() + 1));
	assert_int_equal(chmod(path, 0710), 0);
	assert_false(control_directory_is_private(path, geteuid()));
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(chmod(fixture->runtime, 0777), 0);
	control_directories_list(geteuid(), &places);
	assert_string_not_equal(places.at[0], path);
}

static void skips_sockets_without_a_listener(void **state)
{
	struct fixture *fixture = *state;
	struct control_request asked = request(CONTROL_STATUS);
	struct control_reply reply;
	struct err err = {0};

	(void)close(fixture->server.fd); /* as when it was killed */
	fixture->server.fd = open("/dev/null", O_RDONLY);
	assert_int_equal(control_ask(&asked, &reply, &err), -ESRCH);
	assert_non_null(strstr(err.text, "you have no recording of process 7"));
}

/* A child tries from before the socket is there until it is: what it meets first. */
static void replies_to_every_client_that_finds_its_name(void **state)
{
	struct fixture *fixture = *state;
	char path[sizeof(fixture->server.path)];

	memcpy(path, fixture->server.path, sizeof(path));
	for (int i = 0; i < 200; i++) {
		pid_t child;

		control_server_close(&fixture->server);
		child = fork();
		if (child == 0) {
			int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
			int r;

			while ((r = try_to_reach(fd, path)) == -ENOENT)
				;
			_exit(-r);
		}
		assert_return_code(child, errno);
		(void)usleep(300); /* it tries by now */
		assert_int_equal(control_server_open(&fixture->server, NULL), 0);
		assert_int_equal(child_status(child), 0);
	}
}

static int bind_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
	return fd;
}

/* Where the socket of a process that is not here would be. */
static void name_of_nobody(const struct fixture *fixture, char path[PATH_BYTES])
{
	char *name;

	(void)snprintf(path, PATH_BYTES, "%s", fixture->server.path);
	name = strrchr(path, '/') + 1;
	(void)snprintf(name, PATH_BYTES - (size_t)(name - path), "%d.control", INT32_MAX);
}

static void sweeps_the_sockets_of_the_killed(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_BYTES];

	name_of_nobody(fixture, path);
	assert_int_equal(close(bind_at(path)), 0);
	control_server_close(&fixture->server);
	assert_int_equal(control_server_open(&fixture->server, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
}

/* As is one in another pid namespace. */
static void leaves_sockets_in_use(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_BYTES];
	int fd;

	name_of_nobody(fixture, path);
	fd = bind_at(path);
	control_server_close(&fixture->server);
	assert_int_equal(control_server_open(&fixture->server, NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	(void)close(fd);
	assert_int_equal(unlink(path), 0);
}

static void two_of_one_number_have_a_socket_each(void **state)
{
	struct fixture *fixture = *state;
	struct control_server other = {0};

	assert_int_equal(control_server_open(&other, NULL), 0);
	assert_string_not_equal(other.path, fixture->server.path);
	assert_int_equal(access(fixture->server.path, F_OK), 0);
	assert_int_equal(close(reach(fixture)), 0);
	control_server_close(&other);
	assert_int_equal(access(fixture->server.path, F_OK), 0);
}

static void takes_the_name_of_one_that_was_killed(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s", fixture->server.path);
	control_server_close(&fixture->server);
	assert_int_equal(close(bind_at(path)), 0);
	assert_int_equal(control_server_open(&fixture->server, NULL), 0);
	assert_string_equal(fixture->server.path, path);
}

/* What a reader may be given as rows. */
static void reads_rows_of_sealed_memory_alone(void **state)
{
	struct buf rows;
	struct buf read;
	int ends[2];
	int fd;

	(void)state;
	buf_init(&rows, 4096);
	buf_init(&read, 64);
	buf_add(&rows, "{}\n");
	fd = control_rows_share(&rows);
	assert_true(fd >= 0);
	assert_int_equal(control_rows_read(fd, &read), 0);
	assert_string_equal(buf_text(&read), "{}\n");
	assert_int_equal(pwrite(fd, "x", 1, 0), -1); /* nor can anybody change them */
	assert_int_equal(close(fd), 0);

	for (int i = 0; i < 100; i++)
		buf_add(&rows, "{}\n");
	fd = control_rows_share(&rows);
	assert_int_equal(control_rows_read(fd, &read), -EFBIG);
	assert_int_equal(close(fd), 0);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(control_rows_read(ends[0], &read), -EPROTO);
	assert_int_equal(close(ends[0]) | close(ends[1]), 0);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_int_equal(control_rows_read(fd, &read), -EPROTO);
	assert_int_equal(close(fd), 0);
	fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(control_rows_read(fd, &read), -EPROTO);
	assert_int_equal(close(fd), 0);
	buf_release(&rows);
	buf_release(&read);
}

static void passes_one_descriptor_with_a_message(void **state)
{
	int pair[2];
	char text[8];
	int fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(control_rows_send(pair[0], "one", 3, -1), 0);
	assert_int_equal(control_rows_send(pair[0], "two", 3, pair[0]), 0);
	assert_int_equal(control_rows_receive(pair[1], text, sizeof(text), &fd), 3);
	assert_int_equal(fd, -1);
	assert_int_equal(control_rows_receive(pair[1], text, sizeof(text), &fd), 3);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(control_rows_receive(pair[1], text, sizeof(text), &fd), -EAGAIN);
	assert_int_equal(close(pair[0]) | close(pair[1]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_rows_of_sealed_memory_alone),
		cmocka_unit_test(passes_one_descriptor_with_a_message),
		cmocka_unit_test_setup_teardown(takes_a_request_and_answers_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(drops_what_is_no_request, set_up, tear_down),
		cmocka_unit_test_setup_teardown(drops_a_client_that_is_silent_for_a_second, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(serves_on_when_all_places_were_taken, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(trusts_only_a_directory_that_is_private, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(skips_sockets_without_a_listener, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(replies_to_every_client_that_finds_its_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(sweeps_the_sockets_of_the_killed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(leaves_sockets_in_use, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_of_one_number_have_a_socket_each, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(takes_the_name_of_one_that_was_killed, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
