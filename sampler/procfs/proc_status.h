/*
 * proc_status.h - the status file of a process or a thread: "Name:\tvalue", a line each
 *
 * Context: any thread.
 */
#ifndef PROCFS_PROC_STATUS_H
#define PROCFS_PROC_STATUS_H

#include "base/buf.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum proc_status_of {
	STATUS_OF_PROGRAM,
	STATUS_OF_KERNEL, /* a thread of the kernel's */
	STATUS_OF_ENDED,  /* a zombie, or about to be one: its memory is gone */
};

struct proc_status {
	struct buf file;
	const char *text; /* of it; "" it could not be read */
};

/**
 * proc_status_read - read the file of a process, or of one of its threads
 * @tid: 0: the process's own
 *
 * Return:  0; -errno: it says nothing then.
 * Owns:    the caller; proc_status_release(), also after an error.
 */
int proc_status_read(struct proc_status *ret_status, pid_t pid, uint32_t tid);

/** proc_status_release - forget it */
void proc_status_release(struct proc_status *status);

/**
 * proc_status_word - what a line says: the text from its value on
 *
 * Return:  "" when there is no such line.
 * Owns:    the status.
 */
const char *proc_status_word(const struct proc_status *status, const char *name);

/**
 * proc_status_number - the same as a number
 * @base: 10, or 16 for masks of signals
 *
 * Return:  0 when there is none.
 */
uint64_t proc_status_number(const struct proc_status *status, const char *name, int base);

/** proc_status_comm - the name, for people: what could move a cursor is not in it */
void proc_status_comm(const struct proc_status *status, char to[SAMPLE_COMM_SIZE]);

/**
 * proc_status_inner - what it is numbered in the innermost of its pid namespaces
 *
 * Return:  0 when the kernel does not say.
 */
pid_t proc_status_inner(const struct proc_status *status);

/** proc_status_of - whose it is */
enum proc_status_of proc_status_of(const struct proc_status *status);

/**
 * proc_status_goes_on - whether other threads go on of a process whose first one has ended
 *
 * Its files in /proc say nothing of its memory then.
 */
bool proc_status_goes_on(const struct proc_status *status);

#endif
