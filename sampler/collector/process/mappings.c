/* mappings.c - what is known of the code in one process, and since when */
#include "sampler/collector/process/mappings.h"

#include "base/cleanup.h"
#include "base/elf_segments.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "base/units.h"
#include "sampler/procfs/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	UNPROVEN_A_SECOND = 1024, /* modules of one process that its maps do not show */
};

#define PAGE_BYTES UINT64_C(4096)

static void add_change(struct mappings *mappings, const struct module_changes *changes)
{
	if (mappings->n_changed == MAX_CHANGES)
		return;
	if (!mappings->changes)
		mappings->changes = calloc(MAX_CHANGES, sizeof(mappings->changes[0]));
	if (mappings->changes)
		mappings->changes[mappings->n_changed++] = *changes;
}

void mappings_module(struct mappings *mappings, const struct record_module *record,
		     uint64_t time_ns)
{
	struct module_changes changes = {.time_ns = time_ns,
					 .start = record->start,
					 .end = record->end,
					 .bias = record->bias};

	if (mappings->n_changed < MAX_CHANGES)
		changes.path = intern_string(&mappings->changed_paths, record->path);
	if (changes.path)
		add_change(mappings, &changes);
}

void mappings_unmap(struct mappings *mappings, uint64_t time_ns)
{
	add_change(mappings, &(struct module_changes){.time_ns = time_ns, .path = ""});
}

/* A page that a read did not explain is not searched again for a while. */
static bool hopeless(const struct mappings *mappings, uint64_t pc, uint64_t now_ns)
{
	uint64_t page = pc >> 12;
	size_t i = page % HOPELESS;

	return mappings->hopeless[i] == page &&
	       now_ns - mappings->hopeless_ns[i] < HOPELESS_MS * NS_PER_MS;
}

void mappings_check(struct mappings *mappings, const uint64_t *pcs, size_t n, uint64_t now_ns)
{
	for (size_t i = 0; i < n && mappings->n_misses < MAX_MISSES; i++) {
		uint64_t pc = pcs[i] & PC_EXACT ? pcs[i] & ~PC_EXACT : pcs[i] - 1;

		if (ranges_find(&mappings->known, pc) || hopeless(mappings, pc, now_ns))
			continue;
		if (mappings->n_misses > 0 && mappings->misses[mappings->n_misses - 1] == pc)
			continue;
		mappings->misses[mappings->n_misses++] = pc;
	}
}

bool mappings_wants_read(const struct mappings *mappings, uint64_t now_ns)
{
	if (mappings->n_changed > 0)
		return true;
	return mappings->n_misses > 0 &&
	       mappings->reread_ns <= now_ns + (MAPS_REREADS - 1) * MAPS_REREAD_MS * NS_PER_MS;
}

/* One update: the new snapshot beside what is known. */
struct update {
	struct mappings *mappings;
	const struct mapping_sink *sink;
	struct ranges snapshot;
	bool readable;
	uint64_t now_ns;
	uint64_t time_ns; /* of the change that is being applied */
	bool derived;     /* the file of a module gave at least one range */
	int r;
};

static void emit(struct update *update, const struct range *range, bool gone)
{
	struct mapping mapping = {.time_ns = update->time_ns,
				  .start = range->start,
				  .end = range->end,
				  .pgoff = range->pgoff,
				  .dev = range->dev,
				  .inode = range->inode,
				  .gone = gone,
				  .path = range->path,
				  .deleted = range->deleted};

	update->sink->emit(update->sink->context, &mapping);
}

/* The same bytes of the same file at the same addresses, or both anonymous. */
static bool same_origin(const struct range *a, const struct range *b)
{
	return a->path == b->path && a->inode == b->inode && a->dev == b->dev &&
	       (a->inode == 0 || a->start - a->pgoff == b->start - b->pgoff);
}

/* RANGE is there from the update's time on; what it covers has gone. */
static void set_range(struct update *update, const struct range *range)
{
	struct ranges *known = &update->mappings->known;
	size_t i = ranges_first(known, range->start);

	if (update->r < 0 || ranges_holds(known, range))
		return;
	while (i < known->n && known->at[i].start < range->end) {
		if (!same_origin(&known->at[i], range))
			emit(update, &known->at[i], true);
		ranges_remove(known, i);
	}
	update->r = ranges_insert(known, i, range);
	if (update->r == 0)
		emit(update, range, false);
	if (update->r == -E2BIG)
		update->r = 0;
}

/* Whether the snapshot has RANGE, or its like after it has grown or shrunk. */
static bool still_there(const struct update *update, const struct range *range)
{
	const struct ranges *snapshot = &update->snapshot;

	for (size_t i = ranges_first(snapshot, range->start);
	     i < snapshot->n && snapshot->at[i].start < range->end; i++)
		if (same_origin(&snapshot->at[i], range))
			return true;
	return false;
}

static void drop_gone(struct update *update)
{
	struct ranges *known = &update->mappings->known;
	size_t kept = 0;

	if (!update->readable)
		return;
	for (size_t i = 0; i < known->n; i++) {
		if (still_there(update, &known->at[i]))
			known->at[kept++] = known->at[i];
		else
			emit(update, &known->at[i], true);
	}
	known->n = kept;
}

static bool read_file(void *context, uint64_t at, void *to, size_t len)
{
	return io_pread(*(const int *)context, to, len, at) == (ssize_t)len;
}

/* Every executable segment of the file at PATH, as it would be mapped. */
static void set_segments(struct update *update, const char *path, uint64_t bias)
{
	struct elf_segments segments;
	struct stat st;
	_cleanup_fd_ int fd = path[0] == '/' ? regular_file_open(AT_FDCWD, path, 0) : -1;

	if (fd < 0 || fstat(fd, &st) < 0 || !elf_segments_read(&segments, 0, read_file, &fd))
		return;
	for (size_t i = 0; i < segments.n; i++) {
		const Elf64_Phdr *at = &segments.at[i];
		uint64_t end = bias + at->p_vaddr + at->p_filesz + PAGE_BYTES - 1;
		const struct range range = {.start = (bias + at->p_vaddr) & -PAGE_BYTES,
					    .end = end & -PAGE_BYTES,
					    .pgoff = at->p_offset & -PAGE_BYTES,
					    .dev = st.st_dev,
					    .inode = st.st_ino,
					    .path = path};

		if (at->p_type != PT_LOAD || !(at->p_flags & PF_X) || range.start >= range.end ||
		    range.end > USER_ADDRESS_END)
			continue;
		update->derived = true;
		set_range(update, &range);
	}
}

/* The path of a module that nothing but a record tells of; NULL: there are too many of them. */
static const char *believe(struct update *update, const struct module_changes *changes)
{
	struct mappings *mappings = update->mappings;
	size_t n_paths = mappings->paths.n;
	const char *path = NULL;

	if (update->now_ns - mappings->unproven_ns >= NS_PER_S) {
		mappings->unproven_ns = update->now_ns;
		mappings->n_unproven = 0;
	}
	if (mappings->n_unproven < UNPROVEN_A_SECOND && mappings->n_unproven_paths < UNPROVEN_PATHS)
		path = intern_string(&mappings->paths, changes->path);
	mappings->n_unproven += path != NULL;
	mappings->n_unproven_paths += (uint32_t)(mappings->paths.n - n_paths);
	mappings->n_refused += path == NULL;
	return path;
}

/* A module that the maps file no longer shows: a short dlopen, or the process has died. */
static void set_from_file(struct update *update, const struct module_changes *changes)
{
	const struct ranges *known = &update->mappings->known;
	struct range unknown = {.start = changes->start, .end = changes->end};

	for (size_t i = ranges_first(known, changes->start);
	     i < known->n && known->at[i].start < changes->end; i++)
		if (strcmp(known->at[i].path, changes->path) == 0)
			return;
	unknown.path = believe(update, changes);
	if (!unknown.path)
		return;
	update->derived = false;
	set_segments(update, unknown.path, changes->bias);
	if (!update->derived && unknown.path[0] == '/')
		set_range(update, &unknown);
}

/* Whether another module may be where this one was when the maps file was read. */
static bool may_have_gone(const struct update *update, const struct module_changes *changes)
{
	const struct module_changes *end = update->mappings->changes + update->mappings->n_changed;

	for (const struct module_changes *later = changes + 1; later < end; later++)
		if (later->start == later->end ||
		    (later->start < changes->end && changes->start < later->end))
			return true;
	return false;
}

/* From the snapshot what is the module's: all that is there, or what has its path. */
static void apply_module(struct update *update, const struct module_changes *changes)
{
	const struct ranges *snapshot = &update->snapshot;
	bool all = !may_have_gone(update, changes);
	bool found = false;

	for (size_t i = ranges_first(snapshot, changes->start);
	     i < snapshot->n && snapshot->at[i].start < changes->end; i++)
		if (all || strcmp(snapshot->at[i].path, changes->path) == 0) {
			set_range(update, &snapshot->at[i]);
			found = true;
		}
	if (!found)
		set_from_file(update, changes);
}

static int by_time(const void *a, const void *b)
{
	const struct module_changes *x = a;
	const struct module_changes *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void apply_changes(struct update *update)
{
	struct mappings *mappings = update->mappings;

	if (mappings->n_changed > 1)
		qsort(mappings->changes, mappings->n_changed, sizeof(mappings->changes[0]),
		      by_time);
	for (size_t i = 0; i < mappings->n_changed; i++) {
		const struct module_changes *changes = &mappings->changes[i];

		update->time_ns = changes->time_ns;
		if (changes->start < changes->end) {
			apply_module(update, changes);
		} else {
			drop_gone(update);
			mappings->unmap_ns = changes->time_ns;
		}
	}
	mappings->n_changed = 0;
	intern_release(&mappings->changed_paths);
}

/* What is there and was never announced came after the last read and the last unmap. */
static void apply_snapshot(struct update *update, uint64_t now_ns)
{
	struct mappings *mappings = update->mappings;

	update->time_ns = now_ns;
	drop_gone(update);
	update->time_ns =
		mappings->read_ns > mappings->unmap_ns ? mappings->read_ns : mappings->unmap_ns;
	for (size_t i = 0; i < update->snapshot.n; i++)
		set_range(update, &update->snapshot.at[i]);
}

static void settle_misses(struct mappings *mappings, uint64_t now_ns)
{
	if (mappings->n_misses > 0)
		mappings->reread_ns =
			(mappings->reread_ns > now_ns ? mappings->reread_ns : now_ns) +
			MAPS_REREAD_MS * NS_PER_MS;
	for (size_t i = 0; i < mappings->n_misses; i++) {
		uint64_t page = mappings->misses[i] >> 12;

		if (ranges_find(&mappings->known, mappings->misses[i]))
			continue;
		mappings->hopeless[page % HOPELESS] = page;
		mappings->hopeless_ns[page % HOPELESS] = now_ns;
	}
	mappings->n_misses = 0;
}

int mappings_update(struct mappings *mappings, const struct buf *text, uint64_t now_ns,
		    const struct mapping_sink *sink)
{
	struct update update = {.mappings = mappings, .sink = sink, .now_ns = now_ns};

	/* An empty file is a process that has lost its memory: it is exiting. */
	update.readable = text && text->len > 0;
	if (update.readable)
		update.r = ranges_parse(&update.snapshot, &mappings->paths, text->data, text->len);
	apply_changes(&update);
	if (update.readable) {
		apply_snapshot(&update, now_ns);
		mappings->read_ns = now_ns;
	}
	settle_misses(mappings, now_ns);
	ranges_release(&update.snapshot);
	return update.r;
}

void mappings_release(struct mappings *mappings)
{
	ranges_release(&mappings->known);
	intern_release(&mappings->paths);
	intern_release(&mappings->changed_paths);
	free(mappings->changes);
	*mappings = (struct mappings){0};
}
