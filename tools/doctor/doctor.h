/*
 * doctor.h - findings of `wick doctor`: what is fine, what to know, what to fix and how
 *
 * Context: main thread.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/buf.h"

#include <stdint.h>
#include <sys/types.h>

struct doctor {
	struct buf text;
	unsigned n_fixes;
};

/** doctor_ok - this is fine */
void doctor_ok(struct doctor *doctor, const char *topic, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** doctor_note - this is worth knowing and needs no fix */
void doctor_note(struct doctor *doctor, const char *topic, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * doctor_fix - this keeps a recording from being good
 * @fix: what to do about it
 */
void doctor_fix(struct doctor *doctor, const char *topic, const char *fix, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * doctor_check_machine - kernel, limits, the agent, temporary files, disk
 * @hz: the rate requested; 0: none
 */
void doctor_check_machine(struct doctor *doctor, uint32_t hz);

/** doctor_check_program - whether a command can be sampled */
void doctor_check_program(struct doctor *doctor, const char *command);

#endif
