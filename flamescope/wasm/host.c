/*
 * host.c - what the models need of a system, where the system is a page
 *
 * Patterns are the browser's (flamescope/web/models/pattern.js): what PCRE2 would take long for,
 * the page gives up in its own way.
 */
#include "flamescope/wasm/internal.h"

#include "base/io.h"
#include "flamescope/convert/internal.h"
#include "flamescope/query/internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>

enum { MAX_MESSAGE = 400 };

/* A pattern's number; -1 and a message, without a NUL where it is longer than MAX_MESSAGE. */
WASM_IMPORT("pattern_new") int page_pattern_new(const char *text, size_t len, char *message);
/* 1, 0; -1 and a message. */
WASM_IMPORT("pattern_matches")
int page_pattern_matches(int pattern, const char *text, size_t len, char *message);
WASM_IMPORT("pattern_free") void page_pattern_free(int pattern);

struct matcher {
	int pattern;
};

int matcher_new(const char *text, struct matcher **ret_matcher, struct err *err)
{
	char message[MAX_MESSAGE + 1] = "";
	struct matcher *matcher = malloc(sizeof(*matcher));

	if (!matcher)
		return err_set(err, ENOMEM, "a pattern");
	matcher->pattern = page_pattern_new(text, strlen(text), message);
	if (matcher->pattern < 0) {
		free(matcher);
		(void)err_set(err, 0, "%s", message);
		return -EINVAL;
	}
	*ret_matcher = matcher;
	return 0;
}

int matcher_matches(struct matcher *matcher, const char *text, struct err *err)
{
	char message[MAX_MESSAGE + 1] = "";
	int r = page_pattern_matches(matcher->pattern, text, strlen(text), message);

	if (r >= 0)
		return r;
	(void)err_set(err, 0, "%s", message);
	return -E2BIG;
}

void matcher_free(struct matcher *matcher)
{
	if (matcher)
		page_pattern_free(matcher->pattern);
	free(matcher);
}

/* There are no files: of all rules only those that come with wick can be read. */
int io_read_file(const char *path, struct buf *text, struct err *err)
{
	(void)text;
	return err_set(err, ENOENT, "the rules of '%s' are not in this page", path);
}

/* The browser compresses. */
int out_gzip(struct out *out)
{
	(void)out;
	return -ENOSYS;
}

static int (*sort_compare)(const void *a, const void *b, void *context);
static void *sort_context;

static int in_order(const void *a, const void *b)
{
	return sort_compare(a, b, sort_context);
}

void qsort_r(void *base, size_t n, size_t size,
	     int (*compare)(const void *a, const void *b, void *context), void *context)
{
	sort_compare = compare;
	sort_context = context;
	qsort(base, n, size, in_order);
}

/* Debian's compiler-rt for WebAssembly is built with stack protectors, which wasi-libc lacks. */
uintptr_t stack_chk_guard __asm__("__stack_chk_guard") = 0x5bd1e995;
noreturn void stack_chk_fail(void) __asm__("__stack_chk_fail");

noreturn void stack_chk_fail(void)
{
	__builtin_trap();
}
