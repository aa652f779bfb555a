/* start.c - the constructor: connects to wick and starts sampling; without wick it changes nothing
 */
#include "sampler/agent/start.h"

#include "sampler/agent/agent.h"
#include "sampler/agent/event_hook.h"
#include "sampler/agent/hooks.h"
#include "sampler/agent/signals.h"
#include "sampler/handler/context.h"
#include "sampler/handler/on_sigprof.h"
#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"
#include "sampler/program/preload.h"

#include <linux/mman.h>
#include <sys/auxv.h>

extern char **weak_environ __asm__("environ") __attribute__((weak));
extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));

extern int weak_register(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			 void *dso) __asm__("__register_atfork") __attribute__((weak));
extern int weak_pthread_atfork(void (*prepare)(void), void (*parent)(void),
			       void (*child)(void)) __asm__("pthread_atfork") __attribute__((weak));

enum {
	START_MS = 1000, /* longest delay of a new image by a busy collector */
	FORK_MS = 200,
	READ_WRITE = 3,    /* PROT_READ | PROT_WRITE */
	WIPE_ON_FORK = 18, /* MADV_WIPEONFORK, Linux 4.14 */
	UNBLOCK = 1,       /* SIG_UNBLOCK */
};

/* The agent was preloaded, so the program's calls go through its hooks. */
static bool interposes;

bool agent_interposes(void)
{
	return interposes;
}

static const char *value_of(const char *entry, const char *name)
{
	while (*name && *entry == *name) {
		entry++;
		name++;
	}
	return !*name && *entry == '=' ? entry + 1 : NULL;
}

static const char *find(char **envp, const char *name)
{
	const char *value;

	for (; envp && *envp; envp++) {
		value = value_of(*envp, name);
		if (value)
			return value;
	}
	return NULL;
}

/* Return:  the end of what was written; NULL when it does not fit before END. */
static char *append(char *to, const char *end, const char *text, uint32_t len)
{
	if (!to || (uint64_t)(end - to) <= len)
		return NULL;
	for (uint32_t i = 0; i < len; i++)
		*to++ = text[i];
	*to = '\0';
	return to;
}

/* The agent is linked into the socket's directory, whose path LD_PRELOAD can hold. */
bool agent_set_paths(const char *socket)
{
	static const char name[] = "libwick-agent.so";
	char *end = agent.file + sizeof(agent.file);
	uint32_t n = 0;
	uint32_t dir = 0;

	for (; socket[n]; n++) {
		if (n + 1 >= sizeof(agent.socket))
			return false;
		if (socket[n] == '/')
			dir = n + 1;
	}
	agent.socket[0] = '\0';
	/* sun_path has 108 bytes. */
	if (!dir || n >= 108 ||
	    !append(append(agent.file, end, socket, dir), end, name, sizeof(name) - 1))
		return false;
	(void)append(agent.socket, agent.socket + sizeof(agent.socket), socket, n);
	(void)append(agent.preload, agent.preload + sizeof(agent.preload), agent.file,
		     dir + sizeof(name) - 1);
	return true;
}

/* The hooks object is in the same directory, and after the agent in LD_PRELOAD if it is used. */
static void add_hooks(char **envp)
{
	static const char name[] = "libwick-hooks.so";
	const char *preload = find(envp, "LD_PRELOAD");
	char *end = agent.preload + sizeof(agent.preload);
	char *to = agent.preload;
	uint32_t dir = 0;
	uint32_t n = 0;
	const char *user;
	size_t len;

	for (; agent.file[n]; n++)
		if (agent.file[n] == '/')
			dir = n + 1;
	to = append(append(append(to + n, end, ":", 1), end, agent.file, dir), end, name,
		    sizeof(name) - 1);
	if (!to || !preload || preload_split(preload, agent.preload, &user, &len) < 0)
		agent.preload[n] = '\0';
}

struct process *process_map(void)
{
	long at = sys6(__NR_mmap, 0, sizeof(struct process), READ_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(at))
		return NULL;
	if (sys3(__NR_madvise, at, sizeof(struct process), WIPE_ON_FORK) < 0) {
		(void)sys2(__NR_munmap, at, sizeof(struct process));
		return NULL;
	}
	return (void *)at;
}

static bool request_rings(enum handshake_kind kind, int timeout_ms)
{
	int fd = handshake_rings(kind, timeout_ms);
	int r;

	if (fd < 0)
		return false;
	r = rings_map(handler_process, fd);
	(void)sys1(__NR_close, fd);
	return r == 0;
}

static void install(void)
{
	int signal = (int)handler_process->header->signal;
	const uint64_t prof = SYS_SIGBIT(signal);
	struct sys_sigaction previous = {0};
	uint64_t mask = 0;

	if (handler_install(signal, signals_altstack_fits(), &previous) < 0)
		return;
	(void)sys4(__NR_rt_sigprocmask, UNBLOCK, &prof, &mask, 8);
	signals_start(&previous, (mask & prof) != 0);
}

/* A process shorter than a period is sampled only if it starts in the middle of one. */
static uint64_t first_ns(struct process *p)
{
	uint64_t period_ns = process_period_ns(p);

	return period_ns - p->header->start_offset_ns % period_ns;
}

static int arm_self(struct process *p)
{
	uint32_t tid = (uint32_t)sys0(__NR_gettid);
	struct slot slot;
	int r;

	if (slot_claim(p, tid, &slot) < 0)
		return -1;
	context_begin(&slot);
	r = timer_arm(p, &slot, tid, first_ns(p));
	slot_leave(&slot);
	return r;
}

void timers_start(struct process *p)
{
	int own;
	int found = -1;

	p->account_since_ns = clock_process_cpu_ns();
	/* Set the state before the first timer, whose signal may come at once. */
	process_set_state(p, AGENT_SAMPLING);
	if (p->header->hooks & RING_NO_TIMERS)
		return;
	own = arm_self(p);
	if (p->discovery == DISCOVERY_TIMER)
		found = timer_arm_process(p, first_ns(p));
	if (own < 0 && found < 0)
		process_set_state(p, AGENT_NO_TIMER);
}

void fork_start(void)
{
	/* glibc has the first, musl the second; without either, children after fork are not
	 * sampled. */
	if (weak_register)
		(void)weak_register(NULL, NULL, start_in_child, NULL);
	else if (weak_pthread_atfork)
		(void)weak_pthread_atfork(NULL, NULL, start_in_child);
}

/* Return: whether this image is sampled. */
static bool start(void)
{
	handler_process = process_map();
	if (!handler_process || !request_rings(HANDSHAKE_START, START_MS))
		return false;
	modules_start(handler_process);
	install();
	fork_start();
	timers_start(handler_process);
	events_begin();
	event_hooks_start(handler_process->header);
	return true;
}

static void __attribute__((constructor)) agent_constructor(void)
{
	const char *socket = find(weak_environ, WIRE_ENV_SOCKET);

	if (!socket || !agent_set_paths(socket))
		return;
	interposes = true;
	add_hooks(weak_environ);
	hooks_find();
	clock_start(weak_getauxval ? weak_getauxval(AT_SYSINFO_EHDR) : 0);
	(void)start();
	event_hooks_settle();
	environment_hide(weak_environ);
}

void start_in_child(void)
{
	struct process *p = handler_process;

	/* fork wipes the state; if there is a header, memory is shared and the pid is the parent's.
	 */
	if (!p || p->header)
		return;
	threads_forget_starts();
	if (!request_rings(HANDSHAKE_FORK, FORK_MS))
		return;
	modules_start_without_loader(p);
	signals_report();
	timers_start(p);
	if (p->header->non_cpu_event)
		events_begin();
}
