/* debug_search_test.c - debug files in every place, and those that only look right */
#include "symbolize/debugfile/debug_search.h"

#include "base/io.h"
#include "child_fixture.h"
#include "symbolize/debugfile/internal.h"
#include "tests/unit/symbolize/folder.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#define BY_ID_DEBUG PROGRAMS "/root/.build-id/" ID_FOLDER "/" ID_FILE ".debug"
#define HEX         ID_FOLDER ID_FILE

/* A module, its file, and a search that knows no folder but the test's. */
struct subject {
	struct debug_search_options options;
	struct debug_search *search;
	struct elf_head head;
	struct debug_module module;
	Elf *elf;
	int fd;
};

static void subject_open(struct subject *subject, const char *path)
{
	struct stat st;

	(void)elf_version(EV_CURRENT);
	subject->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(subject->fd >= 0);
	assert_int_equal(fstat(subject->fd, &st), 0);
	subject->elf = elf_begin(subject->fd, ELF_C_READ, NULL);
	assert_non_null(subject->elf);
	subject->module = (struct debug_module){
		.path = path, .head = &subject->head, .dev = st.st_dev, .inode = st.st_ino};
	assert_int_equal(elf_head_read(&(struct elf_source){.fd = subject->fd}, &subject->head), 0);
	if (!subject->options.debug_root)
		subject->options.debug_root = in_folder("nothing");
	assert_int_equal(debug_search_new(&subject->options, &subject->search), 0);
}

static void subject_close(struct subject *subject)
{
	(void)elf_end(subject->elf);
	(void)close(subject->fd);
	debug_search_free(subject->search);
}

/* What the search finds: the way, and that it ends in WHERE; NULL: nothing. */
static void check(struct subject *subject, enum debug_found found, const char *where)
{
	struct debug_file file;
	int r = debug_search_module(subject->search, &subject->module, subject->elf, &file);

	if (!where) {
		assert_int_equal(r, -ENOENT);
		assert_int_equal(file.fd, -1);
		assert_null(file.path);
		return;
	}
	assert_int_equal(r, 0);
	assert_true(file.fd >= 0);
	assert_int_equal(file.found, found);
	assert_true(strlen(file.path) >= strlen(where));
	assert_string_equal(file.path + strlen(file.path) - strlen(where), where);
	(void)close(file.fd);
	free(file.path);
}

static void the_build_id_names_the_file(void **state)
{
	struct subject subject = {.options.debug_root = PROGRAMS "/root"};

	(void)state;
	subject_open(&subject, PROGRAMS "/by_id");
	check(&subject, DEBUG_BUILD_ID, BY_ID_DEBUG);
	subject_close(&subject);
}

static void a_file_at_the_right_place_with_another_id_is_refused(void **state)
{
	struct subject subject = {.options.debug_root = PROGRAMS "/root"};

	(void)state;
	subject_open(&subject, PROGRAMS "/other_id");
	check(&subject, DEBUG_NONE, NULL);
	subject_close(&subject);
}

static void another_program_with_the_same_id_is_refused(void **state)
{
	struct subject subject = {.options.debug_root = PROGRAMS "/root"};

	(void)state;
	subject_open(&subject, PROGRAMS "/same_id");
	check(&subject, DEBUG_NONE, NULL);
	subject_close(&subject);
}

static void the_c_library_has_its_debug_file(void **state)
{
	struct subject subject = {.options.debug_root = "/usr/lib/debug"};
	struct debug_file file;

	(void)state;
	subject_open(&subject, LIBC);
	if (access("/usr/lib/debug/.build-id", F_OK) != 0) {
		print_message("skipped: libc6-dbg is not installed\n");
		skip();
	}
	assert_int_equal(debug_search_module(subject.search, &subject.module, subject.elf, &file),
			 0);
	assert_int_equal(file.found, DEBUG_BUILD_ID);
	(void)close(file.fd);
	free(file.path);
	subject_close(&subject);
}

/* A recording from elsewhere names modules that this machine does not have. */
static void the_build_id_alone_is_enough(void **state)
{
	struct subject subject = {.options.debug_root = PROGRAMS "/root"};
	struct debug_file file;

	(void)state;
	subject_open(&subject, PROGRAMS "/by_id");
	subject.module = (struct debug_module){.path = "/gone", .head = &subject.head};
	subject.head.n_loads = 0;
	assert_int_equal(debug_search_module(subject.search, &subject.module, NULL, &file), 0);
	assert_int_equal(file.found, DEBUG_BUILD_ID);
	(void)close(file.fd);
	free(file.path);
	subject_close(&subject);
}

static void a_link_needs_its_crc(void **state)
{
	static const char *const PLACES[] = {"bin/linked.debug", "bin/.debug/linked.debug"};
	char root[PATH_MAX + 64];
	char place[2 * PATH_MAX];
	struct subject subject = {.options.debug_root = root};

	(void)state;
	(void)snprintf(root, sizeof(root), "%s/root", folder);
	assert_true(put_copy(PROGRAMS "/linked", "bin/linked", ""));
	subject_open(&subject, in_folder("bin/linked"));
	check(&subject, DEBUG_NONE, NULL);
	for (size_t i = 0; i < 2; i++) {
		assert_true(put_copy(PROGRAMS "/.debug/linked.debug", PLACES[i], "x"));
		check(&subject, DEBUG_NONE, NULL);
		assert_true(put_copy(PROGRAMS "/.debug/linked.debug", PLACES[i], ""));
		check(&subject, DEBUG_LINK, PLACES[i]);
		assert_int_equal(unlink(in_folder(PLACES[i])), 0);
	}
	(void)snprintf(place, sizeof(place), "root%s/bin/linked.debug", folder);
	assert_true(put_copy(PROGRAMS "/.debug/linked.debug", place, ""));
	check(&subject, DEBUG_LINK, place);
	subject_close(&subject);
}

static void what_is_no_file_is_not_opened(void **state)
{
	struct subject subject = {0};

	(void)state;
	assert_true(put_copy(PROGRAMS "/linked", "bin/linked", ""));
	subject_open(&subject, in_folder("bin/linked"));
	assert_int_equal(mkfifo(in_folder("bin/linked.debug"), 0600), 0);
	check(&subject, DEBUG_NONE, NULL);
	assert_int_equal(unlink(in_folder("bin/linked.debug")), 0);
	assert_int_equal(symlink("/dev/zero", in_folder("bin/linked.debug")), 0);
	check(&subject, DEBUG_NONE, NULL);
	subject_close(&subject);
}

static void a_symbol_folder_of_any_shape(void **state)
{
	const char *dirs[] = {in_folder("syms")};
	struct subject subject = {.options.symbol_dirs = dirs, .options.n_symbol_dirs = 1};

	(void)state;
	/* A stripped copy has the build-id too, but nothing to add. */
	assert_true(put_copy(PROGRAMS "/by_id", "syms/a/program", ""));
	assert_true(put_copy(BY_ID_DEBUG, "syms/z/deep/er/named.anyhow", ""));
	assert_int_equal(symlink("..", in_folder("syms/z/circle")), 0);
	subject_open(&subject, PROGRAMS "/by_id");
	check(&subject, DEBUG_SYMBOL_DIR, "syms/z/deep/er/named.anyhow");
	/* Walked once: what comes later is found by its name only. */
	assert_int_equal(unlink(in_folder("syms/z/deep/er/named.anyhow")), 0);
	check(&subject, DEBUG_NONE, NULL);
	assert_true(put_copy(BY_ID_DEBUG, "syms/.build-id/" ID_FOLDER "/" ID_FILE ".debug", ""));
	check(&subject, DEBUG_SYMBOL_DIR, ID_FILE ".debug");
	subject_close(&subject);
}

static void a_symbol_folder_may_be_given_from_where_we_are(void **state)
{
	const char *dirs[] = {"./syms"};
	struct subject subject = {.options.symbol_dirs = dirs, .options.n_symbol_dirs = 1};
	char *before = getcwd(NULL, 0);

	(void)state;
	assert_true(put_copy(BY_ID_DEBUG, "syms/anything", ""));
	assert_int_equal(chdir(folder), 0);
	subject_open(&subject, PROGRAMS "/by_id");
	assert_int_equal(chdir(before), 0);
	free(before);
	check(&subject, DEBUG_SYMBOL_DIR, "syms/anything");
	subject_close(&subject);
}

static void a_walk_ends_at_its_depth(void **state)
{
	char deep[PATH_MAX] = "syms";
	struct debug_walk *walk = NULL;
	static const uint8_t ID[] = {1};

	(void)state;
	for (int i = 0; i < DEBUG_WALK_DEPTH + 5; i++)
		(void)snprintf(deep + strlen(deep), sizeof(deep) - strlen(deep), "/d");
	assert_true(put_text(strcat(deep, "/file"), "text"));
	assert_int_equal(debug_walk_new(in_folder("syms"), &walk), 0);
	assert_null(debug_walk_find(walk, ID, 1, 0));
	debug_walk_free(walk);
	assert_int_equal(debug_walk_new(in_folder("none"), &walk), -ENOENT);
}

static void perf_s_copies_count_when_they_bring_more(void **state)
{
	struct subject subject = {0};

	(void)state;
	(void)setenv("HOME", folder, 1);
	subject_open(&subject, PROGRAMS "/by_id");
	assert_true(
		put_copy(PROGRAMS "/by_id", ".debug/.build-id/" ID_FOLDER "/" ID_FILE "/elf", ""));
	check(&subject, DEBUG_NONE, NULL);
	assert_true(put_copy(BY_ID_DEBUG, ".debug/.build-id/" ID_FOLDER "/" ID_FILE "/debug", ""));
	check(&subject, DEBUG_PERF_CACHE, ID_FILE "/debug");
	subject_close(&subject);
}

static void what_the_client_of_debuginfod_keeps_needs_no_network(void **state)
{
	struct subject subject = {0};

	(void)state;
	(void)setenv("XDG_CACHE_HOME", folder, 1);
	subject_open(&subject, PROGRAMS "/by_id");
	/* "The servers have none" is kept as an empty file. */
	assert_true(put_text("debuginfod_client/" HEX "/debuginfo", ""));
	check(&subject, DEBUG_NONE, NULL);
	assert_true(put_copy(BY_ID_DEBUG, "debuginfod_client/" HEX "/debuginfo", ""));
	check(&subject, DEBUG_DEBUGINFOD, HEX "/debuginfo");
	(void)setenv("DEBUGINFOD_CACHE_PATH", in_folder("elsewhere"), 1);
	check(&subject, DEBUG_NONE, NULL);
	assert_true(put_copy(BY_ID_DEBUG, "elsewhere/" HEX "/debuginfo", ""));
	check(&subject, DEBUG_DEBUGINFOD, "elsewhere/" HEX "/debuginfo");
	subject_close(&subject);
}

/* A process whose root is the folder; 0: that takes more rights than the test has. */
static pid_t start_in_folder(void)
{
	bool able;
	pid_t pid = child_start_prepared(go_to_folder, &able);

	if (able)
		return pid;
	child_end(pid);
	return 0;
}

static void the_root_of_the_process_comes_first(void **state)
{
	struct subject subject = {.options.debug_root = "/debug"};
	pid_t pid;

	(void)state;
	if (syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS) {
		print_message("skipped: without openat2 (valgrind) links lead out of a root\n");
		skip();
	}
	pid = start_in_folder();
	if (!pid) {
		print_message("skipped: only root may change its root\n");
		skip();
	}
	/* An absolute link leads to the same root, not to ours. */
	assert_true(put_copy(BY_ID_DEBUG, "files/its.debug", ""));
	make_parents(in_folder("debug/.build-id/" ID_FOLDER "/x"));
	assert_int_equal(symlink("/files/its.debug",
				 in_folder("debug/.build-id/" ID_FOLDER "/" ID_FILE ".debug")),
			 0);
	subject_open(&subject, PROGRAMS "/by_id");
	check(&subject, DEBUG_NONE, NULL);
	subject.module.pid = pid;
	check(&subject, DEBUG_BUILD_ID, "/root/debug/.build-id/" ID_FOLDER "/" ID_FILE ".debug");
	subject_close(&subject);
	child_end(pid);
}

static void the_alternate_file_needs_its_build_id(void **state)
{
	static const uint8_t ID[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99,
				     0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11, 0x22, 0x33};
	static const uint8_t OTHER[sizeof(ID)] = {1};
	const char *beside = in_folder("lib/x.debug");
	struct subject subject = {.options.debug_root = in_folder("root")};
	int fd;

	(void)state;
	subject_open(&subject, PROGRAMS "/plain");
	assert_true(put_copy(BY_ID_DEBUG, "dwz/alt", ""));
	fd = debug_search_alt(subject.search, &subject.module, beside, "../dwz/alt", ID,
			      sizeof(ID));
	assert_int_equal(fd, -ENOENT); /* there is no folder "lib" yet */
	assert_true(put_text("lib/y", "y"));
	fd = debug_search_alt(subject.search, &subject.module, beside, "../dwz/alt", ID,
			      sizeof(ID));
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(debug_search_alt(subject.search, &subject.module, beside, "../dwz/alt",
					  OTHER, sizeof(OTHER)),
			 -ENOENT);
	assert_int_equal(
		debug_search_alt(subject.search, &subject.module, beside, "../dwz/alt", ID, 0),
		-ENOENT);
	assert_true(put_copy(BY_ID_DEBUG, "root/.dwz/moved", ""));
	fd = debug_search_alt(subject.search, &subject.module, beside, "/gone/moved", ID,
			      sizeof(ID));
	assert_true(fd >= 0);
	(void)close(fd);
	subject_close(&subject);
}

/* A server on the loopback that answers N_ANSWERS requests; 0: never. */
struct server {
	int socket;
	int n_answers;
	int n_served;
	pthread_t thread;
};

static void answer(int client)
{
	static const char NONE[] = "HTTP/1.1 404 no\r\nContent-Length: 0\r\n"
				   "Connection: close\r\n\r\n";
	char request[4096];
	ssize_t n = read(client, request, sizeof(request) - 1);
	bool known;

	if (n <= 0)
		return;
	request[n] = '\0';
	known = strstr(request, "GET /buildid/" HEX "/debuginfo ") != NULL;
	if (known) {
		int fd = open(BY_ID_DEBUG, O_RDONLY | O_CLOEXEC);
		off_t len = lseek(fd, 0, SEEK_END);
		char *bytes = malloc((size_t)len);

		(void)dprintf(client,
			      "HTTP/1.1 200 OK\r\nContent-Length: %ld\r\nConnection: close\r\n\r\n",
			      (long)len);
		if (pread(fd, bytes, (size_t)len, 0) == len)
			(void)!write(client, bytes, (size_t)len);
		free(bytes);
		(void)close(fd);
	} else {
		(void)!write(client, NONE, sizeof(NONE) - 1);
	}
}

static void *serve(void *context)
{
	struct server *server = (struct server *)context;

	for (; server->n_served < server->n_answers; server->n_served++) {
		int client = accept4(server->socket, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			break;
		answer(client);
		(void)shutdown(client, SHUT_WR);
		(void)close(client);
	}
	return NULL;
}

static void server_start(struct server *server, int n_answers)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	char url[64];

	*server = (struct server){.n_answers = n_answers};
	server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->socket, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(server->socket, 8), 0);
	assert_int_equal(getsockname(server->socket, (struct sockaddr *)&at, &len), 0);
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(at.sin_port));
	(void)setenv("DEBUGINFOD_URLS", url, 1);
	(void)unsetenv("http_proxy");
	(void)setenv("no_proxy", "127.0.0.1", 1);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server_stop(struct server *server)
{
	(void)shutdown(server->socket, SHUT_RDWR);
	(void)pthread_join(server->thread, NULL);
	(void)close(server->socket);
}

static void need_client(void)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library)
		return;
	print_message("skipped: there is no libdebuginfod.so.1\n");
	skip();
}

static void servers_are_asked_only_when_told_to(void **state)
{
	struct subject subject = {0};
	struct debug_servers told;
	struct server server;

	(void)state;
	need_client();
	(void)setenv("DEBUGINFOD_CACHE_PATH", in_folder("cache"), 1);
	server_start(&server, 2);
	subject_open(&subject, PROGRAMS "/by_id");
	check(&subject, DEBUG_NONE, NULL);
	subject_close(&subject);
	assert_int_equal(server.n_served, 0);
	subject.options.debuginfod = true;
	subject_open(&subject, PROGRAMS "/by_id");
	check(&subject, DEBUG_DEBUGINFOD, HEX "/debuginfo");
	/* The client keeps it: the second time is without them. */
	check(&subject, DEBUG_DEBUGINFOD, HEX "/debuginfo");
	debug_search_servers(subject.search, &told);
	assert_int_equal(told.n_asked, 1);
	assert_int_equal(told.n_found, 1);
	subject_close(&subject);
	subject_open(&subject, PROGRAMS "/stripped");
	check(&subject, DEBUG_NONE, NULL);
	debug_search_servers(subject.search, &told);
	assert_int_equal(told.n_asked, 1);
	assert_int_equal(told.n_found + told.n_failed + told.n_late, 0);
	subject_close(&subject);
	server_stop(&server);
	assert_int_equal(server.n_served, 2);
}

static void check_progress(const char *module, uint64_t bytes, uint64_t left_ns)
{
	(void)bytes;
	(void)left_ns;
	assert_string_equal(module, PROGRAMS "/by_id");
}

static void a_dead_server_costs_the_deadline_once(void **state)
{
	struct subject subject = {.options = {.debuginfod = true,
					      .deadline_ns = 300 * 1000 * 1000,
					      .progress = check_progress}};
	uint64_t began_ns = io_now_ns();
	struct debug_servers told;
	struct server server;

	(void)state;
	need_client();
	(void)setenv("DEBUGINFOD_CACHE_PATH", in_folder("cache"), 1);
	server_start(&server, 0);
	subject_open(&subject, PROGRAMS "/by_id");
	for (int i = 0; i < 20; i++)
		check(&subject, DEBUG_NONE, NULL);
	assert_true(io_now_ns() - began_ns < UINT64_C(4000000000));
	debug_search_servers(subject.search, &told);
	assert_int_equal(told.n_asked, 1);
	assert_int_equal(told.n_late, 20);
	assert_string_equal(told.why, "the deadline passed");
	subject_close(&subject);
	server_stop(&server);
}

static void no_servers_named_is_said(void **state)
{
	struct subject subject = {.options.debuginfod = true};
	struct debug_servers told;

	(void)state;
	(void)unsetenv("DEBUGINFOD_URLS");
	subject_open(&subject, PROGRAMS "/by_id");
	check(&subject, DEBUG_NONE, NULL);
	debug_search_servers(subject.search, &told);
	assert_int_equal(told.n_asked, 0);
	assert_string_equal(told.why, "DEBUGINFOD_URLS names no server");
	subject_close(&subject);
}

static int clean_environment(void **state)
{
	(void)unsetenv("DEBUGINFOD_CACHE_PATH");
	(void)unsetenv("DEBUGINFOD_URLS");
	(void)unsetenv("XDG_CACHE_HOME");
	(void)setenv("HOME", "/nonexistent", 1);
	return make_folder(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clean_environment, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_build_id_names_the_file),
		TEST(a_file_at_the_right_place_with_another_id_is_refused),
		TEST(another_program_with_the_same_id_is_refused),
		TEST(the_c_library_has_its_debug_file),
		TEST(the_build_id_alone_is_enough),
		TEST(a_link_needs_its_crc),
		TEST(what_is_no_file_is_not_opened),
		TEST(a_symbol_folder_of_any_shape),
		TEST(a_symbol_folder_may_be_given_from_where_we_are),
		TEST(a_walk_ends_at_its_depth),
		TEST(perf_s_copies_count_when_they_bring_more),
		TEST(what_the_client_of_debuginfod_keeps_needs_no_network),
		TEST(the_root_of_the_process_comes_first),
		TEST(the_alternate_file_needs_its_build_id),
		TEST(servers_are_asked_only_when_told_to),
		TEST(a_dead_server_costs_the_deadline_once),
		TEST(no_servers_named_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
