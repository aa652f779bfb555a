/* flame_text.h - a call tree as text, CSV and JSON */
#ifndef DRAW_FLAME_TEXT_H
#define DRAW_FLAME_TEXT_H

#include "base/buf.h"
#include "flamescope/flame/flame.h"

/**
 * flame_write_tree - a line a frame, indented, siblings by name
 * @threshold: the part of the total that a frame needs to be written
 *
 * Return:  0; -ENOMEM.
 * Context: any thread, as for all of these.
 */
int flame_write_tree(struct buf *buf, const struct flame *flame, double threshold);

/**
 * flame_write_csv - a line a frame: depth, name, module and sums
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int flame_write_csv(struct buf *buf, const struct flame *flame, double threshold);

/**
 * flame_write_json - one object, in which frames hold those that they call
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int flame_write_json(struct buf *buf, const struct flame *flame, double threshold);

/**
 * flame_module - the module of a frame number; "" for groups, "inlined" for what is
 *
 * Owns:    the selection's profile.
 * Context: any thread.
 */
const char *flame_module(const struct selection *selection, uint32_t frame);

#endif
