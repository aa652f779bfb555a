/*
 * marks.h - positions that say themselves where they are
 *
 * MARK("tag") is an instruction; the section `marks` gets its address and its tag, so that the
 * truth about it needs no tool that reads DWARF.  What is at a tag stands in the sources:
 *
 *	//: tag = innermost | caller@line | ... | outermost@line
 *
 * The innermost is in the line of its MARK, each caller in the line that has its name in a comment
 * that begins with an @.  truth.py reads that.
 */
#ifndef TESTS_SYMBOLS_MARKS_H
#define TESTS_SYMBOLS_MARKS_H

#define NOINLINE __attribute__((noinline))
#define INLINE   inline __attribute__((always_inline))

#define MARK_RECORD(tag)                                                                           \
	".pushsection marks,\"aR\",@progbits\n\t"                                                  \
	".balign 8\n\t"                                                                            \
	".quad 1b - .\n\t"                                                                         \
	".asciz \"" tag "\"\n\t"                                                                   \
	".popsection"
#define MARK(tag) __asm__ volatile("1:\n\tnop\n\t" MARK_RECORD(tag))

/* What it marks is the return address of a call that does not come back: the next function's. */
#define MARK_LAST_CALL(tag, function)                                                              \
	__asm__ volatile("call %P0\n1:\n\t" MARK_RECORD(tag) : : "i"(function))

#ifdef __cplusplus
extern "C" {
#endif
int c_marks(int x);
int c_dead(int x);
int asm_add(int x);
__attribute__((noreturn, visibility("hidden"))) void marks_stop(void);
extern volatile int marks_sink;
#ifdef __cplusplus
}
#endif

/* In a header, so that the file of an inlined call is not the unit's. */
#ifdef __cplusplus
static INLINE int leaf(int x)
#else
static INLINE int c_leaf(int x)
#endif
{
#ifdef __cplusplus
	//: leaf = leaf | ns::mid@mid-leaf | ns::S::outer@outer-mid
	MARK("leaf");
#else
	//: c-leaf = c_leaf | c_mid@c-mid | c_outer@c-outer
	MARK("c-leaf");
#endif
	return x * 3 + marks_sink;
}

#endif
