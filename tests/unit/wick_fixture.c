/* wick_fixture.c - reads the tables of this process, by the layouts of sampler/wire/tables.h */
#include "tests/unit/wick_fixture.h"

#include <sys/mman.h>

uint64_t wick_fixture_now;
uint64_t wick_fixture_readings;

void wick_fixture_begin(void)
{
	struct tables *tables = (struct tables *)wick_state_1.tables;
	uint32_t session = wick_state_1.session;

	for (uint32_t i = 0; tables && i < tables->n_threads && i < TABLES_THREADS; i++)
		(void)munmap((void *)tables->threads[i], sizeof(struct table_thread));
	if (tables)
		(void)munmap(tables, sizeof(*tables));
	memset(&wick_state_1, 0, sizeof(wick_state_1));
	memset(&wick_thread_1, 0, sizeof(wick_thread_1));
	otel_thread_ctx_v1 = NULL;
	wick_fixture_now = 1000;
	wick_state_1.abi = TABLES_ABI;
	wick_state_1.bytes = sizeof(struct tables_state);
	wick_state_1.session = session + 1;
	wick_state_1.mult = UINT64_C(1) << 32;
	wick_state_1.clock = TABLES_MONOTONIC;
	wick_state_1.until = WICK_FIXTURE_END;
}

static int is_name(const struct tables *tables, uint64_t number, uint32_t kind, const char *text)
{
	const struct table_name *name = &tables->names[number % TABLES_NAMES];

	return name->kind == kind && strcmp(name->text, text) == 0;
}

static int is_row(const struct tables *tables, uint64_t number, const char *text)
{
	return is_name(tables, number, NAME_TASK, text) ||
	       is_name(tables, number, NAME_FUNCTION, text);
}

/* Whether tasks of the name run around a node; *ret_exec: that its time is that of such a task. */
static int is_below(const struct tables *tables, uint64_t node, const char *text, int *ret_exec)
{
	int of_task = 0;
	int below = 0;

	*ret_exec = 0;
	for (; node; node = tables->nodes[node] >> 32) {
		uint64_t name = (uint32_t)tables->nodes[node];

		if (is_row(tables, name, text)) {
			if (!of_task)
				*ret_exec = 1;
			below = 1;
		}
		of_task |= tables->names[name].kind == NAME_TASK;
	}
	return below && of_task && !*ret_exec;
}

static void add_node(struct wick_fixture_row *row, const struct table_node_row *node)
{
	row->wall += node->wall;
	row->max = node->max > row->max ? node->max : row->max;
	row->run_max = node->run_max > row->run_max ? node->run_max : row->run_max;
	row->calls += node->ended;
	row->begun += node->begun;
	row->stillborn += node->stillborn;
	row->cancelled += node->cancelled;
	row->failed += node->failed;
	row->stalls += node->stalls;
}

struct wick_fixture_row wick_fixture_row(const char *name)
{
	const struct tables *tables = (const struct tables *)wick_state_1.tables;
	struct wick_fixture_row row = {0};

	for (uint32_t i = 0; tables && i < tables->n_threads; i++) {
		const struct table_thread *thread = (const struct table_thread *)tables->threads[i];

		for (uint32_t n = 1; n < tables->n_nodes && n < TABLES_NODES; n++) {
			int exec;

			if (is_below(tables, n, name, &exec))
				row.children += thread->nodes[n].self;
			if (exec)
				row.exec += thread->nodes[n].self;
			if (is_row(tables, (uint32_t)tables->nodes[n], name))
				add_node(&row, &thread->nodes[n]);
		}
	}
	return row;
}

static uint32_t cell_of(const struct tables *tables, const char *tier, const char *identity)
{
	for (uint32_t n = 1; tables && n < tables->n_cells && n < TABLES_CELLS; n++) {
		uint64_t of_tier = tables->cells[n] >> 32;
		uint64_t of_identity = (uint32_t)tables->cells[n];

		if ((tier ? is_name(tables, of_tier, NAME_TIER, tier) : of_tier == 0) &&
		    (identity ? is_name(tables, of_identity, NAME_IDENTITY, identity)
			      : of_identity == 0))
			return n;
	}
	return 0;
}

struct table_cell_row wick_fixture_cell(const char *tier, const char *identity)
{
	const struct tables *tables = (const struct tables *)wick_state_1.tables;
	uint32_t cell = cell_of(tables, tier, identity);
	struct table_cell_row sum = {0};

	for (uint32_t i = 0; cell && i < tables->n_threads; i++) {
		const struct table_cell_row *row =
			&((const struct table_thread *)tables->threads[i])->cells[cell];

		if (!row->count)
			continue;
		sum.min_ns = !sum.count || row->min_ns < sum.min_ns ? row->min_ns : sum.min_ns;
		if (row->max_ns >= sum.max_ns) {
			sum.max_ns = row->max_ns;
			sum.exemplar_ns = row->exemplar_ns;
			sum.exemplar_ticks = row->exemplar_ticks;
			memcpy(sum.exemplar_trace, row->exemplar_trace, 16);
		}
		sum.count += row->count;
		sum.sum_ns += row->sum_ns;
		sum.self_ns += row->self_ns;
	}
	return sum;
}

uint64_t wick_fixture_buckets(const char *tier, const char *identity)
{
	const struct tables *tables = (const struct tables *)wick_state_1.tables;
	uint32_t cell = cell_of(tables, tier, identity);
	uint64_t sum = 0;

	for (uint32_t i = 0; cell && i < tables->n_threads; i++) {
		const struct table_thread *thread = (const struct table_thread *)tables->threads[i];

		for (int octave = 0; octave < TABLES_OCTAVES; octave++) {
			uint32_t chunk = thread->cells[cell].chunks[octave];

			for (int step = 0; chunk && step < TABLES_STEPS; step++)
				sum += thread->chunks[chunk - 1][step];
		}
	}
	return sum;
}

const char *wick_fixture_attr(enum context_key key)
{
	static char value[256];
	const struct otel_record *record = (const struct otel_record *)otel_thread_ctx_v1;

	value[0] = 0;
	if (!record || record->valid != 1)
		return value;
	for (uint32_t at = 0; at + 2 <= record->attrs_bytes;) {
		uint8_t bytes = record->attrs[at + 1];

		if (record->attrs[at] == key) {
			memcpy(value, record->attrs + at + 2, bytes);
			value[bytes] = 0;
		}
		at += 2U + bytes;
	}
	return value;
}

int wick_fixture_setup(void **state)
{
	(void)state;
	wick_fixture_begin();
	return 0;
}

void wick_fixture_pass(uint64_t ticks)
{
	(void)__atomic_fetch_add(&wick_fixture_now, ticks, __ATOMIC_RELAXED);
}

void wick_fixture_run(struct wick_task *task, const char *name)
{
	wick_task_create(task, name);
	wick_task_run(task);
}

void wick_fixture_block(const char *name, uint64_t ticks)
{
	struct wick_task task;

	wick_fixture_run(&task, name);
	wick_fixture_pass(ticks);
	wick_task_finish(&task, WICK_COMPLETED);
}

const char *wick_fixture_task(void)
{
	static char name[64];
	const char *task = wick_fixture_attr(CONTEXT_TASK);
	size_t bytes = strcspn(task, "@");

	memcpy(name, task, bytes < 63 ? bytes : 63);
	name[bytes < 63 ? bytes : 63] = 0;
	return name;
}
