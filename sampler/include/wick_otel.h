/*
 * wick_otel.h - publishes the name of a service, and of wick.h's attributes, for OpenTelemetry
 *
 *	#include <wick_otel.h>
 *
 *	wick_otel_publish("orders", "1.4.2");      once, early in main()
 *
 * wick.h publishes the trace and span that a thread works for as OpenTelemetry's profilers read
 * them, with attributes that are numbered.  This says what the numbers mean: it makes
 * OpenTelemetry's process context (OTEP 4719) with service.name, service.version, and the keys
 * wick.identity, wick.task, wick.tier and wick.function.  wick itself does not need it.  A program
 * whose OpenTelemetry library publishes a process context must not call it: there is one for a
 * process.
 *
 * C99 and C++11, Linux; elsewhere it does nothing.  There is nothing to link.
 *
 * Context: any thread, one at a time.
 */
#ifndef WICK_OTEL_H
#define WICK_OTEL_H

#include "wick.h"

#if defined(__ELF__) && defined(__GNUC__) && defined(__x86_64__) && defined(__LP64__) &&           \
	defined(__linux__)

#include <sys/mman.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WICK_OTEL_BYTES = 4096,
	WICK_OTEL_TEXT = 60, /* bytes; the rest is cut: lengths stay below 128, a byte each */
	WICK_OTEL_VERSION = 2,
	WICK_OTEL_DONTFORK = 10,      /* MADV_DONTFORK */
	WICK_OTEL_BOOTTIME = 7,       /* CLOCK_BOOTTIME */
	WICK_OTEL_MEMFD_CREATE = 319, /* system calls of x86-64 */
	WICK_OTEL_FTRUNCATE = 77,
	WICK_OTEL_CLOSE = 3
};

/* The header of OTEP 4719; the payload follows it. */
struct wick_otel_head {
	char signature[8]; /* "OTEL_CTX", written last */
	uint32_t version;
	uint32_t payload_bytes;
	uint64_t published_ns;
	const void *payload;
};

/* A protobuf message that is written: fields of less than 128 bytes each. */
struct wick_otel_message {
	unsigned n;
	uint8_t bytes[512];
};

/**
 * wick_otel_field - add a field of bytes to a message
 * @number: of the field, below 16
 */
static inline void wick_otel_field(struct wick_otel_message *to, unsigned number, const void *bytes,
				   unsigned n)
{
	if (n > 127 || to->n + n + 2 > sizeof(to->bytes))
		return;
	to->bytes[to->n++] = (uint8_t)(number << 3 | 2); /* length-delimited */
	to->bytes[to->n++] = (uint8_t)n;
	__builtin_memcpy(to->bytes + to->n, bytes, n);
	to->n += n;
}

/**
 * wick_otel_text - add a field of text, at most WICK_OTEL_TEXT bytes of it
 */
static inline void wick_otel_text(struct wick_otel_message *to, unsigned number, const char *text)
{
	unsigned n = 0;

	while (n < WICK_OTEL_TEXT && text[n])
		n++;
	wick_otel_field(to, number, text, n);
}

/**
 * wick_otel_attribute - add a KeyValue { key = 1; AnyValue value = 2 } as a field of a message
 * @value: an AnyValue
 */
static inline void wick_otel_attribute(struct wick_otel_message *to, unsigned number,
				       const char *key, const struct wick_otel_message *value)
{
	struct wick_otel_message pair;

	pair.n = 0;
	wick_otel_text(&pair, 1, key);
	wick_otel_field(&pair, 2, value->bytes, value->n);
	wick_otel_field(to, number, pair.bytes, pair.n);
}

/**
 * wick_otel_string - the same of AnyValue { string_value = 1 }
 */
static inline void wick_otel_string(struct wick_otel_message *to, unsigned number, const char *key,
				    const char *text)
{
	struct wick_otel_message value;

	value.n = 0;
	wick_otel_text(&value, 1, text);
	wick_otel_attribute(to, number, key, &value);
}

/**
 * wick_otel_payload - ProcessContext { Resource resource = 1; repeated KeyValue attributes = 2 }
 *
 * Resource is { repeated KeyValue attributes = 1 }; the key map is AnyValue { array_value = 5 } of
 * ArrayValue { repeated AnyValue values = 1 }, in the order of the keys' numbers.
 */
static inline void wick_otel_payload(struct wick_otel_message *ret, const char *service,
				     const char *version)
{
	static const char *const keys[] = {"wick.identity", "wick.task", "wick.tier",
					   "wick.function"};
	struct wick_otel_message resource;
	struct wick_otel_message array;
	struct wick_otel_message value;
	unsigned i;

	ret->n = 0;
	array.n = 0;
	/* Fields of one number are merged: each attribute has a Resource of its own, so that
	 * none grows beyond a byte's length. */
	resource.n = 0;
	wick_otel_string(&resource, 1, "service.name", service);
	wick_otel_field(ret, 1, resource.bytes, resource.n);
	resource.n = 0;
	wick_otel_string(&resource, 1, "service.version", version);
	wick_otel_field(ret, 1, resource.bytes, resource.n);
	wick_otel_string(ret, 2, "threadlocal.schema_version", "tlsdesc_v1_dev");
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value.n = 0;
		wick_otel_text(&value, 1, keys[i]);
		wick_otel_field(&array, 1, value.bytes, value.n);
	}
	value.n = 0;
	wick_otel_field(&value, 5, array.bytes, array.n);
	wick_otel_attribute(ret, 2, "threadlocal.attribute_key_map", &value);
}

/**
 * wick_otel_publish - publish the process context
 * @service: service.name
 * @version: service.version; "": none
 *
 * A child of fork() has none until it calls this itself.
 *
 * Return:  0; -1 if there was no memory or no descriptor for it.
 * Owns:    the process, to its end: the context is never unmapped.
 */
static inline int wick_otel_publish(const char *service, const char *version)
{
	/* A mapping of this name is what readers look for; MFD_CLOEXEC. */
	long fd = wick_syscall(WICK_OTEL_MEMFD_CREATE, (long)"OTEL_CTX", 1, 0, 0);
	struct wick_otel_head *head = (struct wick_otel_head *)MAP_FAILED;
	struct wick_otel_message payload;
	struct wick_timespec now = {0, 0};

	if (fd < 0)
		return -1;
	if (wick_syscall(WICK_OTEL_FTRUNCATE, fd, WICK_OTEL_BYTES, 0, 0) == 0)
		head = (struct wick_otel_head *)mmap(0, WICK_OTEL_BYTES, PROT_READ | PROT_WRITE,
						     MAP_PRIVATE, (int)fd, 0);
	(void)wick_syscall(WICK_OTEL_CLOSE, fd, 0, 0, 0);
	if (head == (struct wick_otel_head *)MAP_FAILED)
		return -1;
	(void)wick_syscall(WICK_MADVISE, (long)head, WICK_OTEL_BYTES, WICK_OTEL_DONTFORK, 0);
	wick_otel_payload(&payload, service, version);
	__builtin_memcpy(head + 1, payload.bytes, payload.n);
	(void)wick_clock_gettime(WICK_OTEL_BOOTTIME, &now);
	head->version = WICK_OTEL_VERSION;
	head->payload_bytes = payload.n;
	head->payload = head + 1;
	head->published_ns = (uint64_t)now.sec * 1000000000U + (uint64_t)now.nsec + 1;
	__asm__ volatile("" ::: "memory"); /* x86-64 keeps stores in order */
	__builtin_memcpy(head->signature, "OTEL_CTX", 8);
	return 0;
}

#ifdef __cplusplus
}
#endif

#else

#define wick_otel_publish(service, version) ((void)(service), (void)(version), 0)

#endif

#endif
