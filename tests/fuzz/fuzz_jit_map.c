/* fuzz_jit_map.c - any text as a map, in pieces: the lines are the same as of the whole */
#include "symbolize/jit/internal.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_LINE = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* Take in all of a text, in pieces that grow by STEP. */
static void follow(struct jit_map *map, const char *text, size_t size, size_t step)
{
	size_t have = 0;
	size_t at = 0;

	while (have < size) {
		char *piece;

		have = size - have < step ? size : have + step;
		piece = malloc(have - at);
		if (!piece)
			return;
		memcpy(piece, text + at, have - at);
		at += jit_map_add(map, piece, have - at, have == size);
		free(piece);
	}
	if (at != size)
		abort();
}

/* What is longer than any line of a map is taken in where it is cut. */
static bool has_long_line(const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		if (stop - text >= LONG_LINE)
			return true;
		text = stop + 1;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct jit_map pieces = {.fd = -1};
	struct jit_map whole = {.fd = -1};

	if (size < 1)
		return 0;
	/* some thousands of pieces, however long the text is */
	follow(&pieces, (const char *)input + 1, size - 1,
	       ((size_t)input[0] + 1) * (1 + size / 4096));
	follow(&whole, (const char *)input + 1, size - 1, size);
	if (!has_long_line((const char *)input + 1, size - 1) &&
	    (pieces.n_lines != whole.n_lines || pieces.lines.n_symbols != whole.lines.n_symbols))
		abort();
	symbol_table_finish(&whole.lines);
	for (size_t i = 0; i < whole.lines.n_symbols; i++) {
		const struct symbol *symbol = &whole.lines.symbols[i];
		const struct symbol *found = symbol_table_find_latest(&whole.lines, symbol->addr);

		if (symbol->end <= symbol->addr || (found && found->rank < symbol->rank))
			abort();
		(void)strlen(symbol_table_name(&whole.lines, symbol));
	}
	jit_map_release(&pieces);
	jit_map_release(&whole);
	return 0;
}
