/* top_session.c - the collector, names, and the model that counts */
#include "tools/top/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/terminal.h"
#include "tools/summary/summary.h"
#include "tools/target/target.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define TICK_NS   UINT64_C(100000000)
#define LAG_NS    TOP_LATE_NS

/* How long what was drained may take to be given, at the end. */
#define LAST_NS UINT64_C(2000000000)

static void on_named(void *context, const struct sample *sample)
{
	struct top_session *session = context;

	top_model_add(&session->model, sample);
	top_threads_watch(&session->threads, sample->pid);
}

/* Everything that can fail before CMD runs. */
static int prepare(struct top_session *session, struct err *err)
{
	const struct top_options *options = session->options;
	struct symbolize_options symbols = {0};
	struct collector_options collector = {
		.hz = options->hz,
		.discovery = collector_auto_discovery(),
		.events = options->events,
		.signal = options->attach.signal,
		.alone = options->attach.no_children,
		.lag_ns = LAG_NS,
	};
	const char *command = options->argc ? options->argv[0] : "";
	const char *slash = strrchr(command, '/');
	int r = agent_path_find(&session->agent_path, err);

	if (r < 0)
		return r;
	session->external = (struct external_choice){.events = options->events, .hz = options->hz};
	external_choice_pass(&session->external, &collector);
	collector.agent_path = session->agent_path;
	collector.follows = !collector.alone && attach_options_given(&options->attach);
	collector.prices.timer_ns = signal_cost_ns();
	budget_options_pass(&options->budget, &collector);
	session->comm = strdup(slash && slash[1] ? slash + 1 : command);
	if (!session->comm ||
	    top_model_init(&session->model, SECOND_NS / options->hz, io_now_ns()) < 0)
		return err_set(err, ENOMEM, "start");
	symbol_options_pass(&options->symbols, &symbols);
	r = collector_new(&collector, &session->collector, err);
	if (r == 0)
		r = symbol_options_start(&symbols, &session->symbolizer, err);
	return r;
}

static int launch(struct top_session *session, struct err *err)
{
	const struct top_options *options = session->options;
	struct collector_signals signals;
	int r;

	process_signals(&signals);
	r = top_output_redirect(&session->output, options->cmd_output, err);
	if (r < 0)
		return r;
	r = collector_launch(session->collector, options->argv, &signals, &session->pid, err);
	top_output_restore(&session->output);
	session->launched = r == 0;
	return r;
}

static void on_attached(void *context, pid_t pid)
{
	struct top_session *session = context;

	top_threads_watch(&session->threads, pid);
}

static int attach(struct top_session *session, struct err *err)
{
	struct attaching attaching = {
		.collector = session->collector,
		.attach = &session->options->attach,
		.external = &session->external,
		.attached = on_attached,
		.context = session,
	};
	int r = attaching_start(&attaching, err);

	if (r == 0) {
		free(session->comm);
		session->comm = steal_pointer(&attaching.comm);
		session->pid = attaching.pid;
		if (!session->options->attach.no_children)
			session->following.collector = session->collector;
	}
	attaching_release(&attaching);
	return r;
}

int top_session_start(struct top_session *session, const struct top_options *options,
		      struct err *err)
{
	bool attaches = attach_options_given(&options->attach);
	int r;

	session->options = options;
	r = prepare(session, err);
	if (r < 0)
		return r;
	session->queue = (struct name_queue){
		.symbolizer = session->symbolizer, .deliver = on_named, .context = session};
	if (attaches)
		interrupt_no_cmd();
	interrupt_catch();
	session->start_ns = io_now_ns();
	r = attaches ? attach(session, err) : launch(session, err);
	if (r == 0) {
		session->started = true;
		interrupt_detaches(session->collector);
		top_threads_watch(&session->threads, session->pid);
	}
	return r;
}

/* From the collector, or from the kernel where the collector has stopped looking. */
static bool has_ended(struct top_session *session)
{
	if (collector_status(session->collector, &session->wait_status))
		return true;
	return session->ended &&
	       waitpid(session->pid, &session->wait_status, WNOHANG) == session->pid;
}

/* CMD's end in words. */
static void note_end(struct top_session *session)
{
	if (session->cmd_ended || !session->launched || !has_ended(session))
		return;
	session->cmd_ended = true;
	if (WIFSIGNALED(session->wait_status))
		(void)snprintf(session->ending, sizeof(session->ending), "killed by SIG%s",
			       sigabbrev_np(WTERMSIG(session->wait_status)));
	else
		(void)snprintf(session->ending, sizeof(session->ending), "exited with status %d",
			       WEXITSTATUS(session->wait_status));
}

static void take(struct top_session *session, struct collector_event *event, uint64_t now_ns)
{
	switch (event->kind) {
	case COLLECTOR_SAMPLE:
		name_queue_add(&session->queue, &event->sample, now_ns);
		break;
	case COLLECTOR_MAPPING:
		symbolizer_add(session->symbolizer, &event->mapping);
		break;
	case COLLECTOR_EXIT:
		name_queue_exit(&session->queue, event->process);
		break;
	case COLLECTOR_RATE:
		session->rate = event->rate;
		break;
	case COLLECTOR_END:
		name_queue_drain(&session->queue);
		session->ended = true;
		break;
	default:
		break;
	}
}

static void tick(struct top_session *session, uint64_t now_ns)
{
	const struct top_options *options = session->options;

	session->ticked_ns = now_ns;
	symbolizer_tick(session->symbolizer);
	name_queue_advance(&session->queue, now_ns);
	following_tick(&session->following, now_ns);
	top_output_trim(&session->output);
	note_end(session);
	if (options->duration_ns && now_ns - session->start_ns >= options->duration_ns)
		collector_detach(session->collector);
}

void top_session_turn(struct top_session *session, uint64_t timeout_ns)
{
	uint64_t now_ns = io_now_ns();
	uint64_t until_ns = now_ns + timeout_ns;
	struct collector_event event;

	while (!session->ended && now_ns < until_ns) {
		collector_next(session->collector, until_ns - now_ns, &event);
		now_ns = io_now_ns();
		take(session, &event, now_ns);
		if (now_ns - session->ticked_ns >= TICK_NS)
			tick(session, now_ns);
	}
	if (session->ended)
		note_end(session);
}

/* An attached process: what it was executing cannot be read of one that has ended. */
static bool is_gone(pid_t pid)
{
	char path[32];
	char target[1];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) < 0 && errno == ENOENT;
}

static const char *ending_of(const struct top_session *session)
{
	if (session->cmd_ended)
		return session->ending;
	return session->ended && !session->launched && is_gone(session->pid) ? "has ended" : NULL;
}

/* Timers are checked at the kernel's tick. */
static uint32_t at_most(uint32_t hz)
{
	uint32_t most_hz = collector_kernel_hz();

	return hz < most_hz ? hz : most_hz;
}

void top_session_facts(struct top_session *session, struct top_facts *ret_facts)
{
	struct collector_stats stats;

	collector_stats(session->collector, &stats);
	*ret_facts = (struct top_facts){
		.command = session->comm,
		.pid = session->pid,
		.hz = session->options->hz,
		.effective_hz = session->rate.effective_hz ? session->rate.effective_hz
							   : at_most(session->options->hz),
		.paused = session->rate.pauses != 0,
		.wall = session->options->events & COLLECT_WALL,
		.threads = stats.threads,
		.processes = stats.processes,
		.lost = summary_weight_lost(&stats),
		.output = session->output.file ? session->output.path : NULL,
		.ended = session->ended,
		.ending = ending_of(session),
	};
}

void top_session_end(struct top_session *session)
{
	uint64_t until_ns = io_now_ns() + LAST_NS;

	if (!session->started)
		return;
	collector_detach(session->collector);
	while (!session->ended && io_now_ns() < until_ns)
		top_session_turn(session, TICK_NS);
	note_end(session);
}

void top_session_release(struct top_session *session)
{
	interrupt_detaches(NULL);
	following_release(&session->following);
	symbolizer_free(session->symbolizer);
	collector_free(session->collector);
	top_model_release(&session->model);
	top_threads_release(&session->threads);
	free(session->agent_path);
	free(session->comm);
	*session = (struct top_session){0};
}
