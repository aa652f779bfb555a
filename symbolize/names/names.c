/* names.c - demangling, once a name; and when two names mean one function */
#include "symbolize/names/names.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *names_intern(struct names *names, const char *text)
{
	return intern_string(&names->strings, text);
}

static _Atomic uint64_t n_mangled; /* of all threads' names */

/* It is shown mangled.  A name that was not tried may still be another origin's. */
static void count_mangled(struct names *names, const char *name)
{
	uint64_t key = (uint64_t)(uintptr_t)name;

	if (!map_get(&names->mangled, key) && map_put(&names->mangled, key, (void *)name) == 0)
		(void)atomic_fetch_add_explicit(&n_mangled, 1, memory_order_relaxed);
}

uint64_t names_mangled(void)
{
	return atomic_load_explicit(&n_mangled, memory_order_relaxed);
}

const char *names_readable(struct names *names, const char *symbol, struct demangle_budget *budget)
{
	const char *name = names_intern(names, symbol);
	const char *readable;
	char *demangled = NULL;
	int r;

	if (!name)
		return NULL;
	readable = map_get(&names->readable, (uint64_t)(uintptr_t)name);
	if (readable)
		return readable;
	r = demangle(name, names->full, budget, &demangled);
	if (r == -ETIME || r == -E2BIG || r == -EDQUOT)
		count_mangled(names, name);
	if (r == -EDQUOT)
		return name;
	readable = demangled ? names_intern(names, demangled) : name;
	free(demangled);
	if (readable)
		(void)map_put(&names->readable, (uint64_t)(uintptr_t)name, (void *)readable);
	return readable;
}

static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

/* How much of a name comes before the marks that compilers append, and a version. */
static size_t unmarked_len(const char *name)
{
	/* A dot in front begins no mark, nor does one that is part of the name. */
	size_t first = name[0] != '\0';

	return first + strcspn(name + first, ".@");
}

/* Step over a group that ends before END, backwards: "<...>", "(...)". */
static const char *before_group(const char *name, const char *end)
{
	char close = end[-1];
	const char *kind = strchr("><)(}{][", close); /* each before what opens it */
	char open = kind[1];
	int depth = 0;

	for (const char *at = end; at > name; at--) {
		depth += (at[-1] == close) - (at[-1] == open);
		if (depth == 0)
			return at - 1;
	}
	return name;
}

/* The last word of a readable name: "run" of "a::B<c>::run<int>(long)". */
static size_t last_word(const char *name, const char **ret_word)
{
	const char *end = name + strlen(name);
	const char *at;

	while (end > name && (end[-1] == '>' || end[-1] == ')'))
		end = before_group(name, end);
	for (at = end; at > name && at[-1] != ':';)
		at = strchr(">)}]", at[-1]) ? before_group(name, at) : at - 1;
	*ret_word = at;
	return (size_t)(end - at);
}

static bool same_last_word(const char *a, const char *b)
{
	const char *word_a;
	const char *word_b;
	size_t len_a = last_word(a, &word_a);
	size_t len_b = last_word(b, &word_b);

	if (strncmp(word_a, "operator", 8) == 0 && strncmp(word_b, "operator", 8) == 0)
		return true; /* words of operators are made of the signs that end others */
	return len_a > 0 && len_a == len_b && memcmp(word_a, word_b, len_a) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A constructor or destructor has several: C1, C2 and, in its declaration, C4. */
static bool same_mangled(const char *symbol, size_t len, const char *dwarf)
{
	if (strlen(dwarf) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (symbol[i] == dwarf[i])
			continue;
		if (i == 0 || (symbol[i - 1] != 'C' && symbol[i - 1] != 'D') ||
		    !is_digit(symbol[i]) || !is_digit(dwarf[i]))
			return false;
	}
	return true;
}

bool names_same_function(struct names *names, const char *symbol, const char *dwarf,
			 struct demangle_budget *budget)
{
	size_t len = unmarked_len(symbol);
	const char *shown;
	char *bare;
	bool same;

	if (strncmp(symbol, dwarf, len) == 0 && dwarf[len] == '\0')
		return true;
	if (is_mangled(dwarf))
		return is_mangled(symbol) && same_mangled(symbol, len, dwarf);
	if (!is_mangled(symbol))
		return false;
	bare = strndup(symbol, len);
	shown = bare ? names_readable(names, bare, budget) : NULL;
	same = shown && same_last_word(shown, dwarf);
	free(bare);
	return same;
}

void names_release(struct names *names)
{
	map_release(&names->readable);
	map_release(&names->mangled);
	intern_release(&names->strings);
}
