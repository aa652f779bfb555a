/*
 * scratch.h - the working memory of one walk, so that it need not be on a signal handler's stack
 *
 * Nothing in it is kept from one lookup to the next. Private to the unwinder: the creator of a
 * reader only provides the memory.
 */
#ifndef UNWIND_SCRATCH_H
#define UNWIND_SCRATCH_H

#include "sampler/unwind/arch_x86_64.h"
#include "sampler/unwind/module.h"

#include <stdbool.h>
#include <stdint.h>

struct unwind_cache;
struct unwind_reader;
struct expr_frame;

enum {
	CURSOR_WINDOW = 56,
	CFI_LETTERS = 8, /* letters of an augmentation, with the final 0 */
	CFI_REMEMBER_DEPTH = 8,
	EXPR_STACK = 8,
};

/*
 * [at, end) remains to be read. After a read past the end, or one that the reader refused, `failed`
 * is set and everything reads as 0: check once, at the end, but in every loop.
 */
struct cfi_cursor {
	struct unwind_reader *reader;
	uint64_t at;
	uint64_t end;
	uint64_t window_at; /* address of window[0] */
	uint32_t n_window;
	bool failed;
	unsigned char window[CURSOR_WINDOW];
};

/* One FDE with what its CIE says; programs are addresses of instructions. */
struct cfi_fde {
	uint64_t begin; /* the code it covers */
	uint64_t size;
	uint64_t cie_program;
	uint64_t cie_end;
	uint64_t program;
	uint64_t end;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of code addresses */
	bool augmented;   /* 'z': augmentation data carries its length */
	bool signal;      /* 'S': its caller was interrupted, not calling */
};

/* One entry of .eh_frame: its content begins at the id, and the id says CIE or FDE. */
struct cfi_entry {
	uint64_t id_at;
	uint64_t end;
	uint32_t id;
};

/* VALUE of an expression is the distance from the module's start to its length (ULEB). */
struct cfi_rule {
	int32_t value;
	uint8_t how; /* enum cfi_how */
};

/* The registers that a walk restores. */
enum cfi_tracked {
	CFI_PC,
	CFI_BP,
	CFI_BX,
	CFI_N_TRACKED,
};

struct cfi_row {
	int32_t cfa_value; /* the offset, or an expression as in cfi_rule */
	uint8_t cfa_reg;
	bool cfa_expr;
	struct cfi_rule regs[CFI_N_TRACKED];
};

/* Looking for an FDE; its CIE has a cursor of its own, so that the FDE's window stays. */
struct cfi_search {
	const struct unwind_module *module;
	uint64_t pc;
	struct cfi_fde *fde;
	struct cfi_cursor cursor;
	struct cfi_cursor cie;
	struct cfi_entry entry;
	struct cfi_entry cie_entry;
	unsigned char letters[CFI_LETTERS];
	uint64_t eh_frame; /* from .eh_frame_hdr: where it is, */
	uint64_t table;    /* its sorted table (0: none) */
	uint64_t n_table;
};

/* Running the instructions of an FDE up to a pc. */
struct cfi_machine {
	struct cfi_cursor cursor;
	const struct unwind_module *module;
	const struct cfi_fde *fde;
	uint64_t location;
	uint64_t pc;
	struct cfi_row *row;
	struct cfi_row initial; /* the row of the CIE, for DW_CFA_restore */
	unsigned n_remembered;
	struct cfi_row remembered[CFI_REMEMBER_DEPTH];
};

/* Evaluating an expression. */
struct expr_machine {
	struct cfi_cursor cursor;
	const struct expr_frame *frame;
	unsigned depth;
	uint64_t stack[EXPR_STACK];
};

/* A frame that bp points to: its link and its return address. */
struct walk_link {
	uint64_t bp;
	uint64_t pc;
	unsigned belief; /* enum belief of guess.c */
	bool into_cfi;
};

/* The state of one walk, shared by its steps and its guesses. */
struct walk {
	struct unwind_reader *reader;
	struct unwind_cache *cache;
	struct unwind_regs regs;
	bool exact;     /* regs.pc was interrupted there */
	bool guessed;   /* a frame on the way here had no CFI */
	bool believed;  /* PC is known to follow a call */
	bool astray;    /* PC is not code */
	uint64_t cfa;   /* of the last frame that a rule was applied to */
	uint64_t bp_lo; /* code without CFI may have saved bp in [bp_lo, bp_hi) and changed it */
	uint64_t bp_hi; /* 0: bp is what the CFI says */
	unsigned n_descents;
	struct walk_link link;
	uint64_t left_at; /* sp where the walk moved to another stack; 0: it did not */
};

struct unwind_scratch {
	struct walk walk;
	struct unwind_module module; /* of the pc that is looked up */
	struct cfi_fde fde;
	struct cfi_row row;
	union { /* one at a time */
		struct cfi_search search;
		struct cfi_machine machine;
		struct expr_machine expr;
	};
};

#endif
