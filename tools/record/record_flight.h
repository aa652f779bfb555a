/* record_flight.h - a recording's flight recorder, and the triggers that have it write */
#ifndef RECORD_RECORD_FLIGHT_H
#define RECORD_RECORD_FLIGHT_H

#include "tools/record/recorder.h"

/**
 * record_flight_prepare - what the collector is to look at for triggers
 *
 * Return:  0; -errno and the reason: the kernel does not tell it.
 * Context: main thread, as for all of these.
 */
int record_flight_prepare(const struct record_options *options, struct collector_options *collector,
			  struct err *err);

/**
 * record_flight_start - begin to keep samples, before the first comes
 *
 * Return:  0, also when that was not asked for; -ENOMEM and the reason.
 * Context: main thread.
 */
int record_flight_start(struct recorder *recorder, struct err *err);

/**
 * record_flight_passed - everything up to a mark of the collector has been kept
 *
 * Context: main thread.
 */
void record_flight_passed(struct recorder *recorder, const struct collector_rate *rate);

/**
 * record_flight_now - write the last samples: everything up to now has been kept
 * @why: what the message says
 *
 * Return:  0 and the path; -errno, and why has been told.
 * Owns:    the recorder; good until the next call.
 * Context: main thread.
 */
int record_flight_now(struct recorder *recorder, const char *why, const char **ret_path);

/**
 * record_flight_ended - a process has ended, perhaps by a signal that has samples written
 *
 * Context: main thread.
 */
void record_flight_ended(struct recorder *recorder, const struct collector_event *event,
			 uint64_t now_ns);

/**
 * record_flight_tick - look at the triggers, and write what is due
 *
 * Context: main thread.
 */
void record_flight_tick(struct recorder *recorder, uint64_t now_ns);

/**
 * record_flight_finish - write what was asked for, and say what was not
 *
 * Context: main thread.
 */
void record_flight_finish(struct recorder *recorder);

#endif
