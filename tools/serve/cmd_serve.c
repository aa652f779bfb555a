/* cmd_serve.c - `wick serve`: the page over a folder of recordings, while they grow */
#include "base/cleanup.h"
#include "flamescope/serve/serve.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum {
	OPT_PORT = OPTION_LONG_ONLY,
	OPT_LISTEN,
	OPT_HOST,
	OPT_TOKEN,
	OPT_NO_TOKEN,
	OPT_NO_OPEN,
	OPT_SOURCE,
	MAX_HOSTS = 16,
	TOKEN_MIN = 16,
	TOKEN_MAX = 200,
	STATE_BYTES = 64 * 1024,
};

const struct option_spec serve_option_specs[] = {
	{OPT_PORT, "port", "N", "listen on port N (default: any free port)"},
	{OPT_LISTEN, "listen", "ADDRESS", "listen on this address (default: 127.0.0.1)"},
	{OPT_HOST, "host", "NAME", "accept NAME as a name of this server in URLs; may be repeated"},
	{OPT_TOKEN, "token", "TEXT", "require this token (default: a random one)"},
	{OPT_NO_TOKEN, "no-token", NULL,
	 "require no token; only with --listen and a loopback address"},
	{OPT_NO_OPEN, "no-open", NULL, "print the page's address without opening it"},
	{OPT_SOURCE, "source", "DIR",
	 "show source files below DIR; may be repeated (default: the current directory; none for "
	 "a server that other machines reach)"},
	QUERY_OPTION_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct serving {
	struct server_options options;
	struct query_words query;
	const char *hosts[MAX_HOSTS];
	const char *sources[CODE_MAX_FOLDERS];
	char random_token[GUARD_TOKEN_TEXT];
	bool has_listen;
	bool no_token;
	bool no_open;
	bool help;
	struct buf state;
	char *secret_file; /* that leads a browser to the address */
};

static int take_port(struct serving *serving, const char *text, struct err *err)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (end == text || *end || *text < '0' || *text > '9' || port > UINT16_MAX)
		return err_set(err, 0, "'%s' is not a port, try: --port 8642", text);
	serving->options.port = (uint16_t)port;
	return 0;
}

static int take_host(struct serving *serving, const char *name, struct err *err)
{
	struct guard *guard = &serving->options.guard;

	if (guard->n_hosts == MAX_HOSTS)
		return err_set(err, 0, "more than %d names", MAX_HOSTS);
	if (!*name || name[strcspn(name, " /\t")])
		return err_set(err, 0,
			       "'%s' is not a name of this server, try: --host profiles.lan", name);
	/* Meant for where to listen; as a name it would be one that any page can send. */
	if (strcmp(name, "0.0.0.0") == 0 || strcmp(name, "::") == 0)
		return err_set(err, 0, "'%s' is not a name of this server, try: --listen %s", name,
			       name);
	serving->hosts[guard->n_hosts++] = name;
	guard->hosts = serving->hosts;
	return 0;
}

static int take_source(struct serving *serving, const char *folder, struct err *err)
{
	struct code_options *code = &serving->options.code;
	struct stat st;

	if (code->n_folders == CODE_MAX_FOLDERS)
		return err_set(err, 0, "more than %d directories of source files",
			       CODE_MAX_FOLDERS);
	if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, 0, "'%s' is not a directory, try: --source src", folder);
	serving->sources[code->n_folders++] = folder;
	return 0;
}

static int take_token(struct serving *serving, const char *text, struct err *err)
{
	const size_t len = strlen(text);

	/* Of letters that a URL takes as they are (RFC 3986 section 2.3). */
	if (len < TOKEN_MIN || len > TOKEN_MAX ||
	    text[strspn(text,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")])
		return err_set(err, 0,
			       "a token has %d to %d letters, digits, '-', '.', '_' and '~'",
			       TOKEN_MIN, TOKEN_MAX);
	serving->options.guard.token = text;
	return 0;
}

static int take(struct serving *serving, int id, const char *value, struct err *err)
{
	int r = query_option_take(&serving->query, id, value, err);

	if (r != 0)
		return r < 0 ? r : 0;
	switch (id) {
	case OPT_PORT:
		return take_port(serving, value, err);
	case OPT_LISTEN:
		serving->options.guard.listen = value;
		serving->has_listen = true;
		return 0;
	case OPT_HOST:
		return take_host(serving, value, err);
	case OPT_TOKEN:
		return take_token(serving, value, err);
	case OPT_NO_TOKEN:
		serving->no_token = true;
		return 0;
	case OPT_SOURCE:
		return take_source(serving, value, err);
	case OPT_NO_OPEN:
		serving->no_open = true;
		return 0;
	default:
		serving->help = true;
		return 0;
	}
}

/* Options before and after the folder. */
static int parse(struct cmd_ctx *ctx, struct serving *serving, struct err *err)
{
	struct option_cursor cursor = {
		.specs = serve_option_specs, .argc = ctx->argc, .argv = ctx->argv};

	for (;;) {
		int id = option_next(&cursor, err);
		int r = id > 0 ? take(serving, id, cursor.value, err) : id;

		if (r < 0 || serving->help)
			return r;
		if (id != 0)
			continue;
		if (cursor.rest >= cursor.argc)
			return 0;
		if (serving->options.folder)
			return err_set(err, 0,
				       "unexpected argument '%s': wick serves one directory, try: "
				       "wick serve %s",
				       cursor.argv[cursor.rest], serving->options.folder);
		serving->options.folder = cursor.argv[cursor.rest];
		cursor = (struct option_cursor){.specs = serve_option_specs,
						.argc = cursor.argc - cursor.rest,
						.argv = cursor.argv + cursor.rest};
	}
}

static int check(struct serving *serving, struct err *err)
{
	struct guard *guard = &serving->options.guard;
	int r;

	if (!serving->options.folder)
		return err_set(err, 0, "no directory given, try: wick serve DIR");
	if (serving->no_token && guard->token)
		return err_set(err, 0,
			       "--token and --no-token exclude each other, try: one of them");
	if (serving->no_token && !(serving->has_listen && guard_is_loopback(guard->listen)))
		return err_set(err, 0,
			       "--no-token gives everybody on this machine access, try: --no-token "
			       "--listen 127.0.0.1");
	if (guard->token || serving->no_token)
		return 0;
	r = guard_token(serving->random_token);
	if (r < 0)
		return err_set(err, -r, "make a token");
	guard->token = serving->random_token;
	return 0;
}

static void add_address(const struct serving *serving, const struct server *server,
			struct buf *text)
{
	const struct guard *guard = &serving->options.guard;
	const char *listen = guard->listen;
	const bool is_six = strchr(listen, ':');

	if (strcmp(listen, "0.0.0.0") == 0 || strcmp(listen, "::") == 0)
		buf_add(text, "http://localhost");
	else
		buf_printf(text, "http://%s%s%s", is_six ? "[" : "", listen, is_six ? "]" : "");
	buf_printf(text, ":%u/%s%s", server_port(server), guard->token ? "?token=" : "",
		   guard->token ? guard->token : "");
}

static int announce(struct serving *serving, const struct server *server)
{
	struct buf address, text;
	int status;

	buf_init(&address, 1024);
	buf_init(&text, 2048);
	add_address(serving, server, &address);
	buf_printf(&text, "%s\n", buf_text(&address));
	status = cmd_print(&text);
	if (status == WICK_OK && browser_is_here() && !serving->no_open &&
	    browser_open_secret(buf_text(&address), &serving->secret_file) == 0)
		say_note("opening it; Ctrl-C ends");
	else if (guard_is_loopback(serving->options.guard.listen))
		say_note("from another machine: ssh -L %u:127.0.0.1:%u THIS-HOST, and open the "
			 "same address there; Ctrl-C ends",
			 server_port(server), server_port(server));
	else
		say_note("anyone who can reach this machine and has the token can see the "
			 "recordings; Ctrl-C ends");
	buf_release(&address);
	return status;
}

/* From now on these come through a descriptor, but those that are ignored (nohup). */
static int catch_ends(sigset_t *ret_set)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction old;

	(void)sigemptyset(ret_set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaddset(ret_set, signals[i]);
	(void)pthread_sigmask(SIG_BLOCK, ret_set, NULL);
	return signalfd(-1, ret_set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A service's is the root of all files. */
static bool is_root(void)
{
	struct stat here, root;

	return stat(".", &here) < 0 || stat("/", &root) < 0 ||
	       (here.st_dev == root.st_dev && here.st_ino == root.st_ino);
}

static void choose_sources(struct serving *serving)
{
	struct code_options *code = &serving->options.code;

	code->folders = serving->sources;
	if (!code->n_folders && guard_is_loopback(serving->options.guard.listen) && !is_root())
		serving->sources[code->n_folders++] = ".";
}

static int serve(struct serving *serving)
{
	struct signalfd_siginfo info;
	struct server *server = NULL;
	struct err err = {0};
	sigset_t set;
	_cleanup_fd_ int ends = catch_ends(&set);
	int status;
	int r;

	choose_sources(serving);
	view_state_words(&serving->query.query, &serving->state);
	serving->options.state = buf_text(&serving->state);
	r = ends < 0 ? err_set(&err, errno, "catch signals")
		     : server_start(&serving->options, &server, &err);
	if (r < 0)
		return view_fail(r, &err);
	status = announce(serving, server);
	if (status == WICK_OK)
		server_run(server, ends);
	/* A second one ends wick at once, whatever is being loaded. */
	if (read(ends, &info, sizeof(info)) == (ssize_t)sizeof(info))
		(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	server_stop(server);
	return status;
}

int cmd_serve(struct cmd_ctx *ctx)
{
	struct serving serving = {.options.guard.listen = "127.0.0.1"};
	struct err err = {0};
	int status;
	int r;

	buf_init(&serving.state, STATE_BYTES);
	r = parse(ctx, &serving, &err);
	if (r == 0 && !serving.help)
		r = check(&serving, &err);
	if (r < 0)
		status = view_fail(r, &err);
	else
		status = serving.help ? cmd_help(ctx->command) : serve(&serving);
	if (serving.secret_file)
		(void)unlink(serving.secret_file);
	free(serving.secret_file);
	buf_release(&serving.state);
	query_words_release(&serving.query);
	return status;
}
