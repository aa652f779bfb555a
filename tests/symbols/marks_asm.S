/* marks_asm.S - a function that has lines, and a name in the symbol table only */
	.text
	.globl	asm_add
	.type	asm_add, @function
asm_add:
	leal	3(%rdi), %eax
	/* //: asm = asm_add */
1:	nop /* MARK("asm") */
	.pushsection marks, "aR", @progbits
	.balign	8
	.quad	1b - .
	.asciz	"asm"
	.popsection
	ret
	.size	asm_add, . - asm_add
	.section .note.GNU-stack, "", @progbits
