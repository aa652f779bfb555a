/* fuzz_jit_dump.c - any records, in pieces of any size: functions stay ordered in time and place */
#include "symbolize/jit/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* The file as it grows, a step at a time; every piece is a block of its own size. */
static void follow(struct jit_dump *dump, const uint8_t *file, size_t size, size_t step)
{
	for (size_t have = step; !dump->ended && dump->at < size; have += step) {
		int r = 0;

		have = have < size ? have : size;
		while (r == 0 && !dump->ended && dump->at < have) {
			size_t len = have - (size_t)dump->at;
			uint8_t *piece = malloc(len);
			uint64_t at = dump->at;

			if (!piece)
				return;
			memcpy(piece, file + at, len);
			r = jit_dump_read(dump, piece, len, 1000);
			free(piece);
			if (r == 0 && dump->at == at && !dump->ended)
				abort();
		}
		if (have == size)
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct jit_dump dump = {.pid = 7, .outer_pid = 7, .started_ns = 10};
	struct jit_code code;

	if (size < 2)
		return 0;
	/* some thousands of pieces, however long the file is */
	follow(&dump, input + 1, size - 1, ((size_t)input[0] * 16 + 1) * (1 + size / 4096));
	if (jit_code_copy(&dump.code, &code) == 0) {
		for (size_t i = 0; i < code.n_functions; i++) {
			const struct jit_function *function = &code.functions[i];
			const struct jit_function *found =
				jit_code_find(&code, function->start, function->from_ns);
			const char *file = NULL;

			if (function->end <= function->start)
				abort();
			if (found && (found->from_ns > function->from_ns ||
				      function->from_ns >= found->until_ns))
				abort();
			(void)strlen(jit_code_name(&code, function));
			if (jit_code_line(&code, function, function->end - 1, &file))
				(void)strlen(file);
		}
		jit_code_release(&code);
	}
	jit_dump_release(&dump);
	return 0;
}
