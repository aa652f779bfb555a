/* restorer_x86_64.S - calls rt_sigreturn, in exactly the bytes by which debuggers and unwinders
 * recognize a signal frame: mov $15, %rax; syscall */
	.text
	.globl	handler_restorer
	.hidden	handler_restorer
	.type	handler_restorer, @function
	nop
handler_restorer:
	movq	$15, %rax
	syscall
	.size	handler_restorer, . - handler_restorer
	.section .note.GNU-stack, "", @progbits
