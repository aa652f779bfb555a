/* choice_gauges.c - what a variable of the machine's processes is, whether or not they are recorded
 */
#include "sampler/collector/select/choice_gauges.h"

#include "base/io.h"
#include "sampler/collector/metrics/gauges.h"

#include <stdlib.h>

struct reader {
	uint64_t start;
	uint64_t look; /* that read it last */
	struct gauges *gauges;
};

static void drop(struct choice_gauges *gauges, pid_t pid, struct reader *reader)
{
	(void)map_remove(&gauges->readers, (uint64_t)pid);
	gauges_free(reader->gauges);
	free(reader);
}

static struct reader *make_reader(struct choice_gauges *gauges, pid_t pid, uint64_t start)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->start = start;
	if (gauges_new(&reader->gauges, pid, &gauges->name, 1) < 0 ||
	    map_put(&gauges->readers, (uint64_t)pid, reader) < 0) {
		gauges_free(reader->gauges);
		free(reader);
		return NULL;
	}
	return reader;
}

uint64_t choice_gauges_read(struct choice_gauges *gauges, pid_t pid, uint64_t start)
{
	struct reader *reader = map_get(&gauges->readers, (uint64_t)pid);
	int64_t value = 0;

	if (reader && reader->start != start) {
		drop(gauges, pid, reader);
		reader = NULL;
	}
	if (!reader)
		reader = make_reader(gauges, pid, start);
	if (!reader)
		return 0;
	reader->look = gauges->look;
	(void)gauges_read(reader->gauges, io_now_ns(), &value);
	return value > 0 ? (uint64_t)value : 0;
}

static void sweep_one(void *context, uint64_t pid, void *value)
{
	struct choice_gauges *gauges = context;
	struct reader *reader = value;

	if (reader->look != gauges->look)
		drop(gauges, (pid_t)pid, reader);
}

void choice_gauges_sweep(struct choice_gauges *gauges)
{
	map_each(&gauges->readers, sweep_one, gauges);
	gauges->look++;
}

void choice_gauges_release(struct choice_gauges *gauges)
{
	gauges->look++;
	map_each(&gauges->readers, sweep_one, gauges);
	map_release(&gauges->readers);
	*gauges = (struct choice_gauges){0};
}
