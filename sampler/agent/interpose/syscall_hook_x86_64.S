/* syscall_hook_x86_64.S - syscall(): passes a call on with stack and registers unchanged, unless the
 * agent has to handle its number (syscall_hook.c) */
#include <asm/unistd.h>

	.text
	.globl	syscall
	.type	syscall, @function
	.p2align 4
syscall:
	.cfi_startproc
	endbr64
	cmpq	$__NR_rt_sigprocmask, %rdi
	je	1f
	cmpq	$__NR_rt_sigaction, %rdi
	je	1f
	cmpq	$__NR_execve, %rdi
	je	1f
	cmpq	$__NR_execveat, %rdi
	je	1f
	cmpq	$__NR_seccomp, %rdi
	je	1f
	cmpq	$__NR_prctl, %rdi
	je	1f
	cmpq	$__NR_sigaltstack, %rdi
	je	1f
	movq	syscall_real(%rip), %rax
	testq	%rax, %rax
	je	2f
	jmp	*%rax
1:	jmp	syscall_chosen
2:	jmp	syscall_next
	.cfi_endproc
	.size	syscall, . - syscall
	.section .note.GNU-stack, "", @progbits
