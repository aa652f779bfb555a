/*
 * context_writer.c - writers of thread contexts by the published layouts: OTEP 4947 the way
 * libdatadog does it (a new record for each context, then the old one is freed), or with
 * WRITES_LABELS custom-labels v1
 */
#pragma GCC visibility push(default)
#include "context_writer.h"
#pragma GCC visibility pop

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

#ifdef WRITES_LABELS

struct text {
	size_t len;
	const unsigned char *bytes;
};

struct label {
	struct text key;
	struct text value;
};

struct set {
	struct label *labels;
	size_t n;
	size_t size;
};

extern EXPORTED const uint32_t custom_labels_abi_version;
const uint32_t custom_labels_abi_version = 1;
extern EXPORTED _Thread_local struct set *custom_labels_current_set;
_Thread_local struct set *custom_labels_current_set;

static _Thread_local struct {
	struct set set;
	struct label labels[3];
	char number[4];
} own;

void writer_set(unsigned number)
{
	custom_labels_current_set = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	if (!number)
		return;
	(void)snprintf(own.number, sizeof(own.number), "%u", number & 255);
	own.labels[0] = (struct label){{0, NULL}, {4, (const unsigned char *)"none"}};
	own.labels[1] = (struct label){{6, (const unsigned char *)"number"},
				       {strlen(own.number), (const unsigned char *)own.number}};
	own.labels[2] = (struct label){{4, (const unsigned char *)"a b!"},
				       {3, (const unsigned char *)"x,y"}};
	own.set = (struct set){own.labels, 3, 3};
	atomic_signal_fence(memory_order_seq_cst);
	custom_labels_current_set = &own.set;
}

void writer_point(void *address)
{
	custom_labels_current_set = address;
}

void *writer_record(unsigned number)
{
	writer_set(number);
	return &own;
}

#else

struct record {
	uint8_t trace_id[16];
	uint8_t span_id[8];
	uint8_t valid;
	uint8_t trace_flags;
	uint16_t attrs_bytes;
	uint8_t attrs[64];
};

extern EXPORTED _Thread_local void *otel_thread_ctx_v1;
_Thread_local void *otel_thread_ctx_v1;

static unsigned add(struct record *record, unsigned at, uint8_t key, const char *value)
{
	record->attrs[at] = key;
	record->attrs[at + 1] = (uint8_t)strlen(value);
	memcpy(record->attrs + at + 2, value, strlen(value));
	return at + 2 + (unsigned)strlen(value);
}

static void fill(struct record *record, unsigned number)
{
	char text[24];
	unsigned n;

	memset(record->trace_id, (int)number, sizeof(record->trace_id));
	memset(record->span_id, (int)number, sizeof(record->span_id));
	(void)snprintf(text, sizeof(text), "%016x", number);
	n = add(record, 0, 0, text);
	(void)snprintf(text, sizeof(text), "/route/%u, x", number);
	n = add(record, n, 1, "replaced by the next");
	record->attrs_bytes = (uint16_t)add(record, n, 1, text);
	record->valid = 1;
}

void writer_set(unsigned number)
{
	struct record *record = number ? calloc(1, sizeof(*record)) : NULL;
	void *old = otel_thread_ctx_v1;

	if (record)
		fill(record, number);
	atomic_signal_fence(memory_order_seq_cst);
	otel_thread_ctx_v1 = record;
	atomic_signal_fence(memory_order_seq_cst);
	free(old);
}

void writer_point(void *address)
{
	otel_thread_ctx_v1 = address;
}

void *writer_record(unsigned number)
{
	static struct record records[256];

	if (!records[number & 255].valid)
		fill(&records[number & 255], number & 255);
	return &records[number & 255];
}

#endif
