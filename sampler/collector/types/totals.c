/* totals.c - snapshots of exact counts, and the difference of two */
#include "sampler/collector/types/totals.h"

#include "sampler/collector/types/internal.h"

#include <string.h>

int totals_builder_finish(struct totals_builder *builder, struct totals *ret_totals)
{
	const struct totals_losses *losses = &builder->losses;
	int r = task_rows_make(builder);

	if (r == 0)
		r = tier_rows_make(builder);
	if (r < 0)
		return r;
	*ret_totals = (struct totals){.n_processes = builder->n_processes,
				      .n_tasks = builder->n_tasks,
				      .tasks = builder->tasks,
				      .n_nodes = builder->n_nodes,
				      .nodes = builder->nodes,
				      .n_tiers = builder->n_tiers,
				      .tiers = builder->tiers,
				      .lost_names = losses->names,
				      .lost_nodes = losses->nodes,
				      .lost_cells = losses->cells,
				      .lost_durations = losses->durations,
				      .lost_threads = losses->threads,
				      .builder = builder};
	memcpy(ret_totals->misuse, losses->misuse, sizeof(losses->misuse));
	return 0;
}

int totals_interval(const struct totals *later, const struct totals *earlier,
		    struct totals *ret_interval)
{
	struct totals_builder *builder;
	int r = totals_builder_new(&builder);

	if (r < 0)
		return r;
	r = totals_builder_merge(builder, later->builder);
	if (r == 0)
		r = totals_builder_subtract(builder, earlier->builder);
	if (r == 0)
		r = totals_builder_finish(builder, ret_interval);
	if (r < 0) {
		totals_builder_free(builder);
		return r;
	}
	ret_interval->since_ns = earlier->time_ns;
	ret_interval->time_ns = later->time_ns;
	return 0;
}

void totals_release(struct totals *totals)
{
	totals_builder_free(totals->builder);
	*totals = (struct totals){0};
}
