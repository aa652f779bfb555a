/*
 * stub_x86_64.S - the code that the injection thread runs, in memory that was mapped for it
 *
 * It receives the descriptors, calls dlopen() to load the agent, calls its attach function, and
 * unmaps its memory, this code included.
 *
 * Registers at the start:
 *   rbx  address of its struct stub, above its stack
 *   rsp  end of the stack; neither is writable yet:
 *   r12  start of the stack, r13 length of stack and struct
 *   rbp  start of all of its memory, r14 length of that
 *
 * It notes in the struct that the pair of sockets exists, and polls r15 times for the descriptors.
 * If none has come by then it stops (int3), with eax 0 and the pair in rdx. When it fails it stops as
 * well: eax is -errno, rdx the loader's message. Otherwise it ends with a fault after munmap, with
 * the result of the attach function in r15.
 */
#include "sampler/attach/stub_x86_64.h"

#include <asm/unistd.h>

#define READ_WRITE       3
#define UNIX             1
#define PAIR_TYPE        02000005   /* SOCK_SEQPACKET | SOCK_CLOEXEC */
#define RECEIVE          0x40000040 /* MSG_CMSG_CLOEXEC | MSG_DONTWAIT */
#define LOAD_NOW         2          /* RTLD_NOW */
#define NOT_YET          (-11)      /* -EAGAIN */
#define TOO_MANY_FDS          (-24)      /* -EMFILE */
#define NOT_LOADED       (-79)      /* -ELIBACC */
#define HEAD_BYTES       16         /* of a control message */
#define TRAP             5          /* SIGTRAP */
#define IGNORE           1          /* SIG_IGN */
#define MASK_BYTES       8

	.section .rodata
	.globl	stub_code, stub_done, stub_bytes
	.hidden	stub_code, stub_done, stub_bytes
	.p2align 4
stub_code:
	movq	%r12, %rdi
	movq	%r13, %rsi
	movl	$READ_WRITE, %edx
	movl	$__NR_mprotect, %eax
	syscall
	testl	%eax, %eax
	jnz	.Lfailed

	movl	$UNIX, %edi
	movl	$PAIR_TYPE, %esi
	xorl	%edx, %edx
	leaq	STUB_PAIR(%rbx), %r10
	movl	$__NR_socketpair, %eax
	syscall
	testl	%eax, %eax
	jnz	.Lfailed
	movl	$1, STUB_PAIR_MADE(%rbx)

.Lreceive:
	movl	STUB_PAIR(%rbx), %edi
	leaq	STUB_MESSAGE(%rbx), %rsi
	movl	$RECEIVE, %edx
	movl	$__NR_recvmsg, %eax
	syscall
	testl	%eax, %eax
	jns	.Lreceived
	cmpl	$NOT_YET, %eax
	jne	.Lfailed
	pause
	decl	%r15d
	jg	.Lreceive
	/* Once more after the stop (r15 is 0). */
	jl	.Lfailed
	xorl	%eax, %eax
	movq	STUB_PAIR(%rbx), %rdx
	int3
	jmp	.Lreceive

.Lreceived:
	/* With too few free descriptors the kernel has passed fewer. */
	movl	$TOO_MANY_FDS, %eax
	movq	STUB_PASSED_BYTES(%rbx), %rcx
	cmpq	%rcx, STUB_PASSED(%rbx)
	jne	.Lfailed
	movl	STUB_PASSED + HEAD_BYTES(%rbx), %ecx
	movl	%ecx, STUB_RING_FD(%rbx)
	movq	STUB_PAIR(%rbx), %rcx
	movq	%rcx, STUB_OTHER_FDS(%rbx)

	xorl	%r12d, %r12d
	movq	STUB_ERRNO_LOCATION(%rbx), %rax
	testq	%rax, %rax
	jz	.Lload
	call	*%rax
	movq	%rax, %r12
	movl	(%r12), %r13d

.Lload:
	movq	STUB_ATTACH(%rbx), %rax
	testq	%rax, %rax
	jnz	.Lattach
	/* Writes the digits of the agent's descriptor, last one first. */
	movl	STUB_PASSED + HEAD_BYTES + 4(%rbx), %eax
	movl	%eax, STUB_OTHER_FDS + 8(%rbx)
	xorl	%ecx, %ecx
	movl	$10, %esi
1:	xorl	%edx, %edx
	divl	%esi
	addl	$'0', %edx
	pushq	%rdx
	incl	%ecx
	testl	%eax, %eax
	jnz	1b
	leaq	STUB_PATH + STUB_PATH_DIGITS(%rbx), %rdi
2:	popq	%rax
	stosb
	loop	2b
	movb	$0, (%rdi)

	leaq	STUB_PATH(%rbx), %rdi
	movl	$LOAD_NOW, %esi
	call	*STUB_DLOPEN(%rbx)
	testq	%rax, %rax
	jz	.Lexplain
	movq	%rax, %r15

	/*
	 * In both libcs the handle points to the load address, then the name. A debugger opens the
	 * name of a module; this path would be one of the debugger's own descriptors, and a pipe
	 * would block it for ever. So the name is replaced by one that is no path.
	 */
	movq	8(%r15), %rdi
	movq	STUB_PATH(%rbx), %rax
	cmpq	%rax, (%rdi)
	jne	3f
	leaq	STUB_NAME(%rbx), %rsi
	movl	$STUB_NAME_BYTES, %ecx
	rep movsb
3:	movq	(%r15), %rax
	addq	STUB_ATTACH_OFFSET(%rbx), %rax

.Lattach:
	leaq	STUB_REQUEST(%rbx), %rdi
	call	*%rax
	movslq	%eax, %r15
	testq	%r12, %r12
	jz	4f
	movl	%r13d, (%r12)

	/*
	 * If the program ignores SIGTRAP, the single step before has reset the action to the default,
	 * but not its flags and mask. The rest ends with another signal.
	 */
4:	cmpl	$0, STUB_IGNORES_TRAP(%rbx)
	je	6f
	movl	$TRAP, %edi
	xorl	%esi, %esi
	leaq	STUB_TRAP_ACTION(%rbx), %rdx
	movl	$MASK_BYTES, %r10d
	movl	$__NR_rt_sigaction, %eax
	syscall
	movl	$TRAP, %edi
	movq	$IGNORE, STUB_TRAP_ACTION(%rbx)
	leaq	STUB_TRAP_ACTION(%rbx), %rsi
	xorl	%edx, %edx
	movl	$__NR_rt_sigaction, %eax
	syscall

6:	movq	%rbp, %rdi
	movq	%r14, %rsi
	movl	$__NR_munmap, %eax
	syscall
.Ldone:
	int3

.Lexplain:
	xorl	%edx, %edx
	movq	STUB_DLERROR(%rbx), %rax
	testq	%rax, %rax
	jz	5f
	call	*%rax
	movq	%rax, %rdx
5:	movl	$NOT_LOADED, %eax
.Lfailed:
	int3
.Lend:
	.p2align 3
stub_done:
	.quad	.Ldone - stub_code
stub_bytes:
	.quad	.Lend - stub_code
	.section .note.GNU-stack, "", @progbits
