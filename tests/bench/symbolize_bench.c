/* symbolize_bench.c - what a name costs: the first time, and every time after
 *
 * usage: symbolize_bench [--once]; --once: after the first pass one other instead of twenty */
#include "symbolize/symbolize.h"

#include "base/io.h"
#include "tests/unit/symbolize/target.h"

enum { N_FRAMES = 32, N_SAMPLES = 4096, N_ROUNDS = 20 };

/* N addresses all over libc, as stacks of 32. */
static void fill(struct frame *frames, uint64_t start, uint64_t bytes, int n)
{
	unsigned seed = 1;

	for (int i = 0; i < N_FRAMES * N_SAMPLES; i++) {
		seed = seed * 1103515245 + 12345;
		if (i % n == 0)
			seed = 1;
		frames[i] = (struct frame){.addr = start + (seed >> 4) % bytes, .exact = true};
	}
}

static uint64_t resolve_all(struct symbolizer *symbolizer, struct frame *frames)
{
	uint64_t began_ns = io_now_ns();

	for (int i = 0; i < N_SAMPLES; i++) {
		struct sample sample = {.process = 1,
					.time_ns = 1,
					.n_frames = N_FRAMES,
					.frames = frames + (ptrdiff_t)i * N_FRAMES};

		(void)symbolizer_resolve(symbolizer, &sample, true);
	}
	return io_now_ns() - began_ns;
}

int main(int argc, char **argv)
{
	int n_rounds = argc == 2 && strcmp(argv[1], "--once") == 0 ? 1 : N_ROUNDS;
	struct symbolize_options options = {.wait = true, .no_cache = true};
	struct frame *frames = calloc((size_t)N_FRAMES * N_SAMPLES, sizeof(*frames));
	struct symbolizer *symbolizer = NULL;
	uint64_t load_ns = io_now_ns();

	if (!frames || symbolizer_new(&options, &symbolizer, NULL) < 0) {
		free(frames);
		return 1;
	}
	target_add_maps(symbolizer, getpid(), 0, HIDE_NOTHING);
	load_ns = io_now_ns() - load_ns;
	printf("symbolize: load %.1f ms\n", (double)load_ns / 1e6);
	for (int n = 2048; n <= N_FRAMES * N_SAMPLES; n *= 8) {
		uint64_t first_ns;
		uint64_t again_ns = 0;

		fill(frames, (uint64_t)(uintptr_t)&strtol, 256 * 1024, n);
		first_ns = resolve_all(symbolizer, frames);
		for (int i = 0; i < n_rounds; i++)
			again_ns += resolve_all(symbolizer, frames);
		printf("symbolize: %6d addresses: first pass %.0f ns, then %.1f ns a frame\n", n,
		       (double)first_ns / (N_FRAMES * N_SAMPLES),
		       (double)again_ns / n_rounds / (N_FRAMES * N_SAMPLES));
	}
	symbolizer_free(symbolizer);
	free(frames);
	return 0;
}
