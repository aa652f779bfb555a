/* browser.c - xdg-open where there is a display, ssh where there is none */
#include "tools/cli/terminal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TEXT_BYTES = 16 * 1024, FALLBACK_PORT = 8642 };

extern char **environ;

bool browser_is_here(void)
{
	const char *x11 = getenv("DISPLAY");
	const char *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

int browser_open(const char *address)
{
	char *argv[] = {(char *)"xdg-open", (char *)address, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;
	int r;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)sigemptyset(&none);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	/* A session of its own: Ctrl-C here does not end the browser. */
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	r = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int browser_open_file(const char *path)
{
	_cleanup_free_ char *whole = realpath(path, NULL);

	return whole ? browser_open(whole) : -errno;
}

/* A file of this user's alone, where runtime files are or temporary ones. */
static int make_file(char **ret_path)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	int fd;

	if (!folder || !*folder)
		folder = getenv("TMPDIR");
	if (asprintf(ret_path, "%s/wick-serve-XXXXXX.html", folder && *folder ? folder : "/tmp") <
	    0)
		return -ENOMEM;
	fd = mkostemps(*ret_path, (int)strlen(".html"), O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int browser_open_secret(const char *address, char **ret_file)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_fd_ int fd = make_file(&path);
	struct buf page;
	int r;

	if (fd < 0)
		return fd;
	buf_init(&page, TEXT_BYTES);
	buf_add(&page, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>wick</title>\n"
		       "<meta http-equiv=\"refresh\" content=\"0; url=");
	words_xml(&page, address);
	buf_add(&page, "\">\n");
	r = page.failed ? -ENOMEM : io_write_all(fd, page.data, page.len, NULL);
	if (r == 0)
		r = browser_open_file(path);
	buf_release(&page);
	if (r < 0) {
		(void)unlink(path);
		return r;
	}
	*ret_file = steal_pointer(&path);
	return 0;
}

/* A port that is free now, on the loopback. */
static unsigned free_port(void)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(place);

	if (fd < 0 || bind(fd, (struct sockaddr *)&place, sizeof(place)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&place, &len) < 0)
		return FALLBACK_PORT;
	return ntohs(place.sin_port);
}

/* TEXT as one word for a shell. */
static void add_quoted(struct buf *buf, const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._+:@/";

	if (*text && text[strspn(text, plain)] == '\0') {
		buf_add(buf, text);
		return;
	}
	buf_add_char(buf, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_add(buf, "'\\''");
		else
			buf_add_char(buf, *text);
	}
	buf_add_char(buf, '\'');
}

/* What ssh gets is read by two shells. */
static void add_quoted_twice(struct buf *buf, const char *text)
{
	struct buf once;

	buf_init(&once, TEXT_BYTES);
	add_quoted(&once, text);
	add_quoted(buf, buf_text(&once));
	buf_release(&once);
}

static void add_serve(struct buf *buf, const char *host, const char *recording)
{
	_cleanup_free_ char *whole = realpath(recording, NULL);
	const unsigned port = free_port();
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash = whole ? strrchr(whole, '/') : NULL;

	if (n <= 0 || !slash)
		return;
	program[n] = '\0';
	slash[slash == whole] = '\0'; /* its folder */
	buf_printf(buf, "  ssh -t -L %u:127.0.0.1:%u %s ", port, port, host);
	add_quoted_twice(buf, program);
	buf_printf(buf, " serve --port %u ", port);
	add_quoted_twice(buf, whole);
	buf_add(buf, "  # and open what it prints\n");
}

/* Into HOST_NAME_MAX + 1 bytes. */
static void name_host(char *host)
{
	if (gethostname(host, HOST_NAME_MAX + 1) < 0 || !*host)
		(void)snprintf(host, HOST_NAME_MAX + 1, "HOST");
	host[HOST_NAME_MAX] = '\0';
}

void browser_say_remote(const char *recording)
{
	char host[HOST_NAME_MAX + 1];
	struct buf text;

	name_host(host);
	buf_init(&text, TEXT_BYTES);
	buf_add(&text, "there is no display here; on a machine with a browser, run:\n");
	add_serve(&text, host, recording);
	say_text(&text);
	buf_release(&text);
}

void browser_say_elsewhere(const char *page, const char *recording)
{
	_cleanup_free_ char *whole = realpath(page, NULL);
	char host[HOST_NAME_MAX + 1];
	struct buf text;

	name_host(host);
	buf_init(&text, TEXT_BYTES);
	buf_add(&text,
		"there is no display here; on a machine with a browser, run one of:\n  scp ");
	buf_printf(&text, "%s:", host);
	add_quoted_twice(&text, whole ? whole : page);
	buf_add(&text, " .\n");
	if (recording)
		add_serve(&text, host, recording);
	say_text(&text);
	buf_release(&text);
}
