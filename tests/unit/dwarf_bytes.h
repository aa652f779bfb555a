/* dwarf_bytes.h - sections put together by hand, for tests of what reads them */
#ifndef DWARF_BYTES_H
#define DWARF_BYTES_H

#include "symbolize/dwarf/unit.h"
#include "symbolize/elf/elf_head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
	size_t n;
	uint8_t of[8192];
};

/* Code lies in [0x1000, 0x100000). */
static inline struct elf_head bytes_head(void)
{
	return (struct elf_head){
		.n_loads = 1,
		.loads = {{.vaddr = 0x1000, .memsz = 0xff000, .executable = true}},
	};
}

static inline void put(struct bytes *bytes, const void *data, size_t n)
{
	assert_true(n <= sizeof(bytes->of) - bytes->n);
	memcpy(bytes->of + bytes->n, data, n);
	bytes->n += n;
}

/* SIZE bytes of a number, the lowest first. */
static inline void put_number(struct bytes *bytes, uint64_t number, size_t size)
{
	put(bytes, &number, size);
}

static inline void put_u8(struct bytes *bytes, uint8_t number)
{
	put(bytes, &number, 1);
}

static inline void put_uleb(struct bytes *bytes, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put_u8(bytes, (uint8_t)(number | 0x80));
	put_u8(bytes, (uint8_t)number);
}

static inline void put_sleb(struct bytes *bytes, int64_t number)
{
	for (; number >= 64 || number < -64; number >>= 7)
		put_u8(bytes, (uint8_t)(number | 0x80));
	put_u8(bytes, (uint8_t)(number & 0x7f));
}

static inline void put_string(struct bytes *bytes, const char *text)
{
	put(bytes, text, strlen(text) + 1);
}

/* Room for a length of SIZE bytes (4 or 8, then with its mark) that bytes_end() fills in. */
static inline size_t bytes_begin(struct bytes *bytes, size_t size)
{
	if (size == 8)
		put_number(bytes, UINT32_MAX, 4);
	put_number(bytes, 0, size);
	return bytes->n;
}

static inline void bytes_end(struct bytes *bytes, size_t begun, size_t size)
{
	uint64_t len = bytes->n - begun;

	memcpy(bytes->of + begun - size, &len, size);
}

static inline void bytes_into(const struct bytes *bytes, struct dwarf_source *source,
			      enum dwarf_section section)
{
	source->of[section] = (struct dwarf_bytes){.data = bytes->of, .len = bytes->n};
}

#endif
