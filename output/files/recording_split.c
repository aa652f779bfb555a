/* recording_split.c - a file ends, or is brought to disk, because somebody asks */
#include "output/files/internal.h"

#include <errno.h>

int recording_split(struct recording *recording, uint32_t hz)
{
	const struct perf_script_file *file = &recording->backlog.file;

	recording_release_held(recording);
	if (hz)
		recording->header.hz = hz;
	if (recording->segment.fd < 0 || (file->n_samples == 0 && !hz))
		return 0;
	if (recording->segment.len > 0 || file->n_samples > 0)
		return recording->in_trouble ? -EIO : recording_rotate(recording);
	backlog_start(&recording->backlog, &recording->options.text, &recording->header);
	return 0;
}

int recording_write_out(struct recording *recording)
{
	recording_release_held(recording);
	if (recording->segment.fd < 0)
		return recording->options.on_demand ? 0 : -EIO;
	return recording_flush(recording);
}
