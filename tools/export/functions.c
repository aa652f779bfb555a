/* functions.c - CPU by function, in bounded memory */
#include "tools/export/export.h"

#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Symbols and modules are views that stay: their addresses tell functions apart. */
struct functions {
	struct function_count counts[FUNCTIONS_MOST];
	struct function_count sorted[FUNCTIONS_MOST];
	size_t n;
	uint64_t total_ns;
	struct map by_key; /* a place in counts, plus 1 */
};

int functions_new(struct functions **ret_functions)
{
	*ret_functions = calloc(1, sizeof(**ret_functions));
	return *ret_functions ? 0 : -ENOMEM;
}

static uint64_t key_of(const char *symbol, const char *module)
{
	return (uintptr_t)symbol * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)module;
}

static uint64_t estimate(const struct function_count *count)
{
	return count->ns + count->before;
}

static struct function_count *least(struct functions *functions)
{
	struct function_count *found = &functions->counts[0];

	for (size_t i = 1; i < functions->n; i++)
		if (estimate(&functions->counts[i]) < estimate(found))
			found = &functions->counts[i];
	return found;
}

/* A place for another function; NULL: no memory. */
static struct function_count *place_for(struct functions *functions, uint64_t key)
{
	bool full = functions->n == FUNCTIONS_MOST;
	struct function_count *count = full ? least(functions) : &functions->counts[functions->n];
	uint64_t before = full ? estimate(count) : 0;
	size_t place = (size_t)(count - functions->counts) + 1;

	if (map_put(&functions->by_key, key, (void *)(uintptr_t)place) < 0)
		return NULL;
	if (full)
		(void)map_remove(&functions->by_key, key_of(count->symbol, count->module));
	else
		functions->n++;
	*count = (struct function_count){.before = before};
	return count;
}

void functions_add(struct functions *functions, const struct frame *leaf, uint64_t ns)
{
	uint64_t key = key_of(leaf->symbol, leaf->module);
	size_t place = (size_t)(uintptr_t)map_get(&functions->by_key, key);
	struct function_count *count =
		place ? &functions->counts[place - 1] : place_for(functions, key);

	functions->total_ns += ns;
	if (!count)
		return;
	count->symbol = leaf->symbol;
	count->module = leaf->module;
	count->ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct function_count *left = a;
	const struct function_count *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

size_t functions_sorted(struct functions *functions, const struct function_count **ret_counts,
			uint64_t *ret_total_ns)
{
	memcpy(functions->sorted, functions->counts, functions->n * sizeof(*functions->counts));
	qsort(functions->sorted, functions->n, sizeof(*functions->sorted), by_time);
	*ret_counts = functions->sorted;
	*ret_total_ns = functions->total_ns;
	return functions->n;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	map_release(&functions->by_key);
	free(functions);
}
