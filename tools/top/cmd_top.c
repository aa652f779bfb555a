/* cmd_top.c - `wick top`: what a program does now */
#include "base/io.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/top/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_ONCE = OPTION_LONG_ONLY, OPT_SHOW, OPT_SORT, OPT_CMD_OUTPUT, OPT_PAGE };
enum { DEFAULT_HZ = 99, ONCE_ROWS = 40, ONCE_COLUMNS = 160, KEY_MS = 50, TEXT_BYTES = 1024 * 1024 };

#define REDRAW_NS UINT64_C(1000000000) /* between two pictures */
#define FIRST_NS  UINT64_C(250000000)  /* the same at first, for BEGIN_NS */
#define BEGIN_NS  UINT64_C(3000000000)
#define ONCE_NS   UINT64_C(5000000000)
#define END_NS    UINT64_C(3000000000) /* for CMD to end after SIGTERM */

/* The man page docs/man/wick-top.1 says the same; a lint test compares them. */
const struct option_spec top_option_specs[] = {
	ATTACH_OPTION_SPECS,
	{'e', "event", "WHAT",
	 "what to count: cpu, or wall, which includes waiting (default: cpu)"},
	{'F', "freq", "HZ",
	 "samples per second of CPU time in each thread: 1 to 10000 (default: 99)"},
	MAX_OVERHEAD_OPTION_SPEC("off"),
	{'d', "duration", "DUR", "stop after DUR (default: when CMD ends; with --once: 5s)"},
	{OPT_SHOW, "show", "WHAT",
	 "show functions or threads first; the key t switches (default: functions)"},
	{OPT_SORT, "sort", "ORDER",
	 "sort by self, total, self-sum or total-sum, as the keys 1 to 4 do (default: self)"},
	{OPT_ONCE, "once", NULL, "print text once at the end instead of a live screen"},
	{OPT_PAGE, "page", NULL,
	 "show it in the page of `wick serve` instead of the terminal, until Ctrl-C"},
	{OPT_CMD_OUTPUT, "cmd-output", "FILE",
	 "write the output of CMD to FILE (default: a temporary file, whose last lines are printed "
	 "at the end)"},
	SYMBOL_OPTION_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

static int take_event(const char *value, struct top_options *options, struct err *err)
{
	static const char *const words[] = {"cpu", "wall", NULL};
	int i = value_word(value, words, err);

	if (i >= 0)
		options->events = i == 0 ? COLLECT_CPU : COLLECT_WALL;
	return i;
}

static int take_show(const char *value, struct top_options *options, struct err *err)
{
	static const char *const words[] = {"functions", "threads", NULL};
	int i = value_word(value, words, err);

	if (i >= 0)
		options->threads = i == 1;
	return i;
}

static int take_order(const char *value, struct top_options *options, struct err *err)
{
	static const char *const words[] = {"self", "total", "self-sum", "total-sum", NULL};
	int i = value_word(value, words, err);

	if (i >= 0)
		options->order = (enum top_order)i;
	return i;
}

static int take_option(void *context, int id, const char *value, struct err *err)
{
	struct top_options *options = context;
	int r;

	switch (id) {
	case 'e':
		return take_event(value, options, err);
	case 'F':
		return value_rate(value, &options->hz, err);
	case 'd':
		return value_duration(value, &options->duration_ns, err);
	case OPT_SHOW:
		return take_show(value, options, err);
	case OPT_SORT:
		return take_order(value, options, err);
	case OPT_ONCE:
		options->once = true;
		return 0;
	case OPT_PAGE:
		options->page = true;
		return 0;
	case OPT_CMD_OUTPUT:
		options->cmd_output = value;
		return 0;
	case OPTION_HELP:
		options->help = true;
		return 0;
	default:
		r = symbol_options_take(id, value, &options->symbols, err);
		if (r == 0)
			r = attach_options_take(id, value, &options->attach, err);
		return r ? r : budget_options_take(id, value, &options->budget, err);
	}
}

static int check_subject(const struct top_options *options, struct err *err)
{
	bool attaches = attach_options_given(&options->attach);

	if (options->argc == 0 && !attaches) {
		(void)err_set(err, 0, "no command given");
		err_hint(err, "wick top -- ./program, or -p PID");
		return -EINVAL;
	}
	if (options->argc > 0 && attaches)
		return err_set(err, 0,
			       "'%s' starts a program, -p and --comm attach to running ones, try: "
			       "one of them",
			       options->argv[0]);
	if (options->page && (options->once || options->cmd_output || options->threads ||
			      options->order != TOP_BY_SELF))
		return err_set(err, 0,
			       "--once, --show, --sort and --cmd-output are for the terminal, and "
			       "--page is not, try: without them");
	if (options->cmd_output && attaches)
		return err_set(err, 0,
			       "--cmd-output needs a CMD, and none is given, try: without it");
	return 0;
}

static int read_options(const struct cmd_ctx *ctx, struct top_options *options, struct err *err)
{
	int rest = option_read(top_option_specs, ctx->argc, ctx->argv, take_option, options, err);

	if (rest < 0)
		return rest;
	options->argc = ctx->argc - rest;
	options->argv = ctx->argv + rest;
	if (options->once && !options->duration_ns)
		options->duration_ns = ONCE_NS;
	return options->help ? 0 : check_subject(options, err);
}

/* What is shown, and what was chosen. */
struct watching {
	struct top_session session;
	struct top_view view;
	struct top_keys keys;
	struct top_screen *screen;
	uint64_t taken_ns;
};

static void take_view(struct watching *it, uint64_t now_ns)
{
	struct top_session *session = &it->session;

	it->taken_ns = now_ns;
	if (it->keys.frozen)
		return;
	(void)top_view_take(&it->view, &session->model, now_ns);
	if (!it->keys.threads)
		return;
	(void)top_threads_read(&session->threads, now_ns);
	(void)top_view_threads(&it->view, &session->model, session->threads.at, session->threads.n);
}

static void put_in_order(struct watching *it)
{
	if (it->keys.threads)
		(void)top_view_order_threads(&it->view, it->keys.order, it->keys.pattern);
	else
		(void)top_view_order_rows(&it->view, it->keys.order, it->keys.pattern);
}

static void draw(struct watching *it)
{
	struct top_facts facts;

	put_in_order(it);
	top_session_facts(&it->session, &facts);
	top_screen_draw(it->screen, &facts, &it->view, &it->keys);
}

/* Return: false: the user quits. */
static bool press(struct watching *it, int key, bool *end_cmd)
{
	bool threads = it->keys.threads;
	uint64_t now_ns = io_now_ns();

	switch (top_keys_press(&it->keys, key, top_screen_page(it->screen, &it->keys))) {
	case TOP_LEAVE:
		return false;
	case TOP_END_CMD:
		*end_cmd = true;
		return false;
	case TOP_RESET:
		top_model_reset(&it->session.model, now_ns);
		take_view(it, now_ns);
		break;
	case TOP_DRAW:
		if (threads != it->keys.threads)
			take_view(it, now_ns);
		break;
	default:
		return true;
	}
	draw(it);
	return true;
}

/* The first Ctrl-C is a running CMD's. */
static bool is_interrupted(bool over)
{
	return interrupt_signal() || (over && interrupt_count() > 0);
}

static bool is_due(const struct watching *it, uint64_t now_ns)
{
	bool begins = now_ns - it->session.start_ns < BEGIN_NS;

	return now_ns - it->taken_ns >= (begins ? FIRST_NS : REDRAW_NS);
}

/* The last picture stays when CMD has ended, unless Ctrl-C ended it. */
static void watch(struct watching *it, bool *end_cmd)
{
	bool goes_on = true;
	bool over = false;

	while (goes_on && !is_interrupted(over) && !top_screen_is_gone(it->screen)) {
		uint64_t now_ns;
		int key;

		if (over)
			top_screen_wait(it->screen, KEY_MS);
		top_session_turn(&it->session, KEY_MS * UINT64_C(1000000));
		it->keys.started = it->session.launched && !it->session.cmd_ended;
		while (goes_on && (key = top_screen_key(it->screen)) != 0)
			goes_on = press(it, key, end_cmd);
		now_ns = io_now_ns();
		if (goes_on && !over && (it->session.ended || is_due(it, now_ns))) {
			take_view(it, now_ns);
			draw(it);
		}
		over = it->session.ended;
	}
}

/* As `wick record` has it. */
static int fail_start(const struct watching *it, int error, struct err *err)
{
	const struct top_options *options = it->session.options;
	bool attaches = attach_options_given(&options->attach);

	if (error == -ENOENT && options->argc > 0)
		attach_options_hint(options->argv[0], err);
	say_error("%s", err->text);
	if (!it->session.symbolizer || (!attaches && !it->session.output.file) ||
	    (attaches && (error == -EPERM || error == -EACCES)))
		return cmd_exit_of(error);
	return error == -ENOENT || error == -ESRCH ? WICK_NOT_FOUND : WICK_CANNOT_EXECUTE;
}

static int print_once(struct watching *it)
{
	struct top_facts facts;
	struct buf text;
	uint32_t columns = ONCE_COLUMNS;

	while (!it->session.ended) {
		uint64_t now_ns = io_now_ns();

		top_session_turn(&it->session, REDRAW_NS / 10);
		/* threads are read twice at least, for what they use in between */
		if (!it->session.ended && now_ns - it->taken_ns >= REDRAW_NS)
			take_view(it, now_ns);
	}
	it->keys.threads = false; /* those of an ended program can be read no more */
	it->view.whole = true;
	take_view(it, io_now_ns());
	it->keys.threads = it->session.options->threads;
	if (it->keys.threads)
		(void)top_view_threads(&it->view, &it->session.model, it->session.threads.at,
				       it->session.threads.n);
	put_in_order(it);
	top_session_facts(&it->session, &facts);
	facts.ended = facts.ending; /* that the time is over is what was requested */
	buf_init(&text, TEXT_BYTES);
	top_lines_head(&text, &facts, &it->view, &it->keys, columns);
	top_lines_titles(&text, &it->keys, columns);
	for (size_t i = 0; i < it->view.n_shown && i < ONCE_ROWS; i++)
		top_lines_row(&text, &it->view, &it->keys, i, columns);
	return cmd_print(&text);
}

/* Sends SIGTERM, and waits a little for the end. */
static void end_program(struct top_session *session)
{
	uint64_t until_ns = io_now_ns() + END_NS;

	(void)kill(session->pid, SIGTERM);
	while (!session->ended && io_now_ns() < until_ns)
		top_session_turn(session, REDRAW_NS / 10);
}

/* A CMD starts behind the screen; processes are attached to before it: that may take a line each.
 */
static int start(struct watching *it, const struct top_options *options)
{
	bool attaches = attach_options_given(&options->attach);
	struct err err = {0};
	int r = 0;

	if (!options->once && !attaches && top_screen_open(&it->screen, &err) < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	r = top_session_start(&it->session, options, &err);
	if (r < 0) {
		top_screen_close(it->screen);
		it->screen = NULL;
		return fail_start(it, r, &err);
	}
	if (!options->once && attaches && top_screen_open(&it->screen, &err) < 0) {
		top_session_end(&it->session);
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	return WICK_OK;
}

static int run(struct watching *it, const struct top_options *options)
{
	bool end_cmd = false;
	int status = start(it, options);

	if (status != WICK_OK)
		return status;
	it->keys.order = options->order;
	it->keys.threads = options->threads;
	if (options->once)
		status = print_once(it);
	else
		watch(it, &end_cmd);
	top_screen_close(it->screen);
	it->screen = NULL;
	if (end_cmd)
		end_program(&it->session);
	top_session_end(&it->session);
	return status;
}

/* CMD's end, where it was seen; wick top itself has done what it was requested. */
static void tell_end(struct top_session *session)
{
	if (session->launched)
		external_choice_tell(&session->external, session->collector,
				     session->options->argv[0]);
	if (session->cmd_ended)
		say_note("'%s' %s", session->comm, session->ending);
	symbol_options_tell_mangled();
	top_output_finish(&session->output, session->comm,
			  session->cmd_ended || !session->launched);
}

/* The options are those of `wick record`, but for --page. */
static int show_page(const struct cmd_ctx *ctx, const struct top_options *options)
{
	char **argv = calloc((size_t)ctx->argc + 1, sizeof(*argv));
	size_t n = 0;
	int status;

	if (!argv) {
		say_error("no memory");
		return WICK_IO;
	}
	for (char **at = ctx->argv + 1; at < ctx->argv + ctx->argc; at++)
		if (at >= options->argv || strcmp(*at, "--page") != 0)
			argv[n++] = *at;
	status = top_page_run(argv);
	free(argv);
	return status;
}

int cmd_top(struct cmd_ctx *ctx)
{
	struct top_options options = {.hz = DEFAULT_HZ, .events = COLLECT_CPU};
	struct watching it = {0};
	struct err err = {0};
	int status;

	budget_options_init(&options.budget);
	if (read_options(ctx, &options, &err) < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	if (options.help)
		return cmd_help(ctx->command);
	if (options.page)
		return show_page(ctx, &options);
	status = run(&it, &options);
	tell_end(&it.session);
	top_view_release(&it.view);
	top_keys_release(&it.keys);
	top_session_release(&it.session);
	return status;
}
