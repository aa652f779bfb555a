/*
 * process_event.h - events of a process, made of its checked records
 *
 * Context: collector thread.
 */
#ifndef PROCESS_PROCESS_EVENT_H
#define PROCESS_PROCESS_EVENT_H

#include "sampler/collector/event/event.h"

struct collector_options;
struct collector_stats;
struct labels;
struct ring_header;
struct thread;

/** hook_event_configure - tell the agent what to watch, before it can see the header */
void hook_event_configure(struct ring_header *header, const struct collector_options *options);

/** hook_event_arenas - what the allocator of a process has, into its readings */
void hook_event_arenas(struct process *process);

/**
 * hook_event_new - a sample for a checked record of an event
 *
 * Memory that was taken weighs its bytes; memory that was given back weighs nothing and is in
 * the metrics.  What it adds to heap_live_bytes stands there until hook_event_settle().
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 */
struct event *hook_event_new(struct process *process, const struct record_event *record,
			     uint64_t time_ns);

/**
 * hook_event_settle - bring the thread's bytes up to date, in the order of time
 *
 * Does nothing for a sample that is not of memory.
 */
void hook_event_settle(struct event_sample *sample, struct thread *thread);

/**
 * hook_event_count - count a sample of memory or of a lock
 *
 * Call it before hook_event_settle().
 *
 * Return:  false: it is neither, and not counted.
 */
bool hook_event_count(const struct event_sample *sample, struct collector_stats *stats);

/**
 * event_new - a node of a process followed by EXTRA bytes
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 */
struct event *event_new(enum event_kind kind, struct process *process, uint64_t time_ns,
			size_t extra);

/**
 * event_new_sample - a node for a checked record of a sample
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 */
struct event *event_new_sample(struct process *process, const struct record_sample *record,
			       uint64_t time_ns);

/**
 * event_with_kernel - put the kernel's part before the stack of a sample that has no waker
 * @pcs: innermost first
 *
 * Where there are more than RECORD_MAX_PCS then, the outermost are left out.
 *
 * Return:  the sample, which may have moved; as it was when memory ran out.
 * Owns:    the caller, to free().
 */
struct event *event_with_kernel(struct event *node, const uint64_t *pcs, uint32_t n);

/**
 * event_with_labels - give a sample its labels, once
 *
 * Return:  the sample, which may have moved; as it was when memory ran out.
 * Owns:    the caller, to free().
 */
struct event *event_with_labels(struct event *node, const struct labels *labels);

/**
 * event_new_mapping - a node for a mapping, the path copied
 *
 * Return:  the node; NULL when memory ran out.
 * Owns:    the caller, to free().
 */
struct event *event_new_mapping(struct process *process, const struct mapping *mapping);

#endif
