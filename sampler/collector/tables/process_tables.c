/* process_tables.c - the tables of include/wick.h in one process */
#include "sampler/collector/tables/process_tables.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/notes.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	AGAIN_LEAST_MS = 50, /* what is not mapped or linked yet is searched again, */
	AGAIN_TRIES = 8,     /* after twice the time, so often */
	READ_PART = 50,      /* reading may take this part of a processor, */
	LEAVING_PART = 10,   /* and this part for a process that leaves, */
	LEAVING_MS = 100,    /* and so much more */
};

/* One program state; modules may have one each. */
struct counted {
	uint64_t address; /* 0: it is gone, or was never ours; the view stays */
	struct tables_state written;
	struct table_view view;
};

struct process_tables {
	struct tables_shared *shared;
	pid_t pid;
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus ours */
	int mem_fd;             /* the program's memory until it calls exec; -1: it has no tables */
	struct counted *states; /* TABLES_STATES; NULL: none was found */
	size_t n;
	struct totals_builder *base; /* counted before; NULL: nothing */
	bool unlinked;               /* a note led to an anchor that says nothing yet */
	bool searches_on;            /* as long as nothing was found */
	uint32_t tries;
	uint64_t again_ns; /* when modules are searched again; 0: not because of that */
	uint64_t rest_ns;  /* but not before: what a search has found was read at once */
	uint64_t renew_ns;
	uint64_t read_ns;
	uint64_t begun_ns;
	uint64_t leaving_ns; /* spent on what process_tables_leave() has read */
};

struct process_tables *process_tables_new(struct tables_shared *shared, pid_t pid,
					  int64_t clock_offset_ns)
{
	struct process_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->shared = shared;
	tables->pid = pid;
	tables->begun_ns = io_now_ns();
	tables->clock_offset_ns = clock_offset_ns;
	tables->mem_fd = -1;
	return tables;
}

void process_tables_free(struct process_tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->n; i++)
		table_view_release(&tables->states[i].view, tables->shared->scratch);
	free(tables->states);
	totals_builder_free(tables->base);
	cleanup_fd(&tables->mem_fd);
	free(tables);
}

bool process_tables_count(const struct process_tables *tables)
{
	for (size_t i = 0; tables && i < tables->n; i++)
		if (tables->states[i].address)
			return true;
	return false;
}

bool process_tables_found(const struct process_tables *tables)
{
	return tables && tables->n > 0;
}

/* It is written to by a descriptor that heeds no protection. */
struct writable {
	uint64_t address;
	bool found;
};

static bool visit_line(void *context, const struct maps_line *line)
{
	struct writable *writable = context;

	if (line->start <= writable->address && writable->address < line->end)
		writable->found = line->writable &&
				  line->end - writable->address >= sizeof(struct tables_state);
	return line->end <= writable->address;
}

static bool is_writable(const struct buf *maps, uint64_t address)
{
	struct writable writable = {.address = address};

	proc_maps_each(maps->data, maps->len, visit_line, &writable);
	return writable.found;
}

static bool copy_state(const struct process_tables *tables, uint64_t address,
		       struct tables_state *ret_state)
{
	return proc_memory_copy(tables->mem_fd, address, ret_state, sizeof(*ret_state)) &&
	       ret_state->abi == TABLES_ABI && ret_state->bytes == sizeof(*ret_state);
}

static bool write_part(const struct process_tables *tables, const struct counted *at, size_t offset,
		       size_t len)
{
	return pwrite(tables->mem_fd, (const char *)&at->written + offset, len,
		      (off_t)(at->address + offset)) == (ssize_t)len;
}

/* The clock as the program reads it: another time namespace has another CLOCK_MONOTONIC. */
static uint64_t program_ticks(const struct process_tables *tables)
{
	const struct ticks *ticks = &tables->shared->ticks;
	uint64_t now = ticks_now(ticks);

	return ticks->clock == TABLES_MONOTONIC ? now + (uint64_t)tables->clock_offset_ns : now;
}

/* Everything that the program needs to count, then the word that has it count. */
static bool write_lease(struct process_tables *tables, struct counted *at)
{
	const size_t from = offsetof(struct tables_state, mult);

	at->written.until =
		program_ticks(tables) + ticks_of_ns(&tables->shared->ticks, LEASE_S * NS_PER_S);
	return write_part(tables, at, from, offsetof(struct tables_state, tables) - from) &&
	       write_part(tables, at, offsetof(struct tables_state, until),
			  sizeof(at->written.until));
}

static struct table_scratch *scratch_of(struct tables_shared *shared)
{
	if (!shared->scratch)
		shared->scratch = table_scratch_new();
	return shared->scratch;
}

static int read_view(struct process_tables *tables, struct counted *at,
		     const struct tables_state *state)
{
	struct tables_shared *shared = tables->shared;
	struct table_scratch *scratch = scratch_of(shared);
	uint64_t now_ns = io_now_ns();
	size_t bytes;
	int r;

	if (!scratch)
		return -ENOMEM;
	if (now_ns - shared->allowed_ns >= NS_PER_S) {
		shared->allowed_ns = now_ns;
		shared->bytes_left = TABLES_ROUND_BYTES;
	}
	bytes = shared->bytes_left > TABLES_ALWAYS_BYTES ? VIEW_BYTES : TABLES_ALWAYS_BYTES;
	r = table_view_read(&at->view, scratch, tables->mem_fd, state, &bytes);
	shared->bytes_left = shared->bytes_left > bytes ? shared->bytes_left - bytes : 0;
	return r;
}

/* For moments of the program's clock in ours. */
static struct ticks program_clock(const struct process_tables *tables)
{
	struct ticks ticks = tables->shared->ticks;

	if (ticks.clock == TABLES_MONOTONIC)
		ticks.base.ticks += (uint64_t)tables->clock_offset_ns;
	return ticks;
}

/* What was counted before is taken away later. */
static int add_base(struct process_tables *tables, const struct counted *at)
{
	const struct ticks ticks = program_clock(tables);
	int r = tables->base ? 0 : totals_builder_new(&tables->base);

	return r < 0 ? r : table_view_add(&at->view, tables->base, &ticks, true);
}

static bool has_counted(const struct tables_state *state)
{
	static const struct tables_state nothing;

	return state->tables || state->lost_threads ||
	       memcmp(state->misuse, nothing.misuse, sizeof(nothing.misuse)) != 0;
}

static void switch_on(struct process_tables *tables, uint64_t address,
		      const struct tables_state *state)
{
	struct tables_shared *shared = tables->shared;
	struct counted *at;

	if (!tables->states)
		tables->states = calloc(TABLES_STATES, sizeof(*tables->states));
	if (!tables->states)
		return;
	at = &tables->states[tables->n];
	*at = (struct counted){.address = address};
	ticks_measure(&shared->ticks);
	if (has_counted(state) && (read_view(tables, at, state) < 0 || add_base(tables, at) < 0)) {
		tables->unlinked = true; /* another time */
		table_view_release(&at->view, shared->scratch);
		return;
	}
	at->written.mult = shared->ticks.mult;
	at->written.stall = ticks_of_ns(&shared->ticks, TABLES_STALL_MS * NS_PER_MS);
	at->written.clock = shared->ticks.clock;
	at->written.session = ++shared->session;
	if (!write_lease(tables, at))
		at->address = 0;
	tables->n++;
}

struct search {
	struct process_tables *tables;
	const struct buf *maps;
};

static bool is_known(const struct process_tables *tables, uint64_t address)
{
	for (size_t i = 0; i < tables->n; i++)
		if (tables->states[i].address == address)
			return true;
	return false;
}

static bool visit_note(void *context, const struct module_note *found)
{
	struct search *search = context;
	struct process_tables *tables = search->tables;
	struct tables_anchor anchor;
	struct tables_state state;
	struct tables_note note;

	if (found->type != TABLES_NOTE || found->desc_len != sizeof(note))
		return true;
	memcpy(&note, found->desc, sizeof(note));
	if (!proc_memory_copy(tables->mem_fd,
			      found->address + offsetof(struct tables_note, anchor) +
				      (uint64_t)note.anchor,
			      &anchor, sizeof(anchor)))
		return true;
	if (anchor.abi == TABLES_ABI && is_known(tables, anchor.state))
		return true;
	if (anchor.abi != TABLES_ABI || !copy_state(tables, anchor.state, &state)) {
		tables->unlinked = true;
		return true;
	}
	if (is_writable(search->maps, anchor.state))
		switch_on(tables, anchor.state, &state);
	return tables->n < TABLES_STATES;
}

static void open_memory(struct process_tables *tables)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)tables->pid);
	tables->mem_fd = open(path, O_RDWR | O_CLOEXEC);
}

void process_tables_search(struct process_tables *tables, const struct buf *maps)
{
	struct search search = {.tables = tables, .maps = maps};

	if (!tables || tables->n == TABLES_STATES)
		return;
	if (tables->mem_fd < 0)
		open_memory(tables);
	if (tables->mem_fd < 0)
		return;
	tables->unlinked = false;
	notes_find(tables->mem_fd, maps->data, maps->len, visit_note, &search);
	if (tables->n == 0) {
		(void)close(tables->mem_fd);
		tables->mem_fd = -1;
	}
	tables->again_ns = 0;
	if ((tables->unlinked || (tables->searches_on && tables->n == 0)) &&
	    tables->tries < AGAIN_TRIES)
		tables->again_ns = io_now_ns() + (AGAIN_LEAST_MS * NS_PER_MS << tables->tries++);
}

void process_tables_search_on(struct process_tables *tables)
{
	if (!tables)
		return;
	tables->searches_on = true;
	if (tables->n == 0)
		tables->again_ns = io_now_ns() + AGAIN_LEAST_MS * NS_PER_MS;
}

void process_tables_search_soon(struct process_tables *tables)
{
	if (!tables)
		return;
	tables->tries = 0;
	tables->again_ns = 1;
}

static void search_again(struct process_tables *tables)
{
	struct buf maps;
	char path[32];

	buf_init(&maps, MAPS_MAX_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)tables->pid);
	tables->again_ns = 0;
	if (io_read_file(path, &maps, NULL) == 0)
		process_tables_search(tables, &maps);
	buf_release(&maps);
}

/* A copy of the state, if it is still the one that we have switched on. */
static bool copy_ours(struct process_tables *tables, struct counted *at,
		      struct tables_state *ret_state)
{
	struct tables_state state;

	if (!at->address)
		return false;
	if (!copy_state(tables, at->address, &state) || state.until != at->written.until ||
	    state.session != at->written.session || state.mult != at->written.mult) {
		at->address = 0;
		process_tables_search_soon(tables);
		return false;
	}
	*ret_state = state;
	return true;
}

static void renew(struct process_tables *tables, struct counted *at)
{
	struct tables_state state;

	if (!copy_ours(tables, at, &state))
		return;
	/* What ran before a gap is not to be charged with it. */
	if (program_ticks(tables) >= at->written.until)
		at->written.session = ++tables->shared->session;
	if (!write_lease(tables, at))
		at->address = 0;
}

void process_tables_read(struct process_tables *tables)
{
	for (size_t i = 0; tables && i < tables->n; i++) {
		struct counted *at = &tables->states[i];
		struct tables_state state;

		if (copy_ours(tables, at, &state))
			(void)read_view(tables, at, &state);
	}
}

/* Return: when to do again what began at NOW_NS and has used the processor since BEGUN_NS. */
static uint64_t next_turn_ns(uint64_t now_ns, uint64_t begun_ns, uint64_t least_ms)
{
	uint64_t wait_ns = (io_thread_ns() - begun_ns) * READ_PART;

	if (wait_ns < least_ms * NS_PER_MS)
		wait_ns = least_ms * NS_PER_MS;
	if (wait_ns > TABLES_READ_MOST_MS * NS_PER_MS)
		wait_ns = TABLES_READ_MOST_MS * NS_PER_MS;
	return now_ns + wait_ns;
}

void process_tables_leave(struct process_tables *tables, uint64_t now_ns)
{
	uint64_t begun_ns = io_thread_ns();

	if (!tables || tables->leaving_ns >
			       LEAVING_MS * NS_PER_MS + (now_ns - tables->begun_ns) / LEAVING_PART)
		return;
	process_tables_read(tables);
	tables->leaving_ns += io_thread_ns() - begun_ns;
}

void process_tables_turn(struct process_tables *tables, uint64_t now_ns)
{
	uint64_t begun_ns;

	if (!tables)
		return;
	if (tables->again_ns && now_ns >= tables->again_ns && now_ns >= tables->rest_ns) {
		begun_ns = io_thread_ns();
		search_again(tables);
		tables->rest_ns = next_turn_ns(now_ns, begun_ns, 0);
	}
	if (!process_tables_count(tables))
		return;
	if (now_ns >= tables->renew_ns) {
		for (size_t i = 0; i < tables->n; i++)
			renew(tables, &tables->states[i]);
		tables->renew_ns = now_ns + LEASE_RENEW_MS * NS_PER_MS;
	}
	if (now_ns >= tables->read_ns) {
		begun_ns = io_thread_ns();
		process_tables_read(tables);
		tables->read_ns = next_turn_ns(now_ns, begun_ns, TABLES_READ_MS);
	}
}

void process_tables_end(struct process_tables *tables)
{
	for (size_t i = 0; tables && i < tables->n; i++) {
		struct counted *at = &tables->states[i];
		struct tables_state state;

		if (!copy_ours(tables, at, &state))
			continue;
		(void)read_view(tables, at, &state);
		at->written.until = 0;
		(void)write_part(tables, at, offsetof(struct tables_state, until),
				 sizeof(at->written.until));
		at->address = 0;
	}
	if (tables)
		tables->again_ns = 0;
}

static int add_views(const struct process_tables *tables, struct totals_builder *builder,
		     bool lives)
{
	const struct ticks ticks = program_clock(tables);
	int r = 0;

	for (size_t i = 0; i < tables->n && r == 0; i++)
		r = table_view_add(&tables->states[i].view, builder, &ticks, lives);
	return r;
}

static bool has_views(const struct process_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++)
		if (tables->states[i].view.counted)
			return true;
	return false;
}

int process_tables_add(const struct process_tables *tables, struct totals_builder *builder,
		       bool lives)
{
	struct totals_builder *own;
	int r;

	if (!tables || tables->n == 0)
		return 0;
	*totals_builder_processes(builder) += has_views(tables);
	if (!tables->base)
		return add_views(tables, builder, lives);
	r = totals_builder_new(&own);
	if (r < 0)
		return r;
	r = add_views(tables, own, lives);
	if (r == 0)
		r = totals_builder_subtract(own, tables->base);
	if (r == 0)
		r = totals_builder_merge(builder, own);
	totals_builder_free(own);
	return r;
}

int process_tables_reset(struct process_tables *tables)
{
	struct totals_builder *base;
	int r;

	if (!tables || tables->n == 0)
		return 0;
	r = totals_builder_new(&base);
	if (r < 0)
		return r;
	r = add_views(tables, base, true);
	if (r < 0) {
		totals_builder_free(base);
		return r;
	}
	totals_builder_free(tables->base);
	tables->base = base;
	return 0;
}
