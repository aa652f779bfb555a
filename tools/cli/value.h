/*
 * value.h - the values that options take: sizes, durations, rates, limits, lists
 *
 * Context: any thread.
 */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include "base/err.h"
#include "base/sample.h"
#include "output/files/recording.h"

#include <stdint.h>

/**
 * value_size - bytes: 4096, 64K, 10M, 2G (powers of 1024)
 *
 * Return:  0; -EINVAL and the reason, naming TEXT.
 */
int value_size(const char *text, uint64_t *ret_bytes, struct err *err);

/**
 * value_duration - ns of: 500ms, 10s, 1.5min, 2h; a bare number is seconds
 *
 * Return:  0; -EINVAL and the reason; 0 ns is refused.
 */
int value_duration(const char *text, uint64_t *ret_ns, struct err *err);

/**
 * value_wait - ns of: 10us, 1.5ms, 2s; never without a unit
 *
 * Return:  0; -EINVAL and the reason; 0 ns is refused.
 */
int value_wait(const char *text, uint64_t *ret_ns, struct err *err);

/**
 * value_rate - samples per second of CPU, 1 to 10000
 *
 * Return:  0; -EINVAL and the reason.
 */
int value_rate(const char *text, uint32_t *ret_hz, struct err *err);

/**
 * value_rotate - a limit of a segment: a size, a duration or a count like 50000samples
 *
 * Return:  0; -EINVAL and the reason; a bare number has no meaning.
 */
int value_rotate(const char *text, struct recording_limit *ret_limit, struct err *err);

/**
 * value_keep - how much to keep: a number of segments, a size or an age
 *
 * Return:  0; -EINVAL and the reason.
 */
int value_keep(const char *text, struct recording_limit *ret_limit, struct err *err);

/**
 * value_word - one of a few words
 * @words: NULL-terminated
 *
 * Return:  its place, from 0; -EINVAL and the words that there are.
 */
int value_word(const char *text, const char *const *words, struct err *err);

/**
 * value_pid - the number of a process
 *
 * Return:  0; -EINVAL when TEXT is no positive number.
 */
int value_pid(const char *text, pid_t *ret_pid);

/**
 * value_process - the same for a user, who may have typed a name
 *
 * Return:  0; -EINVAL, with what to type.
 */
int value_process(const char *text, pid_t *ret_pid, struct err *err);

#endif
