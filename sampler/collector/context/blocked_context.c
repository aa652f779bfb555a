/* blocked_context.c - the context of a thread that does not run, read from outside */
#include "sampler/collector/context/blocked_context.h"

#include "base/io.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"

#include <string.h>

enum {
	SEARCH_BYTES = 64 * 1024, /* of stack, from the stack pointer on */
	MAX_MODULES = 1 << 16,
	LONGEST = 255, /* of a label's key or value */
	GLIBC_ENTRY = 16,
	MUSL_ENTRY = 8,
	VALID = 1,
};

static bool load(int mem_fd, uint64_t address, uint64_t *ret_value)
{
	return proc_memory_copy(mem_fd, address, ret_value, sizeof(*ret_value));
}

/* musl: { self, dtv, ... }, and dtv[0] is the number of modules (src/internal/pthread_impl.h). */
static bool is_musls(int mem_fd, uint64_t dtv)
{
	uint64_t n;

	return load(mem_fd, dtv, &n) && n > 0 && n < MAX_MODULES;
}

/* glibc: { tcb, dtv, self, ... } (sysdeps/x86_64/nptl/tls.h). */
uint64_t blocked_thread_pointer(int mem_fd, uint64_t sp)
{
	uint64_t words[SEARCH_BYTES / 8];
	uint64_t start = sp & -UINT64_C(8);
	ssize_t n = start < USER_ADDRESS_END ? io_pread(mem_fd, words, sizeof(words), start) : 0;

	for (ssize_t i = 0; i + 2 < n / 8; i++) {
		uint64_t address = start + 8 * (uint64_t)i;

		if (words[i] == address &&
		    (words[i + 2] == address || is_musls(mem_fd, words[i + 1])))
			return address;
	}
	return 0;
}

/* Return: the thread's block of a module; 0: it has none. */
static uint64_t block_of(int mem_fd, uint64_t tp, uint32_t module, uint32_t entry_bytes)
{
	uint64_t dtv;
	uint64_t n;
	uint64_t block;

	if (!load(mem_fd, tp + 8, &dtv) ||
	    !load(mem_fd, entry_bytes == GLIBC_ENTRY ? dtv - entry_bytes : dtv, &n) || module > n ||
	    !load(mem_fd, dtv + (uint64_t)module * entry_bytes, &block))
		return 0;
	return block == UINT64_MAX ? 0 : block;
}

static uint64_t find(int mem_fd, uint64_t tp, const struct context_variable *variable)
{
	uint64_t block = variable->place == CONTEXT_TP ? tp
			 : variable->place == CONTEXT_DTV
				 ? block_of(mem_fd, tp, variable->module, GLIBC_ENTRY)
				 : block_of(mem_fd, tp, variable->module, MUSL_ENTRY);

	return block ? block + (uint64_t)variable->offset : 0;
}

static uint16_t read_otel(int mem_fd, uint64_t address, uint8_t *to)
{
	struct otel_record *record = (void *)to;
	uint64_t at;
	size_t n;

	if (!load(mem_fd, address, &at) || !at || at % 2 ||
	    !proc_memory_copy(mem_fd, at, record, OTEL_RECORD_HEAD) || record->valid != VALID)
		return 0;
	n = record->attrs_bytes < CONTEXT_MAX_ATTRS ? record->attrs_bytes : CONTEXT_MAX_ATTRS;
	if (n && !proc_memory_copy(mem_fd, at + OTEL_RECORD_HEAD, record->attrs, n))
		n = 0;
	return (uint16_t)(OTEL_RECORD_HEAD + n);
}

static uint16_t read_value(int mem_fd, uint64_t address, uint8_t *to)
{
	static const struct context_value none;

	if (!proc_memory_copy(mem_fd, address + offsetof(struct context_thread, value), to,
			      sizeof(none)) ||
	    memcmp(to, &none, offsetof(struct context_value, flags)) == 0)
		return 0;
	return sizeof(none);
}

/* custom-labels v1: { labels, n, size }; a label is { length, key, length, value }. */
static uint16_t read_labels(int mem_fd, uint64_t address, uint8_t *to)
{
	uint64_t set[2];
	uint64_t at;
	size_t used = 0;

	if (!load(mem_fd, address, &at) || !at || !proc_memory_copy(mem_fd, at, set, sizeof(set)))
		return 0;
	for (size_t i = 0; i < set[1] && i < CONTEXT_MAX_LABELS; i++) {
		uint64_t label[4];
		size_t value_len;

		if (!proc_memory_copy(mem_fd, set[0] + i * sizeof(label), label, sizeof(label)))
			break;
		if (!label[1] || label[0] > LONGEST)
			continue;
		value_len = label[2] < LONGEST ? label[2] : LONGEST;
		if (used + 2 + label[0] + value_len > CONTEXT_MAX_ATTRS)
			break;
		to[used] = (uint8_t)label[0];
		to[used + 1 + label[0]] = (uint8_t)value_len;
		if (proc_memory_copy(mem_fd, label[1], to + used + 1, label[0]) &&
		    (!value_len ||
		     proc_memory_copy(mem_fd, label[3], to + used + 2 + label[0], value_len)))
			used += 2 + label[0] + value_len;
	}
	return (uint16_t)used;
}

bool blocked_context_read(int mem_fd, uint64_t thread_pointer,
			  const struct context_variable *variable, union context_copy *ret_context)
{
	struct record_context *context = &ret_context->head;
	uint64_t address = find(mem_fd, thread_pointer, variable);

	if (!address)
		return false;
	context->serial = variable->serial;
	context->format = variable->format;
	switch (variable->format) {
	case CONTEXT_OTEL:
		context->bytes = read_otel(mem_fd, address, context->data);
		break;
	case CONTEXT_WICK:
		context->bytes = read_value(mem_fd, address, context->data);
		break;
	default:
		context->bytes = read_labels(mem_fd, address, context->data);
		break;
	}
	return context->bytes > 0;
}
