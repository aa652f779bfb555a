/* walk.c - through a graph in depth, without recursion: stacks may have 100,000 frames */
#include "flamescope/flame/walk.h"

int flame_walk(const struct flame *flame, const struct flame_visitor *visitor)
{
	const struct flame_node *nodes = flame->nodes;
	uint32_t at = nodes[0].first_child;

	while (at != FLAME_NONE) {
		int r = visitor->enter(visitor->data, &nodes[at], at);

		if (r != 0)
			return r;
		if (nodes[at].first_child != FLAME_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		visitor->leave(visitor->data, &nodes[at], at);
		while (at != 0 && nodes[at].next == FLAME_NONE) {
			at = nodes[at].parent;
			if (at != 0)
				visitor->leave(visitor->data, &nodes[at], at);
		}
		at = nodes[at].next;
	}
	return 0;
}
