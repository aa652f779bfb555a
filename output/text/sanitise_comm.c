/* sanitise_comm.c - a thread's name: the first field of a line, where the grammars are strictest */
#include "base/utf8.h"
#include "output/text/markup.h"
#include "output/text/sanitise.h"

#include <stdio.h>
#include <string.h>

enum { COMM_MAX = 15 }; /* the kernel keeps no more */

struct text {
	char *out;
	size_t len;
};

static void add(struct text *text, const char *bytes, size_t len)
{
	if (text->len + len >= SANITISED_COMM_SIZE)
		return;
	memcpy(text->out + text->len, bytes, len);
	text->len += len;
}

/* Whether libmagic would name a whole file after this word at the start of a line. */
static bool names_a_file_type(const char *comm, size_t len)
{
	static const char *const words[] = {"struct", "extern", "union", "public:", "private:"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (len == strlen(words[i]) && memcmp(comm, words[i], len) == 0)
			return true;
	}
	return len == 3 && comm[0] == '.'; /* troff: .TH .de .sp */
}

static size_t add_character(struct text *text, const char *at, size_t left)
{
	uint32_t code;
	size_t len = utf8_next(at, left, &code);

	if (len == 0) {
		add(text, "\xef\xbf\xbd", 3);
		return 1;
	}
	if (left >= 2 && memcmp(at, "->", 2) == 0) { /* FlameScope splits there */
		add(text, "\xe2\x86\x92", 3);
		return 2;
	}
	if (utf8_breaks(code))
		add(text, "_", 1);
	else if (code == ';') /* it parts the frames of a folded stack */
		add(text, ":", 1);
	else
		add(text, at, len);
	if ((code == '<' || code == '\\') && markup_opens(at, left))
		add(text, "_", 1);
	return len;
}

bool sanitise_comm(const char *comm, size_t size, pid_t tid, char out[static SANITISED_COMM_SIZE])
{
	size_t len = strnlen(comm, size < COMM_MAX ? size : COMM_MAX);
	struct text text = {.out = out};
	size_t n_characters = 0;

	if (len == 0) {
		(void)snprintf(out, SANITISED_COMM_SIZE, ":%d", (int)tid);
		return true;
	}
	if (comm[0] == '#' || names_a_file_type(comm, len)) {
		add(&text, "_", 1);
		n_characters++;
	}
	for (size_t i = 0; i < len; n_characters++)
		i += add_character(&text, comm + i, len - i);
	if (n_characters == 1)
		add(&text, "_", 1);
	out[text.len] = '\0';
	return text.len != len || memcmp(out, comm, len) != 0;
}
