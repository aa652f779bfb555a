/* totals_builder.c - adds up what programs have counted, by name */
#include "sampler/collector/types/totals_builder.h"

#include "base/array.h"
#include "base/histogram.h"
#include "base/saturated.h"
#include "sampler/collector/types/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int totals_builder_new(struct totals_builder **ret_builder)
{
	struct totals_builder *builder = calloc(1, sizeof(*builder));

	if (!builder || array_reserve(&builder->nodes, 0, &builder->nodes_size, 16) < 0) {
		free(builder);
		return -ENOMEM;
	}
	/* Its own parent. */
	builder->nodes[0] = (struct total_node){.kind = TOTAL_TASK, .name = "", .file = ""};
	builder->n_nodes = 1;
	*ret_builder = builder;
	return 0;
}

void totals_builder_free(struct totals_builder *builder)
{
	if (!builder)
		return;
	for (size_t i = 0; i < builder->n_cells; i++)
		histogram_release(&builder->cells[i].durations);
	for (size_t i = 0; i < builder->n_tiers; i++)
		histogram_release(&builder->tiers[i].durations);
	free(builder->nodes);
	free(builder->cells);
	free(builder->tasks);
	free(builder->tiers);
	map_release(&builder->node_index);
	map_release(&builder->cell_index);
	intern_release(&builder->names);
	free(builder);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

static bool is_request(const char *tier)
{
	return strcmp(tier, TOTALS_REQUEST) == 0;
}

/* The builder's copy of a name; "other" when there are too many. */
static const char *name_of(struct totals_builder *builder, const char *name)
{
	bool has_room = builder->names.n < BUILDER_NAMES || is_request(name);

	builder->losses.names += !has_room;
	return intern_string(&builder->names, has_room ? name : TOTALS_OTHER);
}

static bool is_node(const struct total_node *node, const struct total_node *key)
{
	return node->parent == key->parent && node->kind == key->kind && node->name == key->name &&
	       node->file == key->file && node->line == key->line;
}

/* In the map are indices, plus 1; a hash that another node has is followed by the next number. */
static uint32_t find_node(const struct totals_builder *builder, const struct total_node *key,
			  uint64_t *ret_hash)
{
	uint64_t hash = mix(
		mix(mix(mix(key->parent, key->kind), (uintptr_t)key->name), (uintptr_t)key->file),
		key->line);
	uintptr_t at;

	for (;; hash++) {
		at = (uintptr_t)map_get(&builder->node_index, hash);
		if (at == 0 || is_node(&builder->nodes[at - 1], key))
			break;
	}
	*ret_hash = hash;
	return (uint32_t)at;
}

static uint32_t add_node(struct totals_builder *builder, const struct total_node *key,
			 uint64_t hash)
{
	uint32_t index = builder->n_nodes;

	if (array_reserve(&builder->nodes, index, &builder->nodes_size, 16) < 0 ||
	    map_put(&builder->node_index, hash, (void *)((uintptr_t)index + 1)) < 0)
		return 0;
	builder->nodes[index] = *key;
	builder->n_nodes++;
	return index;
}

uint32_t totals_builder_node(struct totals_builder *builder, uint32_t parent,
			     const struct total_node *key)
{
	struct total_node node = {.parent = parent,
				  .kind = key->kind,
				  .name = name_of(builder, key->name),
				  .file = name_of(builder, key->file),
				  .line = key->line};
	uint64_t hash;
	uint32_t at;

	if (!node.name || !node.file)
		return 0;
	at = find_node(builder, &node, &hash);
	if (at)
		return at - 1;
	if (builder->n_nodes >= BUILDER_NODES - 1) {
		/* One that all of them share has a place of its own. */
		builder->losses.nodes++;
		node = (struct total_node){.kind = TOTAL_TASK,
					   .name = intern_string(&builder->names, TOTALS_OTHER),
					   .file = intern_string(&builder->names, "")};
		at = node.name && node.file ? find_node(builder, &node, &hash) : 1;
		if (at)
			return at - 1;
	}
	return add_node(builder, &node, hash);
}

struct total_node *totals_builder_at(struct totals_builder *builder, uint32_t node)
{
	return &builder->nodes[node < builder->n_nodes ? node : 0];
}

static struct total_tier *find_cell(const struct totals_builder *builder, const char *tier,
				    const char *identity, uint64_t *ret_hash)
{
	uint64_t hash = mix(mix(1, (uintptr_t)tier), (uintptr_t)identity);
	struct total_tier *row = NULL;
	uintptr_t at;

	for (; !row; hash++) {
		at = (uintptr_t)map_get(&builder->cell_index, hash);
		if (at == 0)
			break;
		row = &builder->cells[at - 1];
		if (row->tier != tier || row->identity != identity)
			row = NULL;
	}
	*ret_hash = hash;
	return row;
}

/* The row of two names; a new one only while there are less than MOST.  NULL: there is none. */
static struct total_tier *cell_of(struct totals_builder *builder, const char *tier,
				  const char *identity, size_t most)
{
	const char *kept_tier = name_of(builder, tier);
	const char *kept = name_of(builder, identity);
	size_t index = builder->n_cells;
	struct total_tier *row;
	uint64_t hash;

	if (!kept_tier || !kept)
		return NULL;
	row = find_cell(builder, kept_tier, kept, &hash);
	if (row || index >= most)
		return row;
	if (array_reserve(&builder->cells, index, &builder->cells_size, 16) < 0 ||
	    map_put(&builder->cell_index, hash, (void *)((uintptr_t)index + 1)) < 0)
		return NULL;
	builder->cells[index] = (struct total_tier){.tier = kept_tier, .identity = kept};
	builder->n_cells++;
	return &builder->cells[index];
}

struct total_tier *totals_builder_cell(struct totals_builder *builder, const char *tier,
				       const char *identity)
{
	const size_t most = BUILDER_CELLS - BUILDER_TIERS;
	struct total_tier *row = cell_of(builder, tier, identity, most);

	if (row || builder->n_cells < most)
		return row;
	builder->losses.cells++;
	/* The last two are for requests, and for all other tiers. */
	row = cell_of(builder, tier, TOTALS_OTHER, BUILDER_CELLS - (is_request(tier) ? 0 : 2));
	return row ? row : cell_of(builder, TOTALS_OTHER, TOTALS_OTHER, BUILDER_CELLS);
}

int totals_builder_durations(struct totals_builder *builder, struct total_tier *row,
			     const struct histogram *durations)
{
	uint32_t before = row->durations.n;
	int r;

	if (builder->n_buckets + durations->n > BUILDER_BUCKETS) {
		builder->losses.durations =
			saturated_add(builder->losses.durations, histogram_count(durations));
		return 0;
	}
	r = histogram_merge(&row->durations, durations);
	builder->n_buckets += row->durations.n - before;
	return r;
}

struct totals_losses *totals_builder_losses(struct totals_builder *builder)
{
	return &builder->losses;
}

size_t *totals_builder_processes(struct totals_builder *builder)
{
	return &builder->n_processes;
}

static void add(uint64_t *to, uint64_t more)
{
	*to = saturated_add(*to, more);
}

static void take(uint64_t *from, uint64_t less)
{
	*from -= less < *from ? less : *from;
}

static void add_node_numbers(struct total_node *to, const struct total_node *from)
{
	add(&to->begun, from->begun);
	add(&to->ended, from->ended);
	add(&to->live, from->live);
	add(&to->self_ns, from->self_ns);
	add(&to->wall_ns, from->wall_ns);
	add(&to->stillborn, from->stillborn);
	add(&to->cancelled, from->cancelled);
	add(&to->failed, from->failed);
	add(&to->stalls, from->stalls);
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	if (from->run_max_ns > to->run_max_ns)
		to->run_max_ns = from->run_max_ns;
}

/*
 * What the longest run of an interval can have been, if the longest of all may be older: that of a
 * task that has ended is in wall_ns; a task that lives may have run as long.
 */
static uint64_t longest_run(const struct total_node *interval)
{
	if (!interval->live)
		return interval->wall_ns;
	return interval->self_ns ? UINT64_MAX : 0;
}

/* What is live stays. */
static void take_node_numbers(struct total_node *from, const struct total_node *less)
{
	take(&from->begun, less->begun);
	take(&from->ended, less->ended);
	take(&from->self_ns, less->self_ns);
	take(&from->wall_ns, less->wall_ns);
	take(&from->stillborn, less->stillborn);
	take(&from->cancelled, less->cancelled);
	take(&from->failed, less->failed);
	take(&from->stalls, less->stalls);
	if (from->max_ns <= less->max_ns && from->max_ns > from->wall_ns)
		from->max_ns = from->wall_ns;
	if (from->run_max_ns <= less->run_max_ns && from->run_max_ns > longest_run(from))
		from->run_max_ns = longest_run(from);
}

void total_tier_add(struct total_tier *to, const struct total_tier *from)
{
	if (from->count && (!to->count || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	add(&to->count, from->count);
	add(&to->sum_ns, from->sum_ns);
	add(&to->self_ns, from->self_ns);
	if (from->exemplar_ns && from->exemplar_time_ns >= to->exemplar_time_ns) {
		to->exemplar_ns = from->exemplar_ns;
		to->exemplar_time_ns = from->exemplar_time_ns;
		memcpy(to->exemplar_trace, from->exemplar_trace, sizeof(to->exemplar_trace));
	}
}

/* The shortest and longest of what came since, as well as its buckets tell. */
static void limit_extremes(struct total_tier *row, const struct total_tier *earlier)
{
	const struct histogram *durations = &row->durations;

	if (!row->count) {
		row->min_ns = 0;
		row->max_ns = 0;
		return;
	}
	if (!durations->n)
		return;
	if (row->max_ns <= earlier->max_ns) {
		uint64_t high = histogram_low_ns(durations->at[durations->n - 1].bucket + 1) - 1;

		row->max_ns = high < row->max_ns ? high : row->max_ns;
	}
	if (row->min_ns >= earlier->min_ns) {
		uint64_t low = histogram_low_ns(durations->at[0].bucket);

		row->min_ns = low > row->min_ns ? low : row->min_ns;
	}
}

static int subtract_row(struct total_tier *from, const struct total_tier *less)
{
	int r = histogram_subtract(&from->durations, &less->durations);

	if (less->count == 0)
		return r;
	take(&from->count, less->count);
	take(&from->sum_ns, less->sum_ns);
	take(&from->self_ns, less->self_ns);
	if (from->exemplar_time_ns <= less->exemplar_time_ns)
		from->exemplar_ns = 0;
	limit_extremes(from, less);
	return r;
}

static void change_losses(struct totals_losses *to, const struct totals_losses *by,
			  void (*change)(uint64_t *to, uint64_t by))
{
	for (size_t i = 0; i < TOTALS_MISUSES; i++)
		change(&to->misuse[i], by->misuse[i]);
	change(&to->names, by->names);
	change(&to->nodes, by->nodes);
	change(&to->cells, by->cells);
	change(&to->durations, by->durations);
	change(&to->threads, by->threads);
}

/* The place of each node of OTHER; parents stand before their children. */
static int each_node(struct totals_builder *builder, const struct totals_builder *other,
		     void (*change)(struct total_node *to, const struct total_node *by))
{
	uint32_t *places = calloc(other->n_nodes, sizeof(*places));
	int r = places ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < other->n_nodes && r == 0; i++) {
		const struct total_node *by = &other->nodes[i];

		places[i] = totals_builder_node(builder, places[by->parent], by);
		if (places[i])
			change(totals_builder_at(builder, places[i]), by);
		else
			r = -ENOMEM;
	}
	free(places);
	return r;
}

int totals_builder_merge(struct totals_builder *builder, const struct totals_builder *other)
{
	int r = each_node(builder, other, add_node_numbers);

	for (size_t i = 0; i < other->n_cells && r == 0; i++) {
		const struct total_tier *from = &other->cells[i];
		struct total_tier *to = totals_builder_cell(builder, from->tier, from->identity);

		if (!to)
			return -ENOMEM;
		total_tier_add(to, from);
		r = totals_builder_durations(builder, to, &from->durations);
	}
	change_losses(&builder->losses, &other->losses, add);
	builder->n_processes += other->n_processes;
	return r;
}

int totals_builder_subtract(struct totals_builder *builder, const struct totals_builder *earlier)
{
	int r = each_node(builder, earlier, take_node_numbers);

	for (size_t i = 0; i < earlier->n_cells && r == 0; i++) {
		const struct total_tier *less = &earlier->cells[i];
		struct total_tier *from = totals_builder_cell(builder, less->tier, less->identity);

		if (!from)
			return -ENOMEM;
		r = subtract_row(from, less);
	}
	change_losses(&builder->losses, &earlier->losses, take);
	return r;
}
