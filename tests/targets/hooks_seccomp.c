/* hooks_seccomp.c - burns CPU under a seccomp filter that ends the process for a call too many
 * usage: hooks_seccomp quiet | no-return | strict | probe, and SECONDS */
#define _GNU_SOURCE 1
#include "burn.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

BURN_FUNCTION(burn_before)
BURN_FUNCTION(burn_under_filter)

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter quiet[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write),
	ALLOW(SYS_exit_group),
	ALLOW(SYS_rt_sigreturn),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static struct sock_filter no_return[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write),
	ALLOW(SYS_exit_group),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static int install(const char *how)
{
	struct sock_fprog one = {sizeof(quiet) / sizeof(quiet[0]), quiet};
	struct sock_fprog two = {sizeof(no_return) / sizeof(no_return[0]), no_return};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (strcmp(how, "quiet") == 0)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &one);
	if (strcmp(how, "no-return") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &two);
	if (strcmp(how, "strict") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	/* Asking whether filters are known changes nothing. */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && errno == EFAULT ? 0 : -1;
}

int main(int argc, char **argv)
{
	unsigned long loops = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (argc < 2)
		return 2;
	burn_before(loops);
	if (install(argv[1]) < 0)
		return 3;
	burn_under_filter(loops);
	(void)!write(1, "alive\n", 6);
	if (strcmp(argv[1], "strict") == 0)
		syscall(SYS_exit, 0);
	_exit(0);
}
