/* dimension.h - what samples are told apart by: their threads, states, CPUs... */
#ifndef QUERY_DIMENSION_H
#define QUERY_DIMENSION_H

#include "base/err.h"
#include "base/intern.h"
#include "flamescope/profile.h"

/*
 * A sample's value is a number below n_values; no two values have the same label.  The label of
 * samples that say nothing is "".
 */
struct dimension {
	const char *name;
	const uint32_t *threads; /* one of these is the column, the others are NULL */
	const uint16_t *words;
	const uint8_t *bytes;
	uint8_t *made; /* a column that the profile does not have; BYTES is the same */
	size_t n_codes;
	uint32_t *value_of; /* of the column's codes; those beyond n_codes have the last value */
	size_t n_values;
	const char **labels;
	struct intern strings;
};

/**
 * dimension_init - the values of a dimension of a profile
 * @delta_metric: the metric whose changes are counted, for "sign"; NULL: none
 *
 * thread (name and tid), comm, tid, pid, process (pid and the name that most of its main thread's
 * samples have), host, cpu, event, and the profile's tags: state, wait, on, op, task, req...
 * METRIC:class is the size class of the sample's value ("100s MiB"), METRIC:sign whether it was a
 * gain or a loss, and sign the same of DELTA_METRIC.
 *
 * Return:  0; -ENOENT and which there are; -ENOMEM.
 * Owns:    the caller, to dimension_release(); the profile and NAME have to outlive it.
 * Context: any thread.
 */
int dimension_init(struct dimension *dimension, const struct profile *profile, const char *name,
		   const char *delta_metric, struct err *err);

/**
 * dimension_release - forget it; a zeroed one is fine
 *
 * Context: any thread.
 */
void dimension_release(struct dimension *dimension);

/**
 * dimension_value - the number of a sample's value
 *
 * Context: any thread.
 */
static inline uint32_t dimension_value(const struct dimension *dimension, size_t sample)
{
	size_t code = dimension->threads ? dimension->threads[sample]
		      : dimension->words ? dimension->words[sample]
					 : dimension->bytes[sample];

	return dimension->value_of[code < dimension->n_codes ? code : dimension->n_codes];
}

#endif
