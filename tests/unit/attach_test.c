/* attach_test.c - what joining a process reads of it, and one thread that is held and put back */
#include "child_fixture.h"
#include "sampler/attach/attach_check.h"
#include "sampler/attach/inject.h"
#include "sampler/attach/injection_thread.h"
#include "sampler/attach/target_elf.h"
#include "sampler/attach/tracee.h"
#include "sampler/procfs/task.h"
#include "sampler/wire/attach.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Where libc is in this process, and one of its functions. */
static uint64_t libc_base(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	Dl_info info;

	assert_non_null(libc);
	assert_int_not_equal(dladdr(dlsym(libc, "getppid"), &info), 0);
	(void)dlclose(libc);
	return (uint64_t)(uintptr_t)info.dli_fbase;
}

static uint64_t libc_function(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	uint64_t address = (uint64_t)(uintptr_t)dlsym(libc, name);

	(void)dlclose(libc);
	return address;
}

static void finds_what_the_loader_finds(void **state)
{
	struct target_symbols symbols;
	uint64_t bytes = 0;

	(void)state;
	assert_true(target_symbols_open(&symbols, getpid(), libc_base()));
	assert_int_equal(target_symbols_find(&symbols, "getppid"), libc_function("getppid"));
	assert_int_equal(target_symbols_find(&symbols, "syscall"), libc_function("syscall"));
	assert_int_equal(target_symbols_sized(&symbols, "qsort", &bytes), libc_function("qsort"));
	assert_true(bytes > 0);
	assert_int_equal(target_symbols_find(&symbols, "there_is_no_such_function"), 0);
	assert_false(target_symbols_open(&symbols, getpid(), 16));
}

/* A module as a process could have made it up. */
struct module {
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	Elf64_Dyn dynamic[8];
	Elf64_Sym symbols[2];
	uint32_t hash[64];
	char strings[16];
	_Alignas(4) unsigned char notes[128];
	uint32_t signal;
};

static void make_module(struct module *m)
{
	*m = (struct module){.strings = "\0found"};
	memcpy(m->head.e_ident, ELFMAG, SELFMAG);
	m->head.e_ident[EI_CLASS] = ELFCLASS64;
	m->head.e_phoff = offsetof(struct module, segments);
	m->head.e_phentsize = sizeof(m->segments[0]);
	m->head.e_phnum = 3;
	m->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_memsz = sizeof(*m)};
	m->segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				      .p_vaddr = offsetof(struct module, dynamic),
				      .p_memsz = sizeof(m->dynamic)};
	m->segments[2] = (Elf64_Phdr){.p_type = PT_NOTE,
				      .p_vaddr = offsetof(struct module, notes),
				      .p_memsz = sizeof(m->notes)};
	m->dynamic[0] = (Elf64_Dyn){DT_SYMTAB, {offsetof(struct module, symbols)}};
	m->dynamic[1] = (Elf64_Dyn){DT_STRTAB, {offsetof(struct module, strings)}};
	m->dynamic[2] = (Elf64_Dyn){DT_STRSZ, {sizeof(m->strings)}};
	m->dynamic[3] = (Elf64_Dyn){DT_HASH, {offsetof(struct module, hash)}};
	m->symbols[1] = (Elf64_Sym){.st_name = 1,
				    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				    .st_shndx = 1,
				    .st_value = 0x40};
	m->hash[0] = 1; /* a bucket, two chains */
	m->hash[1] = 2;
	m->hash[2] = 1;
}

static uint64_t look_up(const struct module *m, const char *name)
{
	struct target_symbols symbols;

	if (!target_symbols_open(&symbols, getpid(), (uint64_t)(uintptr_t)m))
		return 0;
	return target_symbols_find(&symbols, name);
}

static void a_module_that_lies_has_no_symbols(void **state)
{
	struct module m;

	(void)state;
	make_module(&m);
	assert_int_equal(look_up(&m, "found"), (uint64_t)(uintptr_t)&m + 0x40);
	assert_int_equal(look_up(&m, "foun"), 0);
	m.symbols[1].st_name = 15; /* the name would end behind the table */
	assert_int_equal(look_up(&m, "found"), 0);
	make_module(&m);
	m.hash[4] = 1; /* a chain that goes round */
	m.symbols[1].st_shndx = SHN_UNDEF;
	assert_int_equal(look_up(&m, "found"), 0);
	make_module(&m);
	m.hash[0] = 0;
	assert_int_equal(look_up(&m, "found"), 0);
	make_module(&m);
	m.dynamic[3].d_tag = DT_GNU_HASH;
	m.hash[0] = 1;
	m.hash[2] = UINT32_MAX; /* of words before the buckets */
	assert_int_equal(look_up(&m, "found"), 0);
	make_module(&m);
	m.head.e_phoff = UINT64_MAX;
	assert_int_equal(look_up(&m, "found"), 0);
}

/* A note at the end of those, with what the agent's has. */
static void put_note(struct module *m, uint32_t name_bytes, uint32_t desc_bytes)
{
	const Elf64_Nhdr head = {name_bytes, desc_bytes, ATTACH_NOTE};
	const size_t at = 16; /* behind another one */
	const size_t desc = at + sizeof(head) + 8;
	struct attach_note note = {.version = WIRE_VERSION, .enter = 0x100};
	const Elf64_Nhdr other = {4, 0, 7};

	note.signal = (int64_t)offsetof(struct module, signal) -
		      (int64_t)(offsetof(struct module, notes) + desc +
				offsetof(struct attach_note, signal));
	memcpy(m->notes, &other, sizeof(other));
	memcpy(m->notes + at, &head, sizeof(head));
	memcpy(m->notes + at + sizeof(head), ATTACH_NOTE_OWNER, sizeof(ATTACH_NOTE_OWNER));
	memcpy(m->notes + desc, &note, sizeof(note));
	m->signal = SIGVTALRM;
}

static uint64_t find_note(const struct module *m, uint32_t *ret_version, uint32_t *ret_signal)
{
	return target_attach_note(getpid(), (uint64_t)(uintptr_t)m, ret_version, ret_signal);
}

static void the_agents_note_gives_its_attach_function(void **state)
{
	uint32_t version = 0;
	uint32_t signal = 0;
	struct module m;

	(void)state;
	make_module(&m);
	assert_int_equal(find_note(&m, &version, &signal), 0);
	put_note(&m, sizeof(ATTACH_NOTE_OWNER), sizeof(struct attach_note));
	assert_true(find_note(&m, &version, &signal) > (uint64_t)(uintptr_t)&m);
	assert_int_equal(version, WIRE_VERSION);
	assert_int_equal(signal, SIGVTALRM);
	put_note(&m, sizeof(ATTACH_NOTE_OWNER), 8);
	assert_int_equal(find_note(&m, &version, &signal), 0);
	put_note(&m, UINT32_MAX, sizeof(struct attach_note));
	assert_int_equal(find_note(&m, &version, &signal), 0);
	put_note(&m, sizeof(ATTACH_NOTE_OWNER), UINT32_MAX);
	assert_int_equal(find_note(&m, &version, &signal), 0);
}

static void knows_which_functions_hold_locks(void **state)
{
	struct attach_modules modules;
	struct inject_place place;
	struct err err = {0};

	(void)state;
	if (attach_place_find(getpid(), &place, &modules, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(place.dlopen, libc_function("dlopen"));
	assert_int_equal(place.attach, 0);
	assert_true(attach_is_critical(&modules, libc_function("malloc") + 1));
	assert_true(attach_is_critical(&modules, libc_function("fork") + 1));
	assert_false(attach_is_critical(&modules, libc_function("getppid")));
	assert_false(attach_is_critical(&modules, 16));
	attach_modules_release(&modules);
}

static void says_why_it_cannot_attach_to_a_process(void **state)
{
	struct attach_target target;
	struct err err = {0};
	pid_t pid = child_start_paused();
	int status;

	(void)state;
	(void)kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_int_equal(attach_check(pid, &target, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "is stopped, try: kill -CONT"));
	(void)kill(pid, SIGKILL);
	child_await_zombie(pid);
	assert_int_equal(attach_check(pid, &target, &err), -ESRCH);
	assert_non_null(strstr(err.text, "it is a zombie"));
	child_end(pid);
	assert_int_equal(attach_check(pid, &target, &err), -ESRCH);
	assert_non_null(strstr(err.text, "there is no process"));
	assert_int_equal(attach_check(-1, &target, &err), -ESRCH);
}

static void another_signal_where_one_is_needed(void **state)
{
	struct attach_target target = {.pid = getpid(), .namespace_pid = getpid()};
	struct err why = {0};
	struct err err = {0};
	int signal = 0;

	(void)state;
	assert_int_equal(attach_signal_choose(&target, 0, 0, &signal, &why, &err), 0);
	assert_int_equal(signal, SIGURG);
	assert_string_equal(why.text, "");
	target.caught = UINT64_C(1) << (SIGURG - 1);
	target.ignored = UINT64_C(1) << (SIGWINCH - 1);
	assert_int_equal(attach_signal_choose(&target, 0, 0, &signal, &why, &err), 0);
	assert_int_equal(signal, SIGPROF);
	assert_non_null(strstr(why.text, "handles SIGURG itself"));
	assert_int_equal(attach_signal_choose(&target, SIGWINCH, 0, &signal, &why, &err), -EBUSY);
	assert_non_null(strstr(err.text, "ignores SIGWINCH itself, try: --signal PROF"));
	assert_int_equal(attach_signal_choose(&target, 0, SIGPWR, &signal, &why, &err), 0);
	assert_int_equal(signal, SIGPWR);
	assert_int_equal(attach_signal_choose(&target, SIGPROF, SIGPWR, &signal, &why, &err),
			 -EBUSY);
	target.caught = UINT64_MAX;
	assert_int_equal(attach_signal_choose(&target, 0, 0, &signal, &why, &err), -EBUSY);
}

static void threads_are_known_by_their_own_numbers(void **state)
{
	struct namespace_tids tids;

	(void)state;
	namespace_tids_init(&tids, getpid());
	/* Ours may be numbered otherwise outside; here the innermost is what we call ourselves. */
	assert_int_equal(namespace_tids_find(&tids, (uint32_t)getpid()), getpid());
	assert_int_equal(namespace_tids_find(&tids, INT32_MAX), 0);
	namespace_tids_release(&tids);
}

/* Sleeps, and says whether the sleep was what it asked for. */
static void sleep_and_tell(int fd)
{
	const struct timespec rest = {.tv_nsec = 300000000};
	struct timespec before;
	struct timespec after;
	int r;

	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	errno = EXDEV;
	r = nanosleep(&rest, NULL);
	if (errno != EXDEV)
		r = -2;
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	if ((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 <
	    300)
		r = -3;
	(void)!write(fd, &r, sizeof(r));
	_exit(0);
}

static uint64_t find_enter(void)
{
	struct attach_modules modules;
	struct inject_place place;

	assert_int_equal(attach_place_find(getpid(), &place, &modules, NULL), 0);
	attach_modules_release(&modules);
	return place.enter;
}

/* movl $7, %eax; int3 */
static const unsigned char seven[] = {0xb8, 7, 0, 0, 0, 0xcc};

/* Memory of ours in it, with the code above. */
static uint64_t map_code(struct tracee *tracee)
{
	const uint64_t args[6] = {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				  UINT64_MAX};
	char path[32];
	long at = 0;
	int fd;

	assert_int_equal(tracee_syscall(tracee, SYS_mmap, args, &at), 0);
	assert_true(at > 0);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)tracee->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, seven, sizeof(seven), at), sizeof(seven));
	(void)close(fd);
	return (uint64_t)at;
}

static int run_at(struct tracee *tracee, uint64_t address, uint64_t *ret_answer)
{
	struct user_regs_struct regs = tracee->regs;
	int signal = 0;

	regs.rip = address;
	assert_int_equal(tracee_continue(tracee, &regs), 0);
	assert_int_equal(tracee_wait_fault(tracee, &regs, &signal), 0);
	*ret_answer = regs.rax;
	return signal;
}

static void a_held_thread_sleeps_as_long_as_it_asked(void **state)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	const uint64_t none[6] = {0};
	struct tracee *tracee;
	uint64_t seen = 0;
	long answer = 0;
	int said = -1;
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0)
		sleep_and_tell(fds[1]);
	tracee = calloc(1, sizeof(*tracee));
	assert_non_null(tracee);
	(void)nanosleep(&moment, NULL);
	if (tracee_seize(tracee, pid, pid, find_enter()) < 0) {
		child_end(pid);
		free(tracee);
		skip();
		return;
	}
	assert_int_equal(tracee_stop(tracee), 0);
	assert_int_equal(tracee_block_signals(tracee), 0);
	assert_int_equal(tracee_syscall(tracee, SYS_getpid, none, &answer), 0);
	assert_int_equal(answer, pid);
	assert_int_equal(run_at(tracee, map_code(tracee), &seen), SIGTRAP);
	assert_int_equal(seen, 7);
	assert_int_equal(run_at(tracee, 64, &seen), SIGSEGV);
	tracee_detach(tracee);
	assert_int_equal(read(fds[0], &said, sizeof(said)), sizeof(said));
	assert_int_equal(said, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)close(fds[0]);
	(void)close(fds[1]);
	free(tracee);
}

static bool seize_and_stop(struct tracee *tracee, pid_t pid)
{
	return tracee_seize(tracee, pid, pid, find_enter()) == 0 && tracee_stop(tracee) == 0 &&
	       tracee_block_signals(tracee) == 0;
}

/* In memory of the child's, which is a copy of ours. */
static void another_program_is_not_touched(void **state)
{
	static const char *const words[] = {"sleep", "30", NULL};
	const uint64_t exec[6] = {(uint64_t)(uintptr_t) "/bin/sleep", (uint64_t)(uintptr_t)words};
	struct tracee *tracee = calloc(1, sizeof(*tracee));
	long answer = 0;
	pid_t pid = child_start_paused();

	(void)state;
	assert_non_null(tracee);
	if (seize_and_stop(tracee, pid)) {
		assert_int_equal(tracee_syscall(tracee, SYS_execve, exec, &answer), -ESRCH);
		assert_true(tracee->gone);
		tracee_detach(tracee);
		/* It continues, and is not traced. */
		assert_int_equal(kill(pid, 0), 0);
		assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	}
	child_end(pid);
	free(tracee);
}

static void stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static bool is_searched(pid_t pid)
{
	struct stop_wait look;
	bool found;

	stop_wait_open(&look, pid, pid);
	assert_true(look.stat_fd >= 0);
	stop_wait_begin(&look);
	while (stop_wait_continues(&look))
		;
	found = look.stat_fd >= 0;
	stop_wait_close(&look);
	assert_false(stop_wait_continues(&look));
	return found;
}

static void processes_that_need_our_processor_are_not_read(void **state)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	const int cpu = sched_getcpu();
	cpu_set_t ours;
	cpu_set_t others;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(ours), &ours), 0);
	stay_on(cpu);
	pid = child_start_paused();
	(void)nanosleep(&moment, NULL);
	assert_false(is_searched(pid));
	others = ours;
	CPU_CLR(cpu, &others);
	if (CPU_COUNT(&others) > 0) {
		assert_int_equal(sched_setaffinity(0, sizeof(others), &others), 0);
		assert_true(is_searched(pid));
	}
	assert_int_equal(sched_setaffinity(0, sizeof(ours), &ours), 0);
	child_end(pid);
}

static void a_thread_that_ends_while_held_is_released(void **state)
{
	const uint64_t none[6] = {0};
	struct tracee *tracee = calloc(1, sizeof(*tracee));
	long answer = 0;
	pid_t pid = child_start_paused();

	(void)state;
	assert_non_null(tracee);
	if (seize_and_stop(tracee, pid)) {
		(void)kill(pid, SIGKILL);
		assert_int_equal(tracee_syscall(tracee, SYS_getpid, none, &answer), -ESRCH);
		tracee_detach(tracee);
		/* Its end was taken: for a process that is not ours that tells its parent. */
		assert_true(tracee->gone);
		assert_int_equal(waitpid(pid, NULL, 0), -1);
	} else {
		child_end(pid);
	}
	free(tracee);
}

static bool never_fits(void *context, const struct tracee *tracee, struct err *err)
{
	*(int *)context += tracee->stopped;
	(void)err_set(err, 0, "not this one");
	return false;
}

/* It is asked in the process that holds the thread: what it writes is not seen here. */
static void the_holder_of_a_thread_reports_the_result(void **state)
{
	struct attach_modules modules;
	struct err err = {0};
	uint64_t stopped_ns = 0;
	int n_asked = 0;
	pid_t pid = child_start_paused();
	struct inject inject = {.pid = pid,
				.tid = pid,
				.cpu = -1,
				.pidfd = -1,
				.image_fd = -1,
				.ring_fd = -1,
				.socket = (char *)"",
				.fits = never_fits,
				.context = &n_asked};
	char path[32];
	int r;

	(void)state;
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	inject.mem_fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(attach_place_find(pid, &inject.place, &modules, &err), 0);
	attach_modules_release(&modules);
	r = inject_run(&inject, &stopped_ns, &err);
	(void)close(inject.mem_fd);
	child_end(pid);
	if (r == -EPERM) {
		skip();
		return;
	}
	assert_int_equal(r, -EAGAIN);
	assert_string_equal(err.text, "not this one");
	assert_true(stopped_ns > 0);
	assert_int_equal(n_asked, 0);
	/* One that has ended is told from one that cannot be held. */
	assert_int_equal(inject_run(&inject, &stopped_ns, &err), -ESRCH);
}

static void signals_that_end_no_process_are_recognized(void **state)
{
	(void)state;
	assert_true(attach_signal_is_harmless(SIGURG) && attach_signal_fits(SIGURG));
	assert_true(attach_signal_is_harmless(SIGWINCH) && attach_signal_fits(SIGWINCH));
	assert_true(!attach_signal_is_harmless(SIGPROF) && attach_signal_fits(SIGPROF));
	assert_false(attach_signal_fits(SIGKILL) || attach_signal_fits(SIGCHLD) ||
		     attach_signal_fits(0) || attach_signal_fits(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_the_loader_finds),
		cmocka_unit_test(a_module_that_lies_has_no_symbols),
		cmocka_unit_test(the_agents_note_gives_its_attach_function),
		cmocka_unit_test(knows_which_functions_hold_locks),
		cmocka_unit_test(says_why_it_cannot_attach_to_a_process),
		cmocka_unit_test(another_signal_where_one_is_needed),
		cmocka_unit_test(threads_are_known_by_their_own_numbers),
		cmocka_unit_test(a_held_thread_sleeps_as_long_as_it_asked),
		cmocka_unit_test(another_program_is_not_touched),
		cmocka_unit_test(processes_that_need_our_processor_are_not_read),
		cmocka_unit_test(a_thread_that_ends_while_held_is_released),
		cmocka_unit_test(the_holder_of_a_thread_reports_the_result),
		cmocka_unit_test(signals_that_end_no_process_are_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
