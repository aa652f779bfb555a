/*
 * fuzz_budget.c - what one input may cost, held for every target
 *
 * The linker puts the wrapper here around each target's LLVMFuzzerTestOneInput().  A second and
 * 256 MB are the promise.  Sanitizers make code some four times slower, and a machine that is
 * shared counts as well, so CPU time is what is looked at.  An input that never ends is libFuzzer's
 * to find (-timeout).
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sanitizer/allocator_interface.h>

enum {
	BUDGET_BYTES = 256 * 1024 * 1024,
	BUDGET_CPU_MS = 4000,
	BUDGET_INPUT_BYTES = 1024 * 1024 + 1, /* of a larger input as often as it has them */
};

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of this input; what was allocated before and is freed in it makes it less. */
static atomic_llong held_bytes;

static void on_malloc(const volatile void *block, size_t size)
{
	const long long held = atomic_fetch_add(&held_bytes, (long long)size) + (long long)size;

	(void)block;
	if (held <= BUDGET_BYTES)
		return;
	atomic_store(&held_bytes, 0); /* what tells of it needs memory, too */
	(void)fprintf(stderr, "budget: %lld bytes held\n", held);
	abort();
}

static void on_free(const volatile void *block)
{
	if (block)
		atomic_fetch_sub(&held_bytes,
				 (long long)__sanitizer_get_allocated_size((const void *)block));
}

static uint64_t cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int hooked;
	uint64_t began_ms;
	uint64_t ms;
	int r;

	if (!hooked)
		hooked = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	atomic_store(&held_bytes, 0);
	began_ms = cpu_ms();
	r = __real_LLVMFuzzerTestOneInput(data, size);
	ms = cpu_ms() - began_ms;
	if (ms > BUDGET_CPU_MS * (1 + size / BUDGET_INPUT_BYTES)) {
		(void)fprintf(stderr, "budget: %llu ms of CPU\n", (unsigned long long)ms);
		abort();
	}
	return r;
}
