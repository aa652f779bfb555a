/* recording_totals.c - exact counts of all processes of the recording */
#include "sampler/collector/drain/recording_totals.h"

#include "base/io.h"
#include "sampler/collector/drain/state.h"

#include <stdlib.h>

int recording_totals_init(struct recording_totals *totals)
{
	ticks_begin(&totals->shared.ticks);
	/* Not a number that an earlier recording is likely to have used. */
	totals->shared.session = (uint32_t)io_now_ns() | 1;
	totals->since_ns = io_now_ns();
	return totals_builder_new(&totals->ended);
}

void recording_totals_release(struct recording_totals *totals)
{
	totals_builder_free(totals->ended);
	free(totals->shared.scratch);
	*totals = (struct recording_totals){0};
}

void recording_totals_begin(struct recording_totals *totals, struct process *process)
{
	process->tables =
		process_tables_new(&totals->shared, process->pid, process->clock_offset_ns);
}

void recording_totals_end(struct recording_totals *totals, struct process *process)
{
	totals->n_ended += process_tables_found(process->tables);
	if (process->alive)
		process_tables_end(process->tables);
	(void)process_tables_add(process->tables, totals->ended, false);
	process_tables_free(process->tables);
	process->tables = NULL;
}

uint64_t recording_totals_counting(const struct collector *collector)
{
	uint64_t n = collector->drain.totals.n_ended;

	for (const struct process *at = collector->drain.processes; at; at = at->next)
		n += process_tables_found(at->tables);
	return n;
}

void recording_totals_turn(struct collector *collector, uint64_t now_ns)
{
	for (struct process *at = collector->drain.processes; at; at = at->next) {
		process_tables_turn(at->tables, now_ns);
		if (process_tables_count(at->tables))
			atomic_store_explicit(&at->ring.header->counts, 1, memory_order_relaxed);
	}
}

int recording_totals_get(struct collector *collector, void *argument)
{
	const struct recording_totals *all = &collector->drain.totals;
	struct totals *ret_totals = argument;
	struct totals_builder *builder;
	uint64_t time_ns = io_now_ns();
	int r = totals_builder_new(&builder);

	if (r < 0)
		return r;
	r = totals_builder_merge(builder, all->ended);
	for (struct process *at = collector->drain.processes; at && r == 0; at = at->next) {
		process_tables_read(at->tables);
		r = process_tables_add(at->tables, builder, true);
	}
	if (r == 0)
		r = totals_builder_finish(builder, ret_totals);
	if (r < 0) {
		totals_builder_free(builder);
		return r;
	}
	ret_totals->since_ns = all->since_ns;
	ret_totals->time_ns = time_ns;
	return 0;
}

int recording_totals_reset(struct collector *collector, void *argument)
{
	struct recording_totals *all = &collector->drain.totals;
	struct totals_builder *ended = NULL;
	int r = totals_builder_new(&ended);

	(void)argument;
	for (struct process *at = collector->drain.processes; at && r == 0; at = at->next) {
		process_tables_read(at->tables);
		r = process_tables_reset(at->tables);
	}
	if (r < 0) {
		totals_builder_free(ended);
		return r;
	}
	totals_builder_free(all->ended);
	all->ended = ended;
	all->since_ns = io_now_ns();
	return 0;
}
