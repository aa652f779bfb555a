/* flame_layout.h - where each frame of a flame graph begins, and which ones are drawn */
#ifndef DRAW_FLAME_LAYOUT_H
#define DRAW_FLAME_LAYOUT_H

#include "flamescope/flame/flame.h"

enum { FLAME_LAYOUT_MAX_FRAMES = 40000, FLAME_LAYOUT_MAX_DEPTH = 2000 };

/* In units of the measure; the root begins at 0 and is TOTAL wide. */
struct flame_layout {
	const struct flame *flame;
	uint64_t *left; /* one a node */
	uint64_t total;
	uint64_t least; /* narrower nodes are not drawn */
	uint32_t depth; /* of the deepest that is drawn */
	size_t n_drawn;
	uint32_t max_depth;
};

/**
 * flame_layout_make - place the nodes
 * @threshold: the part of the total that a node needs to be drawn, 0 to 1
 * @for_picture: draw no more than FLAME_LAYOUT_MAX_FRAMES and _MAX_DEPTH; LEAST is raised until so
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to flame_layout_release(); the flame has to outlive it.
 * Context: any thread.
 */
int flame_layout_make(struct flame_layout *layout, const struct flame *flame, double threshold,
		      bool for_picture);

/**
 * flame_layout_release - forget it
 *
 * Context: any thread.
 */
void flame_layout_release(struct flame_layout *layout);

/**
 * flame_layout_draws - whether a node is wide enough and not too deep
 *
 * Context: any thread.
 */
bool flame_layout_draws(const struct flame_layout *layout, uint32_t node);

/**
 * flame_layout_width - how wide a node is: what it gained and lost; for a mean, its samples
 *
 * Context: any thread.
 */
uint64_t flame_layout_width(const struct flame *flame, uint32_t node);

/**
 * flame_layout_next - the node after another one, callers first, of those that are drawn
 *
 * Begin with the root, 0.
 *
 * Return:  FLAME_NONE at the end.
 * Context: any thread.
 */
uint32_t flame_layout_next(const struct flame_layout *layout, uint32_t node);

#endif
