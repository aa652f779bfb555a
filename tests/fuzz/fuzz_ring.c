/* fuzz_ring.c - whatever stands in a slot, a drain ends inside it and hands out what holds */
#include "sampler/collector/ring/ring_view.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* The head, the position, then the ring. */
enum { HEAD_BYTES = 16, DATA_BYTES = 4096 };

static void check(const union record_copy *record)
{
	const struct record_sample *sample = &record->sample;

	if (record->head.type < RECORD_SAMPLE || record->head.type > RECORD_EVENT)
		abort();
	if (record->head.bytes > sizeof(*record))
		abort();
	if (record->head.type == RECORD_SAMPLE &&
	    (sample->n_pcs == 0 || sample->n_pcs > RECORD_MAX_PCS))
		abort();
	if (record->head.type == RECORD_EVENT &&
	    (record->event.n_pcs == 0 || record->event.n_pcs > RECORD_MAX_PCS ||
	     record->event.amount > RECORD_MAX_AMOUNT))
		abort();
	if (record->head.type == RECORD_THREAD &&
	    !memchr(record->thread.comm, '\0', sizeof(record->thread.comm)))
		abort();
	if (record->head.type == RECORD_MODULE &&
	    !memchr(record->module.path, '\0', sizeof(record->module.path)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	uint64_t position;
	uint64_t head;
	unsigned char *data;
	size_t n = 0;
	enum decode_result result;
	union record_copy record;

	if (size < HEAD_BYTES)
		return 0;
	memcpy(&head, input, sizeof(head));
	memcpy(&position, input + sizeof(head), sizeof(position));
	data = calloc(1, DATA_BYTES);
	if (!data)
		return 0;
	size -= HEAD_BYTES;
	memcpy(data, input + HEAD_BYTES, size < DATA_BYTES ? size : DATA_BYTES);
	while ((result = decode_next(data, DATA_BYTES, head, &position, &record)) != DECODE_EMPTY) {
		if (result == DECODE_RECORD)
			check(&record);
		if (++n > DATA_BYTES / sizeof(struct record) + 1)
			abort();
	}
	if (position != head)
		abort();
	free(data);
	return 0;
}
