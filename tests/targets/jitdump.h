/* jitdump.h - writing the records of a jitdump file, for a target and for unit tests */
#ifndef TESTS_TARGETS_JITDUMP_H
#define TESTS_TARGETS_JITDUMP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JITDUMP_ROOM = 64 * 1024 };

struct jitdump {
	uint8_t bytes[JITDUMP_ROOM];
	size_t len;
	size_t record; /* where the one being written begins */
};

static inline void jitdump_put(struct jitdump *dump, const void *bytes, size_t len)
{
	if (len > sizeof(dump->bytes) - dump->len)
		__builtin_trap();
	memcpy(dump->bytes + dump->len, bytes, len);
	dump->len += len;
}

static inline void jitdump_u32(struct jitdump *dump, uint32_t value)
{
	jitdump_put(dump, &value, sizeof(value));
}

static inline void jitdump_u64(struct jitdump *dump, uint64_t value)
{
	jitdump_put(dump, &value, sizeof(value));
}

static inline void jitdump_header(struct jitdump *dump, uint32_t pid, uint64_t time_ns,
				  uint64_t flags)
{
	jitdump_u32(dump, 0x4a695444); /* "JiTD" */
	jitdump_u32(dump, 1);          /* version */
	jitdump_u32(dump, 40);         /* bytes of the header */
	jitdump_u32(dump, 62);         /* EM_X86_64 */
	jitdump_u32(dump, 0);
	jitdump_u32(dump, pid);
	jitdump_u64(dump, time_ns);
	jitdump_u64(dump, flags);
}

static inline void jitdump_begin(struct jitdump *dump, uint32_t id, uint64_t time_ns)
{
	dump->record = dump->len;
	jitdump_u32(dump, id);
	jitdump_u32(dump, 0);
	jitdump_u64(dump, time_ns);
}

static inline void jitdump_end(struct jitdump *dump)
{
	uint32_t len = (uint32_t)(dump->len - dump->record);

	memcpy(dump->bytes + dump->record + 4, &len, sizeof(len));
}

struct jitdump_load {
	uint32_t pid;
	uint64_t time_ns;
	uint64_t addr;
	uint64_t number;
	const char *name;
	const void *code;
	size_t code_bytes;
};

static inline void jitdump_load(struct jitdump *dump, const struct jitdump_load *load)
{
	jitdump_begin(dump, 0, load->time_ns);
	jitdump_u32(dump, load->pid);
	jitdump_u32(dump, load->pid);
	jitdump_u64(dump, load->addr);
	jitdump_u64(dump, load->addr);
	jitdump_u64(dump, load->code_bytes);
	jitdump_u64(dump, load->number);
	jitdump_put(dump, load->name, strlen(load->name) + 1);
	jitdump_put(dump, load->code, load->code_bytes);
	jitdump_end(dump);
}

static inline void jitdump_move(struct jitdump *dump, const struct jitdump_load *load,
				uint64_t to_addr, uint64_t time_ns)
{
	jitdump_begin(dump, 1, time_ns);
	jitdump_u32(dump, load->pid);
	jitdump_u32(dump, load->pid);
	jitdump_u64(dump, to_addr);
	jitdump_u64(dump, load->addr);
	jitdump_u64(dump, to_addr);
	jitdump_u64(dump, load->code_bytes);
	jitdump_u64(dump, load->number);
	jitdump_end(dump);
}

struct jitdump_line {
	uint64_t addr;
	uint32_t line;
	const char *file; /* "\xff": the last one's */
};

static inline void jitdump_lines(struct jitdump *dump, uint64_t time_ns, uint64_t addr,
				 const struct jitdump_line *lines, size_t n_lines)
{
	jitdump_begin(dump, 2, time_ns);
	jitdump_u64(dump, addr);
	jitdump_u64(dump, n_lines);
	for (size_t i = 0; i < n_lines; i++) {
		jitdump_u64(dump, lines[i].addr);
		jitdump_u32(dump, lines[i].line);
		jitdump_u32(dump, 0);
		jitdump_put(dump, lines[i].file, strlen(lines[i].file) + 1);
	}
	jitdump_end(dump);
}

static inline void jitdump_close(struct jitdump *dump, uint64_t time_ns)
{
	jitdump_begin(dump, 3, time_ns);
	jitdump_end(dump);
}

#endif
