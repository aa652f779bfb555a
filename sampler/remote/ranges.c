/* ranges.c - executable ranges of an address space, sorted */
#include "sampler/remote/ranges.h"

#include "base/array.h"
#include "base/search.h"
#include "sampler/procfs/proc_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

size_t ranges_first(const struct ranges *ranges, uint64_t start)
{
	size_t n = search_up_to(ranges->at, ranges->n, sizeof(*ranges->at), start);

	return n > 0 && ranges->at[n - 1].end > start ? n - 1 : n;
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address)
{
	size_t i = ranges_first(ranges, address);

	if (i == ranges->n || ranges->at[i].start > address)
		return NULL;
	return &ranges->at[i];
}

int ranges_insert(struct ranges *ranges, size_t index, const struct range *range)
{
	if (ranges->n >= MAPS_MAX_RANGES)
		return -E2BIG;
	if (array_reserve(&ranges->at, ranges->n, &ranges->size, 16) < 0)
		return -ENOMEM;
	memmove(&ranges->at[index + 1], &ranges->at[index],
		(ranges->n - index) * sizeof(ranges->at[0]));
	ranges->at[index] = *range;
	ranges->n++;
	return 0;
}

void ranges_remove(struct ranges *ranges, size_t index)
{
	ranges->n--;
	memmove(&ranges->at[index], &ranges->at[index + 1],
		(ranges->n - index) * sizeof(ranges->at[0]));
}

bool ranges_holds(const struct ranges *ranges, const struct range *range)
{
	const struct range *found = ranges_find(ranges, range->start);

	return found && found->start == range->start && found->end == range->end &&
	       found->pgoff == range->pgoff && found->dev == range->dev &&
	       found->inode == range->inode && found->path == range->path;
}

struct parse {
	struct ranges *ranges;
	struct intern *paths;
	int r;
};

static bool add_line(void *context, const struct maps_line *line)
{
	struct parse *parse = context;
	struct ranges *ranges = parse->ranges;
	struct range range = {.start = line->start,
			      .end = line->end,
			      .pgoff = line->pgoff,
			      .dev = line->dev,
			      .inode = line->inode,
			      .deleted = line->deleted};
	char path[PATH_MAX * 4];

	if (!line->executable || line->end > USER_ADDRESS_END || line->path_len > sizeof(path))
		return true;
	if (ranges->n > 0 && ranges->at[ranges->n - 1].end > line->start)
		return true;
	range.path = intern_bytes(parse->paths, path, proc_maps_path(line, path));
	if (!range.path) {
		parse->r = -ENOMEM;
		return false;
	}
	parse->r = ranges_insert(ranges, ranges->n, &range);
	return parse->r == 0;
}

int ranges_parse(struct ranges *ret_ranges, struct intern *paths, const char *text, size_t len)
{
	struct ranges ranges = {0};
	struct parse parse = {.ranges = &ranges, .paths = paths};

	proc_maps_each(text, len, add_line, &parse);
	if (parse.r == -ENOMEM) {
		ranges_release(&ranges);
		return parse.r;
	}
	*ret_ranges = ranges;
	return 0;
}

void ranges_release(struct ranges *ranges)
{
	free(ranges->at);
	*ranges = (struct ranges){0};
}
