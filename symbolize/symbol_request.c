/* symbol_request.c - the main thread's part of lookups; it never waits for them */
#include "symbolize/internal.h"

#include "base/io.h"
#include "symbolize/batch.h"
#include "symbolize/naming.h"

#include <stdlib.h>

/*
 * Small batches read the same units again and again.  So there is a pause before the next batch. It
 * grows with each batch, since new code becomes rare, to the lag that the caller allows; it is at
 * least twice the time of the last one.
 */
#define FIRST_PAUSE_NS UINT64_C(10000000)
#define LATER_PAUSE_NS UINT64_C(500000000)
#define MAX_PAUSE_NS   UINT64_C(1000000000)
/*
 * Files and readers are closed after so much time without a batch; the time doubles each time.  To
 * open them is expensive (libc6-dbg has 9 MB to decompress) and stays rare even with late new code.
 */
#define IDLE_NS UINT64_C(2000000000)
enum { MAX_IDLE_SHIFT = 9 }; /* 17 minutes */

/* An entry that the cache does not store: the symbolizer owns it until the next one. */
static const struct address_entry *set_uncached(struct symbolizer *symbolizer,
						struct address_entry *entry)
{
	free(symbolizer->uncached);
	symbolizer->uncached = entry;
	return entry;
}

static void add_to_requests(struct symbolizer *symbolizer, struct module *module)
{
	if (module->in_requests)
		return;
	module->in_requests = true;
	module->next_request = symbolizer->requests;
	symbolizer->requests = module;
}

const struct address_entry *symbol_request_find(struct symbolizer *symbolizer,
						struct module *module, uint64_t vaddr, bool force,
						bool *ret_pending)
{
	bool requested;
	const struct address_entry *entry =
		address_cache_find(&module->addresses, vaddr, &requested);
	struct address_entry *made;
	bool loaded;

	if (entry)
		return entry;
	loaded = symbolizer_is_loaded(module);
	if (!requested && (!loaded || module->has_dwarf) &&
	    address_cache_request(&module->addresses, vaddr) == 0) {
		add_to_requests(symbolizer, module);
		requested = true;
	}
	*ret_pending = requested || !loaded;
	if (!loaded || (requested && !force))
		return NULL;
	made = naming_entry(&symbolizer->names, module, vaddr, NULL);
	if (!made || requested || address_cache_add(&module->addresses, vaddr, made) < 0)
		return set_uncached(symbolizer, made);
	return made;
}

static uint64_t idle_until_ns(const struct module *module)
{
	return module->batch_ns + (IDLE_NS << module->idle_shift);
}

static uint64_t pause_after(const struct symbolizer *symbolizer, const struct module *module)
{
	uint64_t lag_ns = symbolizer->options.lag_ns;
	uint64_t most_ns = lag_ns && lag_ns < LATER_PAUSE_NS ? lag_ns : LATER_PAUSE_NS;
	uint64_t spent_ns = 2 * batch_time_ns(module->batch);
	uint64_t pause_ns = FIRST_PAUSE_NS << (module->n_batches < 16 ? module->n_batches : 16);

	if (pause_ns > most_ns)
		pause_ns = most_ns;
	if (pause_ns < spent_ns)
		pause_ns = spent_ns;
	return pause_ns < MAX_PAUSE_NS ? pause_ns : MAX_PAUSE_NS;
}

static void add_entry(struct symbolizer *symbolizer, struct module *module, uint64_t vaddr,
		      const struct function_chain *chain)
{
	struct address_entry *entry = naming_entry(&symbolizer->names, module, vaddr, chain);

	if (entry && address_cache_add(&module->addresses, vaddr, entry) < 0)
		free(entry);
}

/* Stores what the batch has found. */
static void end_batch(struct symbolizer *symbolizer, struct module *module, uint64_t now_ns)
{
	struct function_chain *chain = &symbolizer->chain;
	struct function_table table;
	uint64_t vaddr;

	for (size_t nth = 0; batch_table(module->batch, nth, &vaddr, &table); nth++) {
		bool found = table.bytes && function_table_find(&table, vaddr, chain) == 0 &&
			     chain->n_levels > 0;

		if (found || !symbolizer->stopped) /* else its lookup did not end */
			add_entry(symbolizer, module, vaddr, found ? chain : NULL);
	}
	module->next_ns = now_ns + pause_after(symbolizer, module);
	module->n_batches++;
	batch_free(module->batch);
	module->batch = NULL;
	module->batch_ns = now_ns;
}

static void start(struct symbolizer *symbolizer, struct module *module)
{
	uint64_t *addrs;
	size_t n = address_cache_take_requests(&module->addresses, &addrs);

	if (!module->has_dwarf) { /* which was not known when they were requested */
		for (size_t i = 0; i < n; i++)
			add_entry(symbolizer, module, addrs[i], NULL);
		free(addrs);
		return;
	}
	/* Without memory they stay requested; samples then time out and get names of symbols. */
	if (batch_start(symbolizer->loader, symbolizer->cache, module, addrs, n, &module->batch) ==
	    0)
		module->open = true;
}

/* In the loader, because it may take long. */
static void close_files(struct symbolizer *symbolizer, struct module *module)
{
	atomic_store_explicit(&module->dwarf.closed, false, memory_order_relaxed);
	module->closing = true;
	module->idle_shift += module->idle_shift < MAX_IDLE_SHIFT;
	if (loader_push(symbolizer->loader, batch_close_files, module) < 0)
		module->closing = false;
}

/* False when the module has nothing to do any more. */
static bool advance(struct symbolizer *symbolizer, struct module *module, uint64_t now_ns, bool now)
{
	if (module->closing) {
		/* Pairs with the end of batch_close_files(). */
		if (!atomic_load_explicit(&module->dwarf.closed, memory_order_acquire))
			return true;
		module->closing = false;
		module->open = false;
	}
	if (module->batch && batch_is_done(module->batch))
		end_batch(symbolizer, module, now_ns);
	if (module->batch || !symbolizer_is_loaded(module))
		return true;
	if (module->addresses.n_requests && (now || now_ns >= module->next_ns))
		start(symbolizer, module);
	if (module->batch && batch_is_done(module->batch)) /* the loader has no threads */
		end_batch(symbolizer, module, now_ns);
	if (!module->batch && !module->addresses.n_requests && module->open &&
	    now_ns >= idle_until_ns(module))
		close_files(symbolizer, module);
	return module->batch || module->addresses.n_requests || module->open;
}

void symbol_request_advance(struct symbolizer *symbolizer, bool now)
{
	struct module **link = &symbolizer->requests;
	uint64_t now_ns;

	if (!*link)
		return;
	now_ns = io_now_ns();
	while (*link) {
		struct module *module = *link;

		if (advance(symbolizer, module, now_ns, now)) {
			link = &module->next_request;
			continue;
		}
		*link = module->next_request;
		module->in_requests = false;
	}
}

static uint64_t module_due_ns(const struct module *module)
{
	if (module->batch || !symbolizer_is_loaded(module))
		return 0;
	if (module->addresses.n_requests)
		return module->closing ? 0 : module->next_ns;
	return module->open && !module->closing ? idle_until_ns(module) : UINT64_MAX;
}

uint64_t symbol_request_due_ns(const struct symbolizer *symbolizer)
{
	uint64_t due_ns = UINT64_MAX;

	for (const struct module *module = symbolizer->requests; module;
	     module = module->next_request) {
		uint64_t ns = module_due_ns(module);

		due_ns = ns < due_ns ? ns : due_ns;
	}
	return due_ns;
}

bool symbol_request_is_busy(const struct symbolizer *symbolizer)
{
	for (const struct module *module = symbolizer->requests; module;
	     module = module->next_request)
		if (module->batch || module->addresses.n_requests)
			return true;
	return false;
}
