/* demangle_bench.c - names a second of libiberty alone, and within wick's bounds, and if they are
 * equal
 *
 * usage: demangle_bench TOTAL <NAMES: mangled names, one a line, without versions, are read over
 * and over until TOTAL are done, by turns a round of each.
 */
#include "symbolize/names/demangle.h"

#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_NAMES = 4 * 1000 * 1000, MOST_TEXT = 64 * 1024 };

struct text {
	size_t len;
	char bytes[MOST_TEXT];
};

static void append(const char *bytes, size_t len, void *context)
{
	struct text *text = context;
	size_t room = sizeof(text->bytes) - 1 - text->len;

	memcpy(text->bytes + text->len, bytes, len < room ? len : room);
	text->len += len < room ? len : room;
}

static char *plain(const char *name)
{
	static struct text text;

	text.len = 0;
	if (!rust_demangle_callback(name, 0, append, &text)) {
		text.len = 0;
		if (!cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, &text))
			return NULL;
	}
	text.bytes[text.len] = '\0';
	return strdup(text.bytes);
}

static char *bounded(const char *name)
{
	static struct demangle_budget budget;
	char *readable = NULL;

	(void)demangle(name, true, &budget, &readable);
	return readable;
}

static double cpu_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double round_s(char *(*read)(const char *), char **names, size_t n)
{
	double began_s = cpu_s();

	for (size_t i = 0; i < n; i++)
		free(read(names[i]));
	return cpu_s() - began_s;
}

static size_t read_names(char **names)
{
	char *line = NULL;
	size_t room = 0;
	size_t n = 0;

	for (ssize_t len; n < MOST_NAMES && (len = getline(&line, &room, stdin)) > 0;) {
		line[len - 1] = '\0';
		/* What compilers append is read by wick alone. */
		if (!strpbrk(line, ".@"))
			names[n] = strdup(line);
		n += names[n] != NULL;
	}
	free(line);
	return n;
}

static size_t count_different(char **names, size_t n)
{
	size_t n_different = 0;

	for (size_t i = 0; i < n; i++) {
		char *ours = bounded(names[i]);
		char *theirs = plain(names[i]);
		bool equal = ours && theirs ? strcmp(ours, theirs) == 0 : ours == theirs;

		if (!equal && n_different++ < 3)
			printf("%s: '%s', alone '%s'\n", names[i], ours ? ours : "(mangled)",
			       theirs ? theirs : "(mangled)");
		free(ours);
		free(theirs);
	}
	return n_different;
}

int main(int argc, char **argv)
{
	size_t total = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char **names = calloc(MOST_NAMES, sizeof(*names));
	size_t n = names ? read_names(names) : 0;
	double alone_s = 0;
	double bounded_s = 0;
	size_t done = 0;

	if (!n)
		return 1;
	printf("%zu different names, %zu of them shown otherwise\n", n, count_different(names, n));
	for (; done < total; done += n) {
		alone_s += round_s(plain, names, n);
		bounded_s += round_s(bounded, names, n);
	}
	printf("%zu names: libiberty alone %.0f names/s, within bounds %.0f names/s: %.2f times "
	       "the CPU\n",
	       done, (double)done / alone_s, (double)done / bounded_s, bounded_s / alone_s);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return 0;
}
