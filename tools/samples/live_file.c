/* live_file.c - the file of --live: what is still allocated, as of now */
#include "tools/samples/live_file.h"

#include "base/io.h"
#include "tools/samples/hook_files.h"

#include <errno.h>
#include <stdlib.h>

enum { REST_TIMES = 19 /* as long as writing took */ };

int live_file_open(struct live_file *file, const struct recording_options *like,
		   const struct event_list *list, struct err *err)
{
	struct recording_options recording = *like;

	file->heap.limit = LIVE_HEAP_BYTES;
	file->flush_ns = like->flush_ns;
	hook_files_describe(&recording, EVENT_ALLOC, list);
	file->path = hook_files_path(like->path ? like->path : "wick.%c.%p.%t.perf", "live");
	if (!file->path)
		return err_set(err, ENOMEM, "name a file");
	recording.path = file->path;
	/* A block has no metrics: it is of another moment than the thread's next sample. */
	recording.text.metrics_mask = 0;
	groups_limit(&recording.text.groups, recording.text.metrics_mask);
	return snapshot_new(&recording, &file->snapshot, err);
}

void live_file_sample(struct live_file *file, const struct sample *sample, bool kept)
{
	if (file->snapshot && sample->event == EVENT_ALLOC && (kept || sample->weight == 0))
		live_heap_sample(&file->heap, sample);
}

static void add(void *context, const struct sample *sample)
{
	snapshot_add(context, sample);
}

static void write_now(struct live_file *file, struct collector *collector)
{
	struct collector_stats stats;

	collector_stats(collector, &stats);
	const struct perf_script_count counts[] = {
		{"lost_events", stats.lost_events},
		{"live_full", stats.live_full},
		{"live_left_out", file->heap.left_out},
	};

	file->heap.changed = false;
	if (snapshot_begin(file->snapshot) == 0)
		live_heap_each(&file->heap, add, file->snapshot);
	if (snapshot_end(file->snapshot, counts, sizeof(counts) / sizeof(counts[0])) < 0)
		file->heap.changed = true;
}

uint64_t live_file_due_ns(const struct live_file *file)
{
	return file->snapshot && file->heap.changed ? file->due_ns : UINT64_MAX;
}

void live_file_tick(struct live_file *file, struct collector *collector, uint64_t now_ns)
{
	uint64_t took_ns;

	if (now_ns < live_file_due_ns(file))
		return;
	write_now(file, collector);
	took_ns = io_now_ns() - now_ns;
	file->due_ns = now_ns + (took_ns * REST_TIMES > file->flush_ns ? took_ns * REST_TIMES
								       : file->flush_ns);
}

void live_file_finish(struct live_file *file, struct collector *collector)
{
	if (file->snapshot)
		write_now(file, collector);
}

void live_file_release(struct live_file *file)
{
	snapshot_free(file->snapshot);
	live_heap_release(&file->heap);
	free(file->path);
	*file = (struct live_file){0};
}
