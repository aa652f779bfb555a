/* injection_thread.c - chooses the thread of a process on which the agent is injected */
#include "sampler/attach/injection_thread.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "sampler/attach/image.h"
#include "sampler/attach/target_elf.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/procfs/task.h"
#include "sampler/wire/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	ENTER_SEARCH = 256,
	MAX_MODULES = 8192,
	MAX_LIBCS = 16,      /* libcs whose symbols are read */
	MAX_EXAMINED = 1024, /* modules on stacks whose symbols are read */
};

/* State while a maps file is read. */
struct search {
	struct attach_modules modules;
	struct inject_place place;
	uint64_t dev;
	uint64_t inode;
	uint32_t n_libcs;
	uint32_t version; /* version of the agent that was found, */
	uint32_t signal;  /* and its sampling signal */
	bool failed;
};

static bool ends_with(const struct maps_line *line, const char *name)
{
	size_t len = strlen(name);

	return line->path_len >= len && memcmp(line->path + line->path_len - len, name, len) == 0;
}

/* Whether the file's name begins so. */
static bool begins_with(const struct maps_line *line, const char *name)
{
	size_t at = line->path_len;

	while (at > 0 && line->path[at - 1] != '/')
		at--;
	return line->path_len - at >= strlen(name) &&
	       memcmp(line->path + at, name, strlen(name)) == 0;
}

static bool is_libc(const struct maps_line *line)
{
	return begins_with(line, "libc.so") || begins_with(line, "libc-2.") ||
	       begins_with(line, "ld-musl-") || begins_with(line, "libc.musl-");
}

/* glibc's loader; in musl libc is the loader. */
static bool is_loader(const struct maps_line *line)
{
	return begins_with(line, "ld-linux-") || begins_with(line, "ld-2.") ||
	       begins_with(line, "ld.so");
}

/* Before glibc 2.34 dlopen() is in a library of its own. */
static bool is_libdl(const struct maps_line *line)
{
	return begins_with(line, "libdl.so") || begins_with(line, "libdl-2.");
}

/* Finds the first syscall instruction (0f 05) in a short function. */
static uint64_t find_enter(pid_t pid, uint64_t function)
{
	unsigned char code[ENTER_SEARCH];

	if (!function || !target_read(pid, function, code, sizeof(code)))
		return 0;
	for (size_t i = 0; i + 1 < sizeof(code); i++)
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return function + i;
	return 0;
}

static void take_functions(struct search *search, uint64_t base)
{
	struct inject_place *place = &search->place;
	pid_t pid = search->modules.pid;
	struct target_symbols symbols;

	if (!target_symbols_open(&symbols, pid, base))
		return;
	if (!place->dlopen)
		place->dlopen = target_symbols_find(&symbols, "dlopen");
	if (!place->dlerror)
		place->dlerror = target_symbols_find(&symbols, "dlerror");
	if (!place->errno_location)
		place->errno_location = target_symbols_find(&symbols, "__errno_location");
	if (!place->enter)
		place->enter = find_enter(pid, target_symbols_find(&symbols, "syscall"));
}

static struct attach_module *add_module(struct attach_modules *modules)
{
	if (modules->n == MAX_MODULES ||
	    array_reserve(&modules->at, modules->n, &modules->size, 32) < 0)
		return NULL;
	return &modules->at[modules->n++];
}

static bool begin_module(struct search *search, const struct maps_line *line)
{
	struct attach_module *module = add_module(&search->modules);
	bool agent = ends_with(line, IMAGE_NAME);

	if (!module)
		return false;
	*module = (struct attach_module){
		.start = line->start, .end = line->end, .loader = agent || is_loader(line)};
	if (agent && !search->place.attach)
		search->place.attach = target_attach_note(search->modules.pid, line->start,
							  &search->version, &search->signal);
	if ((is_libc(line) || is_libdl(line)) && search->n_libcs++ < MAX_LIBCS)
		take_functions(search, line->start);
	return true;
}

static bool visit(void *context, const struct maps_line *line)
{
	struct search *search = context;
	struct attach_modules *modules = &search->modules;

	if (line->inode == 0)
		return true;
	if (line->inode == search->inode && line->dev == search->dev && modules->n) {
		modules->at[modules->n - 1].end = line->end;
		return true;
	}
	search->inode = line->inode;
	search->dev = line->dev;
	if (line->pgoff == 0)
		search->failed = !begin_module(search, line);
	else
		search->inode = 0;
	return !search->failed;
}

static int explain(const struct search *search, pid_t pid, struct err *err)
{
	if (search->place.attach && search->version != WIRE_VERSION) {
		(void)err_set(err, 0,
			      "process %d has the agent of another wick in it (wire version %u, "
			      "this one speaks %u)",
			      (int)pid, (unsigned)search->version, (unsigned)WIRE_VERSION);
		err_hint(err, "that wick, or start the process anew");
		return -EPROTO;
	}
	if (search->failed)
		return err_set(err, ENOMEM, "examine process %d", (int)pid);
	if (!search->place.dlopen || !search->place.enter) {
		(void)err_set(err, 0,
			      "process %d has no libc that could load the agent: a static "
			      "program, or an unknown libc",
			      (int)pid);
		return -ENOEXEC;
	}
	return 0;
}

int attach_place_find(pid_t pid, struct inject_place *ret_place, struct attach_modules *ret_modules,
		      struct err *err)
{
	struct search search = {.modules.pid = pid};
	int r = proc_maps_of(pid, visit, &search);

	r = r < 0 ? err_set(err, -r, "read '/proc/%d/maps'", (int)pid) : explain(&search, pid, err);
	if (r < 0) {
		attach_modules_release(&search.modules);
		return r;
	}
	search.modules.signal = search.signal > 0 && search.signal < 32 ? (int)search.signal : 0;
	*ret_place = search.place;
	*ret_modules = search.modules;
	return 0;
}

void attach_modules_release(struct attach_modules *modules)
{
	free(modules->at);
	*modules = (struct attach_modules){.pid = modules->pid};
}

/*
 * Functions that hold locks which dlopen() needs as well. Internal functions are called by one of
 * these.
 */
static const char *const critical_names[] = {
	"malloc",
	"free",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"posix_memalign",
	"aligned_alloc",
	"valloc",
	"pvalloc",
	"cfree",
	"malloc_trim",
	"malloc_stats",
	"malloc_info",
	"mallinfo",
	"mallinfo2",
	"mallopt",
	"dlopen",
	"dlmopen",
	"dlclose",
	"dlsym",
	"dlvsym",
	"dladdr",
	"dladdr1",
	"dlinfo",
	"dlerror",
	"dl_iterate_phdr",
	"__tls_get_addr",
	"pthread_create",
	"pthread_exit",
	"pthread_getattr_np",
	"pthread_cancel",
	"fork",
	"_Fork",
	"vfork",
	"posix_spawn",
	"exit",
	"_exit",
	"quick_exit",
	"__cxa_atexit",
	"__cxa_finalize",
	"__register_atfork",
	"pthread_atfork",
	"atexit",
	"_Znwm",
	"_Znam",
	"_ZdlPv",
	"_ZdaPv",
};

static void examine(struct attach_module *module, pid_t pid)
{
	const size_t most = sizeof(module->critical) / sizeof(module->critical[0]);
	struct target_symbols symbols;

	module->examined = true;
	if (!target_symbols_open(&symbols, pid, module->start))
		return;
	for (size_t i = 0; i < sizeof(critical_names) / sizeof(critical_names[0]); i++) {
		uint64_t bytes = 0;
		uint64_t at = target_symbols_sized(&symbols, critical_names[i], &bytes);

		if (!at || module->n_critical == most)
			continue;
		module->critical[module->n_critical][0] = at;
		module->critical[module->n_critical++][1] = at + bytes;
	}
}

bool attach_is_critical(struct attach_modules *modules, uint64_t pc)
{
	struct attach_module *module = NULL;

	for (size_t i = 0; i < modules->n && !module; i++)
		if (pc >= modules->at[i].start && pc < modules->at[i].end)
			module = &modules->at[i];
	if (!module)
		return false;
	/* A hostile process can have any number of modules: the work is bounded. */
	if (module->loader || (!module->examined && modules->n_examined == MAX_EXAMINED))
		return true;
	modules->n_examined += !module->examined;
	if (!module->examined)
		examine(module, modules->pid);
	for (size_t i = 0; i < module->n_critical; i++)
		if (pc >= module->critical[i][0] && pc < module->critical[i][1])
			return true;
	return false;
}

enum {
	MAX_FRAMES = 256,
	MAX_THREADS = 256,      /* threads of a process */
	CODE_SEGMENT_64 = 0x33, /* value of cs in 64-bit code */
};

/* Suitability of a thread; 0 is best. */
enum rank {
	RANK_BLOCKED,  /* in a system call that the kernel restarts itself */
	RANK_AGAIN,    /* in one that wick has restarted: it has no timeout */
	RANK_RUNNING,  /* running: checked when it is stopped */
	RANK_WAITS_ON, /* in one whose timeout would start again */
	RANK_UNFIT,
};

/* Return:  whether no function on its stack is critical. */
static bool callers_fit(struct injection_thread *thread, const uint64_t *pcs,
			const struct unwind_result *result)
{
	for (size_t i = 0; i < result->n_pcs; i++) {
		uint64_t pc = pcs[i] & ~UNWIND_EXACT;

		if (attach_is_critical(thread->modules, pcs[i] & UNWIND_EXACT ? pc : pc - 1))
			return false;
	}
	return true;
}

/* Whether it waits without a timeout; futexes and sleeps keep their remaining time. */
static bool waits_for_ever(const struct blocked_at *at)
{
	switch (at->nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)at->args[3] < 0;
	case SYS_epoll_pwait2:
		return at->args[3] == 0;
	case SYS_rt_sigtimedwait:
		return at->args[2] == 0;
	default:
		return false;
	}
}

static enum rank rank_of_call(const struct blocked_at *at)
{
	switch (at->nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_rt_sigtimedwait:
		return waits_for_ever(at) ? RANK_AGAIN : RANK_WAITS_ON;
	case SYS_recvfrom: /* with SO_RCVTIMEO */
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		return RANK_AGAIN;
	case SYS_recvmmsg:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_io_uring_enter:
		return RANK_WAITS_ON;
	case SYS_connect:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_rt_sigsuspend: /* it has another signal mask while it waits */
	case SYS_vfork:
	case SYS_clone:
	case SYS_clone3:
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
		return RANK_UNFIT;
	default:
		return RANK_BLOCKED;
	}
}

static enum rank rank_blocked(struct injection_thread *thread, const struct blocked_at *at)
{
	enum rank rank = at->in_syscall ? rank_of_call(at) : RANK_UNFIT;
	uint64_t pcs[MAX_FRAMES];
	struct unwind_result result;

	if (rank == RANK_UNFIT || blocked_walk(thread->remote, at, pcs, MAX_FRAMES, &result) < 0 ||
	    !callers_fit(thread, pcs, &result))
		return RANK_UNFIT;
	return rank;
}

static enum rank rank_of(struct injection_thread *thread, int tasks_fd, uint32_t tid,
			 struct blocked_at *ret_at, int *ret_cpu)
{
	struct task_stat stat;
	_cleanup_fd_ int fd = -1;

	if (task_read_stat(tasks_fd, tid, &stat) < 0)
		return RANK_UNFIT;
	*ret_cpu = (int)stat.cpu;
	if (stat.letter == 'R')
		return RANK_RUNNING;
	if (stat.letter != 'S')
		return RANK_UNFIT;
	fd = task_open(tasks_fd, tid, "syscall");
	switch (fd < 0 ? fd : blocked_read(fd, ret_at)) {
	case 0:
		return rank_blocked(thread, ret_at);
	case -EBUSY:
		return RANK_RUNNING;
	default:
		return RANK_UNFIT;
	}
}

int injection_thread_choose(struct injection_thread *thread, bool hard, struct err *err)
{
	enum rank most = hard ? RANK_WAITS_ON : RANK_RUNNING;
	enum rank best = RANK_UNFIT;
	_cleanup_dir_ DIR *tasks = tasks_open(thread->pid);
	uint32_t tid;
	int n = 0;

	if (!tasks)
		return err_set(err, errno == ENOENT ? ESRCH : errno, "process %d",
			       (int)thread->pid);
	for (; best != RANK_BLOCKED && n < MAX_THREADS && (tid = tasks_next(tasks)); n++) {
		struct blocked_at at = {0};
		int cpu = -1;
		enum rank rank = rank_of(thread, dirfd(tasks), tid, &at, &cpu);

		if (rank >= best || rank > most)
			continue;
		best = rank;
		thread->tid = (pid_t)tid;
		thread->cpu = cpu;
		thread->blocked = rank != RANK_RUNNING;
		thread->at = at;
	}
	if (best != RANK_UNFIT)
		return 0;
	(void)err_set(
		err, 0,
		"process %d has no suitable thread: each is in its allocator, its loader, or a "
		"call that must not be interrupted",
		(int)thread->pid);
	return n ? -EAGAIN : err_set(err, ESRCH, "process %d", (int)thread->pid);
}

static bool is_where_it_was(const struct injection_thread *thread,
			    const struct user_regs_struct *regs)
{
	return thread->blocked && regs->rip == thread->at.pc && regs->rsp == thread->at.sp &&
	       (long)regs->orig_rax >= 0;
}

static bool stack_fits(struct injection_thread *thread, const struct user_regs_struct *regs)
{
	const struct unwind_regs from = {
		.pc = regs->rip, .sp = regs->rsp, .bp = regs->rbp, .bx = regs->rbx};
	struct unwind_result result;
	uint64_t pcs[MAX_FRAMES];

	if (remote_begin(thread->remote, regs->rsp) < 0)
		return false;
	result = unwind_walk(remote_reader(thread->remote), remote_rules(thread->remote), &from,
			     pcs, MAX_FRAMES);
	return callers_fit(thread, pcs, &result);
}

bool injection_thread_fits(void *context, const struct tracee *tracee, struct err *err)
{
	struct injection_thread *thread = context;

	if (tracee->regs.cs == CODE_SEGMENT_64 &&
	    (is_where_it_was(thread, &tracee->regs) || stack_fits(thread, &tracee->regs)))
		return true;
	(void)err_set(err, 0,
		      "process %d has no suitable thread: whenever one is stopped, it is in its "
		      "allocator or its loader",
		      (int)thread->pid);
	return false;
}
