/* process_event.h - events of a process, made of its checked records */
#ifndef PROCESS_PROCESS_EVENT_H
#define PROCESS_PROCESS_EVENT_H

#include "sampler/collector/event/event.h"

/**
 * node_new - a node of a process with EXTRA bytes behind it
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 * Context: collector thread.
 */
struct node *node_new(enum node_kind kind, struct process *process, uint64_t time_ns, size_t extra);

/**
 * node_new_sample - a node for a checked record of a sample
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 * Context: collector thread.
 */
struct node *node_new_sample(struct process *process, const struct record_sample *record,
			     uint64_t time_ns);

/**
 * node_with_kernel - put the kernel's part before the stack of a sample that has no waker
 * @pcs: innermost first
 *
 * Where there are more than RECORD_MAX_PCS then, the outermost are left out.
 *
 * Return:  the sample, which may have moved; as it was when memory ran out.
 * Owns:    the caller, to free().
 * Context: collector thread.
 */
struct node *node_with_kernel(struct node *node, const uint64_t *pcs, uint32_t n);

/**
 * node_new_mapping - a node for a mapping, the path copied
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 * Context: collector thread.
 */
struct node *node_new_mapping(struct process *process, const struct mapping *mapping);

#endif
