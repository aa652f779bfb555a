/* root.c - recognizes the start of processes and threads in code without CFI */
#include "sampler/unwind/reader.h"
#include "sampler/unwind/walk.h"

enum {
	MAX_POINTERS = 8192, /* of argv and of envp */
	MAX_AUX = 64,
	AUX_NULL = 0,
	AUX_PAGESZ = 6,
	AUX_TYPES = 128,
	ALIGNED_WORDS = 2,
	STRINGS_BYTES = 64 << 20, /* how far above sp what they point to can lie */
};

/* A list of pointers to above AT that ends with zero. Return: the address after the zero; 0: it is
 * no such list. */
static uint64_t skip_pointers(struct walk *walk, uint64_t at)
{
	uint64_t value;

	for (unsigned i = 0; i < MAX_POINTERS; i++) {
		if (!unwind_read_word(walk->reader, at, &value))
			return 0;
		at += ARCH_WORD;
		if (value == 0)
			return at;
		if (value < at || value - at > STRINGS_BYTES)
			return 0;
	}
	return 0;
}

/* The auxiliary vector of a process: small types, the page size among them, a zero. */
static bool is_aux(struct walk *walk, uint64_t at)
{
	bool page_size = false;
	uint64_t value;
	uint64_t type;

	for (unsigned i = 0; i < MAX_AUX; i++, at += UINT64_C(2) * ARCH_WORD) {
		if (!unwind_read_word(walk->reader, at, &type) ||
		    !unwind_read_word(walk->reader, at + ARCH_WORD, &value))
			return false;
		if (type == AUX_NULL)
			return page_size;
		if (type >= AUX_TYPES)
			return false;
		page_size = page_size || (type == AUX_PAGESZ && value == ARCH_PAGE);
	}
	return false;
}

/*
 * The stack as exec leaves it: argc, argv, envp, auxv. ld.so's entry has no CFI, and runs every
 * constructor. It aligns sp, and that of crt1.o pushes arguments, so argc may be two words higher.
 */
static bool is_first_frame(struct walk *walk, uint64_t at)
{
	uint64_t argc;
	uint64_t end;

	if (!unwind_read_word(walk->reader, at, &argc) || argc == 0 || argc > MAX_POINTERS)
		return false;
	end = skip_pointers(walk, at + ARCH_WORD);
	if (end != at + ARCH_WORD * (argc + 2))
		return false;
	end = skip_pointers(walk, end);
	return end && is_aux(walk, end);
}

/* After clone's system call, on a new stack. */
static bool is_new_thread(struct walk *walk)
{
	uint64_t result_at = walk->regs.saved + (uint64_t)arch_saved_offset(ARCH_REG_RESULT);
	unsigned char code[ARCH_SYSCALL_BYTES];
	uint64_t result;

	return walk->exact && walk->regs.saved &&
	       unwind_read_word(walk->reader, result_at, &result) && result == 0 &&
	       walk->reader->read(walk->reader, walk->regs.pc - sizeof(code), code, sizeof(code)) &&
	       arch_is_syscall(code);
}

bool is_root(struct walk *walk)
{
	for (uint64_t words = 0; words <= ALIGNED_WORDS; words++)
		if (is_first_frame(walk, walk->regs.sp + words * ARCH_WORD))
			return true;
	return is_new_thread(walk);
}
