/* table_view.c - what the tables of one program say: copies them, checks, and sums over threads */
#include "sampler/collector/tables/table_view.h"

#include "base/saturated.h"
#include "sampler/collector/tables/ticks.h"
#include "sampler/procfs/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct table_scratch {
	size_t bytes_left;    /* that the reading under way may still copy */
	size_t n_octaves;     /* of all readings that there are */
	struct tables tables; /* only what is used of each is copied */
	struct table_thread thread;
};

/* One reading under way. */
struct taking {
	struct table_scratch *scratch;
	int mem_fd;
	size_t bytes; /* that it may copy */
	uint64_t tables;
	struct view_reading reading;
};

struct table_scratch *table_scratch_new(void)
{
	struct table_scratch *scratch = malloc(sizeof(*scratch));

	if (!scratch)
		return NULL;
	scratch->n_octaves = 0;
	return scratch;
}

static void release_reading(struct table_scratch *scratch, struct view_reading *reading)
{
	if (reading->n_octaves)
		scratch->n_octaves -= reading->n_octaves;
	for (size_t i = 0; i < reading->n_cells; i++)
		for (uint32_t octave = 0; octave < TABLES_OCTAVES; octave++)
			free(reading->cells[i].octaves[octave]);
	free(reading->nodes);
	free(reading->node_keys);
	free(reading->cells);
	free(reading->cell_keys);
	*reading = (struct view_reading){0};
}

static size_t at_most(uint32_t n, size_t most)
{
	return n < most ? n : most;
}

static bool copy_bytes(const struct taking *taking, uint64_t address, void *to, size_t len)
{
	size_t *left = &taking->scratch->bytes_left;

	if (len > *left)
		return false;
	*left -= len;
	return len == 0 || proc_memory_copy(taking->mem_fd, address, to, len);
}

static bool copy_part(const struct taking *taking, size_t offset, void *to, size_t len)
{
	return copy_bytes(taking, taking->tables + offset, to, len);
}

/* Names are complete when their kind is set, which is copied before the text. */
static int copy_names(struct table_view *view, const struct taking *taking, size_t n)
{
	size_t from = view->n_names;

	if (n <= from)
		return 0;
	if (!view->names)
		view->names = calloc(TABLES_NAMES, sizeof(*view->names));
	if (!view->names)
		return -ENOMEM;
	if (!copy_part(taking, offsetof(struct tables, names) + from * sizeof(*view->names),
		       view->names + from, (n - from) * sizeof(*view->names)))
		return -ESRCH;
	/* Number 0 is none. */
	while (view->n_names < n && (view->n_names == 0 || view->names[view->n_names].kind))
		view->n_names++;
	return 0;
}

static int allocate(struct view_reading *reading, size_t n_nodes, size_t n_cells)
{
	reading->nodes = calloc(n_nodes + 1, sizeof(*reading->nodes));
	reading->node_keys = calloc(n_nodes + 1, sizeof(*reading->node_keys));
	reading->cells = calloc(n_cells + 1, sizeof(*reading->cells));
	reading->cell_keys = calloc(n_cells + 1, sizeof(*reading->cell_keys));
	if (!reading->nodes || !reading->node_keys || !reading->cells || !reading->cell_keys)
		return -ENOMEM;
	reading->n_nodes = n_nodes;
	reading->n_cells = n_cells;
	return 0;
}

/* Numbers first: what they count is there, or not complete and left out. */
static int copy_keys(struct table_view *view, struct taking *taking)
{
	struct tables *tables = &taking->scratch->tables;
	struct view_reading *reading = &taking->reading;
	int r;

	if (!copy_part(taking, 0, tables, offsetof(struct tables, threads)))
		return -ESRCH;
	r = allocate(reading, at_most(tables->n_nodes, TABLES_NODES),
		     at_most(tables->n_cells, TABLES_CELLS));
	if (r < 0)
		return r;
	if (!copy_part(taking, offsetof(struct tables, nodes), reading->node_keys,
		       reading->n_nodes * sizeof(uint64_t)) ||
	    !copy_part(taking, offsetof(struct tables, cells), reading->cell_keys,
		       reading->n_cells * sizeof(uint64_t)) ||
	    !copy_part(taking, offsetof(struct tables, threads), tables->threads,
		       at_most(tables->n_threads, TABLES_THREADS) * sizeof(uint64_t)))
		return -ESRCH;
	reading->losses.names = tables->lost_names;
	reading->losses.nodes = tables->lost_nodes;
	reading->losses.cells = tables->lost_cells;
	/* After the keys: the names that they say are there. */
	if (!copy_part(taking, 0, &tables->n_names, sizeof(tables->n_names)))
		return -ESRCH;
	return copy_names(view, taking, at_most(tables->n_names, TABLES_NAMES));
}

static void add(uint64_t *to, uint64_t more)
{
	*to = saturated_add(*to, more);
}

static void add_nodes(struct view_reading *reading, const struct table_thread *thread)
{
	for (size_t i = 1; i < reading->n_nodes; i++) {
		const struct table_node_row *from = &thread->nodes[i];
		struct view_node *to = &reading->nodes[i];

		add(&to->begun, from->begun);
		add(&to->ended, from->ended);
		add(&to->self, from->self);
		add(&to->wall, from->wall);
		add(&to->stillborn, from->stillborn);
		add(&to->cancelled, from->cancelled);
		add(&to->failed, from->failed);
		add(&to->stalls, from->stalls);
		if (from->max > to->max)
			to->max = from->max;
		if (from->run_max > to->run_max)
			to->run_max = from->run_max;
	}
}

/* Adds the counters of a chunk to an octave, which is made when it is new. */
static int add_chunk(struct taking *taking, uint64_t **octave, const uint32_t chunk[TABLES_STEPS])
{
	struct view_reading *reading = &taking->reading;
	uint64_t lost = 0;

	if (!*octave && (reading->n_octaves == VIEW_OCTAVES ||
			 taking->scratch->n_octaves == VIEW_ALL_OCTAVES)) {
		for (uint32_t i = 0; i < TABLES_STEPS; i++)
			lost += chunk[i];
		add(&reading->losses.durations, lost);
		return 0;
	}
	if (!*octave) {
		*octave = calloc(TABLES_STEPS, sizeof(**octave));
		if (!*octave)
			return -ENOMEM;
		reading->n_octaves++;
		taking->scratch->n_octaves++;
	}
	for (uint32_t i = 0; i < TABLES_STEPS; i++)
		(*octave)[i] += chunk[i];
	return 0;
}

/* N_CHUNKS: of the thread; LEFT: how many its rows may still name, all together. */
static int add_durations(struct taking *taking, struct view_cell *cell,
			 const struct table_cell_row *row, size_t n_chunks, size_t *left)
{
	int r = 0;

	for (uint32_t octave = 0; octave < TABLES_OCTAVES && r == 0; octave++) {
		size_t chunk = row->chunks[octave];

		if (chunk == 0 || chunk > n_chunks || *left == 0)
			continue;
		--*left;
		r = add_chunk(taking, &cell->octaves[octave],
			      taking->scratch->thread.chunks[chunk - 1]);
	}
	return r;
}

static void add_cell(struct view_cell *to, const struct table_cell_row *from)
{
	if (to->count == 0 || from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	add(&to->count, from->count);
	add(&to->sum_ns, from->sum_ns);
	add(&to->self_ns, from->self_ns);
	if (from->exemplar_ns && from->exemplar_ticks >= to->exemplar_ticks) {
		to->exemplar_ns = from->exemplar_ns;
		to->exemplar_ticks = from->exemplar_ticks;
		memcpy(to->exemplar_trace, from->exemplar_trace, sizeof(to->exemplar_trace));
	}
}

static int add_cells(struct taking *taking, size_t n_chunks)
{
	struct view_reading *reading = &taking->reading;
	size_t left = n_chunks;
	int r = 0;

	for (size_t i = 1; i < reading->n_cells && r == 0; i++) {
		const struct table_cell_row *from = &taking->scratch->thread.cells[i];

		if (from->count == 0)
			continue;
		add_cell(&reading->cells[i], from);
		r = add_durations(taking, &reading->cells[i], from, n_chunks, &left);
	}
	return r;
}

/* Return: how much of a thread's block there is to copy behind its head. */
static size_t rows_bytes(const struct view_reading *reading, size_t n_chunks)
{
	return reading->n_nodes * sizeof(struct table_node_row) +
	       reading->n_cells * sizeof(struct table_cell_row) +
	       n_chunks * TABLES_STEPS * sizeof(uint32_t);
}

/* The block of a thread that has ended is still its own, until another thread takes it. */
static int add_thread(struct taking *taking, uint64_t address)
{
	struct table_thread *thread = &taking->scratch->thread;
	struct view_reading *reading = &taking->reading;
	size_t n_chunks;

	if (!copy_bytes(taking, address, thread, offsetof(struct table_thread, record)))
		return -ESRCH;
	/* New, or wiped by fork. */
	if (thread->tid == 0)
		return 0;
	n_chunks = at_most(thread->n_chunks, TABLES_CHUNKS);
	if (rows_bytes(reading, n_chunks) > taking->scratch->bytes_left)
		return -E2BIG;
	if (!copy_bytes(taking, address + offsetof(struct table_thread, nodes), thread->nodes,
			reading->n_nodes * sizeof(thread->nodes[0])) ||
	    !copy_bytes(taking, address + offsetof(struct table_thread, cells), thread->cells,
			reading->n_cells * sizeof(thread->cells[0])) ||
	    !copy_bytes(taking, address + offsetof(struct table_thread, chunks), thread->chunks,
			n_chunks * sizeof(thread->chunks[0])))
		return -ESRCH;
	add(&reading->losses.durations, thread->lost_chunks);
	add_nodes(reading, thread);
	return add_cells(taking, n_chunks);
}

static int take(struct table_view *view, struct taking *taking)
{
	const struct tables *tables = &taking->scratch->tables;
	int r = copy_keys(view, taking);

	for (size_t i = 0; r == 0 && i < at_most(tables->n_threads, TABLES_THREADS); i++) {
		if (tables->threads[i])
			r = add_thread(taking, tables->threads[i]);
		if (r == -E2BIG && taking->bytes == VIEW_BYTES) {
			add(&taking->reading.losses.threads, 1);
			r = 0;
		}
	}
	return r;
}

int table_view_read(struct table_view *view, struct table_scratch *scratch, int mem_fd,
		    const struct tables_state *state, size_t *bytes)
{
	struct taking taking = {
		.scratch = scratch, .mem_fd = mem_fd, .bytes = *bytes, .tables = state->tables};
	int r = 0;

	scratch->bytes_left = *bytes;
	if (state->tables)
		r = take(view, &taking);
	*bytes -= scratch->bytes_left;
	if (r < 0) {
		release_reading(scratch, &taking.reading);
		return r;
	}
	memcpy(taking.reading.losses.misuse, state->misuse, sizeof(state->misuse));
	add(&taking.reading.losses.threads, state->lost_threads);
	release_reading(scratch, &view->last);
	view->last = taking.reading;
	view->counted = state->tables != 0;
	return 0;
}

void table_view_release(struct table_view *view, struct table_scratch *scratch)
{
	release_reading(scratch, &view->last);
	free(view->names);
	*view = (struct table_view){0};
}

/* A text and its NUL, whatever its bytes are. */
struct text {
	char bytes[TABLES_NAME_BYTES + 1];
};

static struct text text_at(const struct table_name *name, size_t from, size_t len)
{
	struct text text = {0};

	if (from < TABLES_NAME_BYTES)
		memcpy(text.bytes, name->text + from,
		       len < TABLES_NAME_BYTES - from ? len : TABLES_NAME_BYTES - from);
	return text;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* NULL: the program has not written it, or it is out of range. */
static const struct table_name *name_at(const struct table_view *view, uint32_t number)
{
	return number > 0 && number < view->n_names ? &view->names[number] : NULL;
}

static bool kind_of(const struct table_name *name, enum total_kind *ret_kind)
{
	switch (name->kind) {
	case NAME_TASK:
		*ret_kind = TOTAL_TASK;
		return true;
	case NAME_FUNCTION:
		*ret_kind = TOTAL_FUNCTION;
		return true;
	case NAME_TIER:
		*ret_kind = TOTAL_TIER;
		return true;
	default:
		return false;
	}
}

/* What a node is, with its texts.  Return: false: it is not complete, or none. */
static bool describe_node(const struct table_view *view, uint32_t index,
			  struct total_node *ret_node, struct text texts[2])
{
	uint32_t number = (uint32_t)view->last.node_keys[index];
	const struct table_name *name = name_at(view, number);
	struct total_node node = {.kind = TOTAL_TASK, .name = TOTALS_OTHER, .file = ""};

	if (index != TABLES_OTHER && (!name || !kind_of(name, &node.kind)))
		return false;
	if (index != TABLES_OTHER && number != TABLES_OTHER) {
		texts[0] = text_at(name, 0, name->bytes);
		texts[1] = text_at(name, (size_t)name->bytes + 1, name->file_bytes);
		node.name = texts[0].bytes;
		node.file = last_part(texts[1].bytes);
		node.line = name->line;
	}
	*ret_node = node;
	return true;
}

static void add_node_row(struct total_node *to, const struct view_node *from,
			 const struct ticks *ticks, bool lives)
{
	uint64_t over = saturated_add(from->ended, from->stillborn);
	uint64_t max_ns = ticks_to_ns(ticks, from->max);
	uint64_t run_ns = ticks_to_ns(ticks, from->run_max);

	add(&to->begun, from->begun);
	add(&to->ended, from->ended);
	add(&to->live, lives && from->begun > over ? from->begun - over : 0);
	add(&to->self_ns, ticks_to_ns(ticks, from->self));
	add(&to->wall_ns, ticks_to_ns(ticks, from->wall));
	add(&to->stillborn, from->stillborn);
	add(&to->cancelled, from->cancelled);
	add(&to->failed, from->failed);
	add(&to->stalls, from->stalls);
	if (max_ns > to->max_ns)
		to->max_ns = max_ns;
	if (run_ns > to->run_max_ns)
		to->run_max_ns = run_ns;
}

static int add_all_nodes(const struct table_view *view, struct totals_builder *builder,
			 const struct ticks *ticks, bool lives)
{
	const struct view_reading *reading = &view->last;
	uint32_t *places = calloc(reading->n_nodes + 1, sizeof(*places));
	struct total_node node;
	struct text texts[2];
	int r = places ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < reading->n_nodes && r == 0; i++) {
		uint32_t parent = (uint32_t)(reading->node_keys[i] >> 32);

		if (!describe_node(view, i, &node, texts))
			continue;
		/* A parent is made before its children: there is no ring of them. */
		places[i] = totals_builder_node(builder, parent < i ? places[parent] : 0, &node);
		if (places[i])
			add_node_row(totals_builder_at(builder, places[i]), &reading->nodes[i],
				     ticks, lives);
		else
			r = -ENOMEM;
	}
	free(places);
	return r;
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
	return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* TO: room for its bytes.  A name that wick uses itself gets a "_". */
static const char *cell_name(const struct table_view *view, uint32_t number, const char *none,
			     struct text *to)
{
	const struct table_name *name = name_at(view, number);
	size_t len;

	if (number == 0)
		return none;
	if (!name)
		return NULL;
	if (number == TABLES_OTHER)
		return TOTALS_OTHER;
	*to = text_at(name, 0, name->bytes);
	len = strlen(to->bytes);
	if (len < TABLES_NAME_BYTES &&
	    (strcmp(to->bytes, none) == 0 ||
	     is_one_of(to->bytes, TOTALS_TOTAL, TOTALS_OTHER, TOTALS_OUTSIDE)))
		to->bytes[len] = '_';
	return to->bytes;
}

/* BUCKETS: room for them. */
static struct histogram durations_of(const struct view_cell *cell,
				     struct histogram_bucket buckets[HISTOGRAM_BUCKETS])
{
	struct histogram durations = {.at = buckets};

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const uint64_t *octave = cell->octaves[i / TABLES_STEPS];

		if (octave && octave[i % TABLES_STEPS])
			buckets[durations.n++] = (struct histogram_bucket){
				.bucket = i, .count = octave[i % TABLES_STEPS]};
	}
	return durations;
}

static int add_cell_row(struct totals_builder *builder, struct total_tier *to,
			const struct view_cell *from, const struct ticks *ticks)
{
	struct total_tier row = {
		.count = from->count,
		.sum_ns = from->sum_ns,
		.self_ns = from->self_ns,
		.min_ns = from->min_ns,
		.max_ns = from->max_ns,
		.exemplar_ns = from->exemplar_ns,
		.exemplar_time_ns = ticks_time_ns(ticks, from->exemplar_ticks),
	};
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS];
	struct histogram durations;

	memcpy(row.exemplar_trace, from->exemplar_trace, sizeof(row.exemplar_trace));
	total_tier_add(to, &row);
	durations = durations_of(from, buckets);
	return totals_builder_durations(builder, to, &durations);
}

static int add_all_cells(const struct table_view *view, struct totals_builder *builder,
			 const struct ticks *ticks)
{
	const struct view_reading *reading = &view->last;
	int r = 0;

	for (size_t i = 1; i < reading->n_cells && r == 0; i++) {
		uint64_t key = reading->cell_keys[i];
		struct text first;
		struct text second;
		const char *tier = cell_name(view, (uint32_t)(key >> 32), TOTALS_REQUEST, &first);
		const char *identity = cell_name(view, (uint32_t)key, TOTALS_OUTSIDE, &second);
		struct total_tier *row;

		if (reading->cells[i].count == 0 || !tier || !identity)
			continue;
		row = totals_builder_cell(builder, tier, identity);
		r = row ? add_cell_row(builder, row, &reading->cells[i], ticks) : -ENOMEM;
	}
	return r;
}

int table_view_add(const struct table_view *view, struct totals_builder *builder,
		   const struct ticks *ticks, bool lives)
{
	const struct totals_losses *from = &view->last.losses;
	struct totals_losses *to = totals_builder_losses(builder);
	int r = add_all_nodes(view, builder, ticks, lives);

	if (r == 0)
		r = add_all_cells(view, builder, ticks);
	for (size_t i = 0; i < TOTALS_MISUSES; i++)
		add(&to->misuse[i], from->misuse[i]);
	add(&to->names, from->names);
	add(&to->nodes, from->nodes);
	add(&to->cells, from->cells);
	add(&to->durations, from->durations);
	add(&to->threads, from->threads);
	return r;
}
