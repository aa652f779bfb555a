/* symbols.S - functions whose symbols are of every kind, and code that has none */
	.file "from_here.c"
	.text

/* Aliases of one function; REVERSED has them in another order. */
#ifdef REVERSED
	.globl alias_b, alias_a, _alias_c
#else
	.globl _alias_c, alias_a, alias_b
#endif
	.weak weak_alias
	.type alias_a, @function
	.type alias_b, @function
	.type _alias_c, @function
	.type weak_alias, @function
	.type local_alias, @function
	.p2align 4
alias_a:
alias_b:
_alias_c:
weak_alias:
local_alias:
	.cfi_startproc
	.fill 15, 1, 0x90
	ret
	.cfi_endproc
	.size alias_a, 16
	.size alias_b, 16
	.size _alias_c, 16
	.size weak_alias, 16
	.size local_alias, 16

/* A local function with a size, and a label without one inside it. */
	.type sized_local, @function
	.p2align 4
sized_local:
	.cfi_startproc
	.fill 8, 1, 0x90
label_inside:
	.fill 7, 1, 0x90
	ret
	.cfi_endproc
	.size sized_local, 16

/* No size, but bounds: nothing of it reaches into the gap. */
	.globl bounded
	.type bounded, @function
	.p2align 4
bounded:
	.cfi_startproc
	.fill 15, 1, 0x90
	ret
	.cfi_endproc
	.fill 4096, 1, 0xcc

/* Neither size nor bounds; behind it a function that has no symbol, only bounds. */
	.globl unbounded
	.type unbounded, @function
	.p2align 4
unbounded:
	.fill 15, 1, 0x90
	ret
	.p2align 4
	.cfi_startproc
	.fill 15, 1, 0x90
	ret
	.cfi_endproc

	.globl versioned_1
	.type versioned_1, @function
	.symver versioned_1, versioned@@SYMBOLS_1
versioned_1:
	.cfi_startproc
	.fill 15, 1, 0x90
	ret
	.cfi_endproc
	.size versioned_1, 16

	.globl chosen
	.type chosen, @gnu_indirect_function
chosen:
	.cfi_startproc
	.fill 15, 1, 0x90
	ret
	.cfi_endproc
	.size chosen, 16

	.section .note.GNU-stack, "", @progbits
