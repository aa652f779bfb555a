/*
 * waits.c - what a blocked thread waits in: words and states; which system calls wait, for what,
 * and where their arguments say so
 *
 * The numbers are those of the machine that this is built for, by their names.
 */
#include "sampler/remote/waits.h"

#include "sampler/remote/blocked.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

#define CALL(name, word_)                                                                          \
	[__NR_##name] = {                                                                          \
		.word = (word_),                                                                   \
	}
#define ON(name, word_, kind, arg)                                                                 \
	[__NR_##name] = {                                                                          \
		.word = (word_),                                                                   \
		.object = OBJECT_##kind,                                                           \
		.object_arg = (arg),                                                               \
	}
#define TIMED(name, word_, kind, arg, how, timeout_)                                               \
	[__NR_##name] = {                                                                          \
		.word = (word_),                                                                   \
		.object = OBJECT_##kind,                                                           \
		.object_arg = (arg),                                                               \
		.timeout = TIMEOUT_##how,                                                          \
		.timeout_arg = (timeout_),                                                         \
	}
#define PROCESS(name, word_)                                                                       \
	[__NR_##name] = {                                                                          \
		.word = (word_),                                                                   \
		.for_process = true,                                                               \
	}

static const struct waits_call calls[] = {
	ON(futex, "futex", FUTEX, 0),
	ON(futex_waitv, "futex", FUTEX_LIST, 0),

	TIMED(nanosleep, "sleep", NONE, 0, TIMESPEC, 0),
	TIMED(clock_nanosleep, "sleep", NONE, 0, CLOCK, 2),
	TIMED(ppoll, "poll", POLL, 0, TIMESPEC, 2),
	TIMED(pselect6, "select", NONE, 0, TIMESPEC, 4),
	TIMED(epoll_pwait, "epoll", FD, 0, MS, 3),
	TIMED(epoll_pwait2, "epoll", FD, 0, TIMESPEC, 3),
	ON(epoll_ctl, "epoll", FD, 0),
	ON(io_uring_enter, "io_uring", FD, 0),
	TIMED(io_getevents, "aio", NONE, 0, TIMESPEC, 4),
	TIMED(io_pgetevents, "aio", NONE, 0, TIMESPEC, 4),
	CALL(io_submit, "aio"),
	CALL(io_destroy, "aio"),

	ON(read, "read", FD, 0),
	ON(pread64, "read", FD, 0),
	ON(readv, "read", FD, 0),
	ON(preadv, "read", FD, 0),
	ON(preadv2, "read", FD, 0),
	ON(readahead, "read", FD, 0),
	ON(write, "write", FD, 0),
	ON(pwrite64, "write", FD, 0),
	ON(writev, "write", FD, 0),
	ON(pwritev, "write", FD, 0),
	ON(pwritev2, "write", FD, 0),
	ON(sendfile, "sendfile", FD, 0),
	ON(splice, "splice", FD, 0),
	ON(vmsplice, "splice", FD, 0),
	ON(tee, "splice", FD, 0),
	ON(copy_file_range, "copy", FD, 0),
	ON(ioctl, "ioctl", FD, 0),
	ON(fcntl, "fcntl", FD, 0),
	ON(flock, "flock", FD, 0),
	ON(lseek, "seek", FD, 0),
	ON(close, "close", FD, 0),
	CALL(close_range, "close"),
	ON(getdents64, "readdir", FD, 0),

	ON(accept, "accept", FD, 0),
	ON(accept4, "accept", FD, 0),
	ON(connect, "connect", PEER, 0),
	ON(recvfrom, "recv", FD, 0),
	ON(recvmsg, "recv", FD, 0),
	TIMED(recvmmsg, "recv", FD, 0, TIMESPEC, 4),
	ON(sendto, "send", FD, 0),
	ON(sendmsg, "send", FD, 0),
	ON(sendmmsg, "send", FD, 0),
	ON(shutdown, "shutdown", FD, 0),

	ON(fsync, "fsync", FD, 0),
	ON(fdatasync, "fsync", FD, 0),
	ON(syncfs, "fsync", FD, 0),
	ON(sync_file_range, "fsync", FD, 0),
	CALL(sync, "fsync"),
	CALL(msync, "fsync"),
	ON(ftruncate, "truncate", FD, 0),
	ON(truncate, "truncate", PATH, 0),
	ON(fallocate, "fallocate", FD, 0),

	ON(openat, "open", PATH, 1),
	ON(openat2, "open", PATH, 1),
	ON(newfstatat, "stat", PATH, 1),
	ON(statx, "stat", PATH, 1),
	ON(fstat, "stat", FD, 0),
	ON(statfs, "stat", PATH, 0),
	ON(faccessat, "stat", PATH, 1),
	ON(faccessat2, "stat", PATH, 1),
	ON(readlinkat, "stat", PATH, 1),
	ON(unlinkat, "unlink", PATH, 1),
	ON(mkdirat, "mkdir", PATH, 1),
	ON(renameat2, "rename", PATH, 1),
	ON(linkat, "link", PATH, 1),
	ON(symlinkat, "link", PATH, 2),

	ON(wait4, "wait", PID, 0),
	ON(waitid, "wait", WAITID, 0),
	PROCESS(clone, "clone"),
	PROCESS(clone3, "clone"),
	ON(execve, "exec", PATH, 0),
	ON(execveat, "exec", PATH, 1),
	CALL(exit, "exit"),
	CALL(exit_group, "exit"),
	CALL(ptrace, "ptrace"),
	PROCESS(membarrier, "membarrier"),
	CALL(sched_yield, "yield"),

	CALL(rt_sigsuspend, "signal"),
	TIMED(rt_sigtimedwait, "signal", NONE, 0, TIMESPEC, 2),

	ON(msgrcv, "msg", MSG, 0),
	ON(msgsnd, "msg", MSG, 0),
	ON(mq_timedreceive, "msg", FD, 0),
	ON(mq_timedsend, "msg", FD, 0),
	ON(semop, "sem", SEM, 0),
	TIMED(semtimedop, "sem", SEM, 0, TIMESPEC, 3),
	ON(shmat, "memory", SHM, 0),

	CALL(mmap, "memory"),
	CALL(munmap, "memory"),
	CALL(mremap, "memory"),
	CALL(mprotect, "memory"),
	CALL(madvise, "memory"),
	CALL(brk, "memory"),
	CALL(mlock, "memory"),
	CALL(mlockall, "memory"),
	CALL(mbind, "memory"),
	CALL(move_pages, "memory"),
	CALL(process_vm_readv, "memory"),
	CALL(process_vm_writev, "memory"),

	CALL(getrandom, "getrandom"),
	CALL(restart_syscall, "restart"),

#ifdef __NR_poll /* calls that only the older machines have */
	TIMED(poll, "poll", POLL, 0, MS, 2),
	TIMED(select, "select", NONE, 0, TIMEVAL, 4),
	TIMED(epoll_wait, "epoll", FD, 0, MS, 3),
	CALL(pause, "signal"),
	ON(open, "open", PATH, 0),
	ON(creat, "open", PATH, 0),
	ON(stat, "stat", PATH, 0),
	ON(lstat, "stat", PATH, 0),
	ON(access, "stat", PATH, 0),
	ON(readlink, "stat", PATH, 0),
	ON(unlink, "unlink", PATH, 0),
	ON(rmdir, "unlink", PATH, 0),
	ON(mkdir, "mkdir", PATH, 0),
	ON(rename, "rename", PATH, 0),
	ON(renameat, "rename", PATH, 1),
	ON(link, "link", PATH, 0),
	ON(symlink, "link", PATH, 1),
	ON(getdents, "readdir", FD, 0),
	PROCESS(fork, "clone"),
	PROCESS(vfork, "clone"),
#endif
};

/* Newer than the headers of many a build machine; one number on every machine. */
enum { NR_FUTEX_WAIT = 455 };

static const struct waits_call futex_wait = {"futex", OBJECT_FUTEX, 0, TIMEOUT_NONE, 0, false};

const struct waits_call *waits_call(long nr)
{
	if (nr == NR_FUTEX_WAIT)
		return &futex_wait;
	if (nr < 0 || (size_t)nr >= sizeof(calls) / sizeof(calls[0]) || !calls[nr].word)
		return NULL;
	return &calls[nr];
}

static bool locks_a_file(const struct blocked_at *at)
{
	int command = (int)at->args[1];

	return at->nr == __NR_fcntl && (command == F_SETLKW || command == F_OFD_SETLKW);
}

const char *waits_word(const struct blocked_at *at)
{
	const struct waits_call *call;

	if (!at->in_syscall)
		return "page-fault";
	if (locks_a_file(at))
		return "flock";
	call = waits_call(at->nr);
	return call ? call->word : "other";
}

static bool for_process(const struct blocked_at *at)
{
	const struct waits_call *call = at && at->in_syscall ? waits_call(at->nr) : NULL;

	return call && call->for_process;
}

enum sample_state waits_state(char stat_letter, const struct blocked_at *at)
{
	switch (stat_letter) {
	case 'R':
		return STATE_RUNNING;
	case 'W': /* being woken */
		return STATE_RUNNABLE;
	case 'D':
		return for_process(at) ? STATE_SLEEPING : STATE_DISK;
	case 'T':
	case 't':
	case 'Z':
	case 'X':
	case 'x':
		return STATE_STOPPED;
	default:
		return STATE_SLEEPING;
	}
}
