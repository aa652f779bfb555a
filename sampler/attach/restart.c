/* restart.c - restarts system calls that a ptrace stop would end with EINTR */
#include "sampler/attach/restart.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* The kernel's internal code: restart the call, unless a handler runs. */
enum { KERNEL_ERESTARTNOHAND = 514 };

/* Socket calls with SO_RCVTIMEO or SO_SNDTIMEO; read() and write() for some files. */
static const long calls[] = {
	SYS_epoll_wait,     SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_read,
	SYS_readv,          SYS_write,           SYS_writev,       SYS_recvfrom,
	SYS_recvmsg,        SYS_recvmmsg,        SYS_sendto,       SYS_sendmsg,
	SYS_sendmmsg,       SYS_accept,          SYS_accept4,      SYS_semop,
	SYS_semtimedop,     SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents,
	SYS_io_uring_enter,
};

bool restart_call(struct user_regs_struct *regs)
{
	if ((long)regs->rax != -EINTR)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if ((long)regs->orig_rax != calls[i])
			continue;
		regs->rax = (unsigned long long)-KERNEL_ERESTARTNOHAND;
		return true;
	}
	return false;
}

int restart_stopped(pid_t tid, struct user_regs_struct *ret_regs)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, ret_regs) < 0)
		return -errno;
	if (restart_call(ret_regs))
		(void)ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax), ret_regs->rax);
	return 0;
}
