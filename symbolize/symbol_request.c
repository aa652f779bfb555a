/* symbol_request.c - what the main thread does for answers: it never waits for them */
#include "symbolize/symbol_request.h"

#include "base/io.h"
#include "symbolize/batch.h"
#include "symbolize/naming.h"

#include <stdlib.h>

/*
 * Small batches read the same units over and over.  So the next one waits, longer after each: new
 * code becomes rare, and comes together; and at least twice as long as the last one took.
 */
#define FIRST_PAUSE_NS UINT64_C(10000000)
#define LATER_PAUSE_NS UINT64_C(500000000)
#define MAX_PAUSE_NS   UINT64_C(1000000000)
/*
 * Files and readers are let go when no batch has needed them for so long, twice as long each time:
 * where code is new now and then, opening them (libc6-dbg has 9 MB to decompress) stays rare.
 */
#define IDLE_NS UINT64_C(2000000000)
enum { MAX_IDLE_SHIFT = 9 }; /* 17 minutes */

/* Hand out an answer that there is no room to keep, or no reason. */
static const struct answer *hand_out(struct symbolizer *symbolizer, struct answer *answer)
{
	free(symbolizer->loose);
	symbolizer->loose = answer;
	return answer;
}

static void join(struct symbolizer *symbolizer, struct module *module)
{
	if (module->asks)
		return;
	module->asks = true;
	module->asking = symbolizer->asking;
	symbolizer->asking = module;
}

const struct answer *asking_find(struct symbolizer *symbolizer, struct module *module,
				 uint64_t vaddr, bool force, bool *ret_pending)
{
	bool wanted;
	const struct answer *answer = answers_find(&module->answers, vaddr, &wanted);
	struct answer *made;
	bool loaded;

	if (answer)
		return answer;
	loaded = symbolizer_is_loaded(module);
	if (!wanted && (!loaded || module->has_dwarf) &&
	    answers_want(&module->answers, vaddr) == 0) {
		join(symbolizer, module);
		wanted = true;
	}
	*ret_pending = wanted || !loaded;
	if (!loaded || (wanted && !force))
		return NULL;
	made = naming_answer(&symbolizer->names, module, vaddr, NULL);
	if (!made || wanted || answers_put(&module->answers, vaddr, made) < 0)
		return hand_out(symbolizer, made);
	return made;
}

static uint64_t idle_until_ns(const struct module *module)
{
	return module->batch_ns + (IDLE_NS << module->idle_shift);
}

static uint64_t pause_after(const struct module *module)
{
	uint64_t spent_ns = 2 * batch_time_ns(module->batch);
	uint64_t pause_ns = FIRST_PAUSE_NS << (module->n_batches < 16 ? module->n_batches : 16);

	if (pause_ns > LATER_PAUSE_NS)
		pause_ns = LATER_PAUSE_NS;
	if (pause_ns < spent_ns)
		pause_ns = spent_ns;
	return pause_ns < MAX_PAUSE_NS ? pause_ns : MAX_PAUSE_NS;
}

static void take_in(struct symbolizer *symbolizer, struct module *module, uint64_t now_ns)
{
	struct function_chain *chain = &symbolizer->chain;
	struct function_table table;
	uint64_t vaddr;

	for (size_t nth = 0; batch_table(module->batch, nth, &vaddr, &table); nth++) {
		bool found = table.bytes && function_table_find(&table, vaddr, chain) == 0 &&
			     chain->n_levels > 0;
		struct answer *answer;

		if (!found && symbolizer->stopped) /* it was not looked up to the end */
			continue;
		answer = naming_answer(&symbolizer->names, module, vaddr, found ? chain : NULL);
		if (answer && answers_put(&module->answers, vaddr, answer) < 0)
			free(answer);
	}
	module->next_ns = now_ns + pause_after(module);
	module->n_batches++;
	batch_free(module->batch);
	module->batch = NULL;
	module->batch_ns = now_ns;
}

/* What was asked for before it was known that there is no DWARF. */
static void answer_by_symbols(struct symbolizer *symbolizer, struct module *module, uint64_t *addrs,
			      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct answer *answer = naming_answer(&symbolizer->names, module, addrs[i], NULL);

		if (answer && answers_put(&module->answers, addrs[i], answer) < 0)
			free(answer);
	}
	free(addrs);
}

static void start(struct symbolizer *symbolizer, struct module *module)
{
	uint64_t *addrs;
	size_t n = answers_take(&module->answers, &addrs);

	if (!module->has_dwarf) {
		answer_by_symbols(symbolizer, module, addrs, n);
		return;
	}

	/* Without memory they stay wanted, and samples go on with their symbols in time. */
	if (batch_start(symbolizer->loader, symbolizer->cache, module, addrs, n, &module->batch) ==
	    0)
		module->open = true;
}

/* Close its files: in the loader, it may take long. */
static void let_go(struct symbolizer *symbolizer, struct module *module)
{
	atomic_store_explicit(&module->dwarf.idle, false, memory_order_relaxed);
	module->letting_go = true;
	module->idle_shift += module->idle_shift < MAX_IDLE_SHIFT;
	if (loader_push(symbolizer->loader, batch_let_go, module) < 0)
		module->letting_go = false;
}

/* False when the module has nothing to do any more. */
static bool advance(struct symbolizer *symbolizer, struct module *module, uint64_t now_ns,
		    bool hurry)
{
	if (module->letting_go) {
		/* Pairs with the end of batch_let_go(). */
		if (!atomic_load_explicit(&module->dwarf.idle, memory_order_acquire))
			return true;
		module->letting_go = false;
		module->open = false;
	}
	if (module->batch && batch_is_done(module->batch))
		take_in(symbolizer, module, now_ns);
	if (module->batch || !symbolizer_is_loaded(module))
		return true;
	if (module->answers.n_wanted && (hurry || now_ns >= module->next_ns))
		start(symbolizer, module);
	if (module->batch && batch_is_done(module->batch)) /* the loader works in the caller */
		take_in(symbolizer, module, now_ns);
	if (!module->batch && !module->answers.n_wanted && module->open &&
	    now_ns >= idle_until_ns(module))
		let_go(symbolizer, module);
	return module->batch || module->answers.n_wanted || module->open;
}

void asking_advance(struct symbolizer *symbolizer, bool hurry)
{
	struct module **link = &symbolizer->asking;
	uint64_t now_ns;

	if (!*link)
		return;
	now_ns = io_now_ns();
	while (*link) {
		struct module *module = *link;

		if (advance(symbolizer, module, now_ns, hurry)) {
			link = &module->asking;
			continue;
		}
		*link = module->asking;
		module->asks = false;
	}
}

static uint64_t module_due_ns(const struct module *module)
{
	if (module->batch || !symbolizer_is_loaded(module))
		return 0;
	if (module->answers.n_wanted)
		return module->letting_go ? 0 : module->next_ns;
	return module->open && !module->letting_go ? idle_until_ns(module) : UINT64_MAX;
}

uint64_t asking_due_ns(const struct symbolizer *symbolizer)
{
	uint64_t due_ns = UINT64_MAX;

	for (const struct module *module = symbolizer->asking; module; module = module->asking) {
		uint64_t ns = module_due_ns(module);

		due_ns = ns < due_ns ? ns : due_ns;
	}
	return due_ns;
}

bool asking_is_busy(const struct symbolizer *symbolizer)
{
	for (const struct module *module = symbolizer->asking; module; module = module->asking)
		if (module->batch || module->answers.n_wanted)
			return true;
	return false;
}
