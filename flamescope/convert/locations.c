/* locations.c - pprof's places: a function and the calls that were inlined into it are one */
#include "flamescope/convert/locations.h"

#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_inlined(const struct selection *selection, uint32_t frame)
{
	return frame < selection->profile->n_frames && selection->profile->frames[frame].inlined;
}

static int intern(struct locations *locations, struct map *map, uint32_t frame, uint32_t outer)
{
	uint64_t key = (uint64_t)frame << 32 | outer;
	const void *known = map_get(map, key);

	if (known)
		return (int)((const struct location *)known - locations->at);
	locations->at[locations->n] =
		(struct location){frame, outer, locations->at[outer].length + 1};
	if (map_put(map, key, &locations->at[locations->n]) < 0)
		return -ENOMEM;
	return (int)locations->n++;
}

/* Parents come before their children, so that what a call is inlined into is known. */
int locations_make(const struct selection *selection, struct locations *ret_locations)
{
	struct locations *locations = ret_locations;
	struct map map = {0};
	int r = 0;

	*locations = (struct locations){
		.n = 1,
		.at = calloc(selection->n_nodes + 1, sizeof(*locations->at)),
		.of_node = calloc(selection->n_nodes + 1, sizeof(*locations->of_node)),
	};
	if (!locations->at || !locations->of_node)
		return -ENOMEM;
	for (size_t i = 1; i < selection->n_nodes && r >= 0; i++) {
		const struct profile_node *node = &selection->nodes[i];
		uint32_t outer = 0;

		if (is_inlined(selection, node->frame) && node->parent &&
		    selection->nodes[node->parent].frame < selection->profile->n_frames)
			outer = locations->of_node[node->parent];
		if (locations->at[outer].length >= LOCATIONS_MAX_CHAIN)
			outer = 0;
		r = intern(locations, &map, node->frame, outer);
		locations->of_node[i] = (uint32_t)r;
	}
	map_release(&map);
	return r < 0 ? r : 0;
}

void locations_release(struct locations *locations)
{
	free(locations->at);
	free(locations->of_node);
}
