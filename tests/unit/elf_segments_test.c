/* elf_segments_test.c - program headers in memory that may not be there, or lie */
#include "base/elf_segments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x7000)

/* A module of two segments, as memory that begins at BASE. */
struct module {
	Elf64_Ehdr head;
	Elf64_Phdr segments[2];
};

static struct module module(void)
{
	struct module it = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			 .e_phoff = offsetof(struct module, segments),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 2},
		.segments = {{.p_type = PT_NOTE, .p_vaddr = 0x1200},
			     {.p_type = PT_LOAD, .p_vaddr = 0x1000}},
	};

	return it;
}

static bool copy(void *context, uint64_t address, void *to, size_t len)
{
	if (address < BASE || address - BASE > sizeof(struct module) ||
	    sizeof(struct module) - (address - BASE) < len)
		return false;
	memcpy(to, (const char *)context + (address - BASE), len);
	return true;
}

static bool reads(struct module it)
{
	struct elf_segments segments;

	return elf_segments_read(&segments, BASE, copy, &it);
}

static void says_what_to_add_to_addresses(void **state)
{
	struct module it = module();
	struct elf_segments segments;

	(void)state;
	assert_true(elf_segments_read(&segments, BASE, copy, &it));
	assert_int_equal(segments.n, 2);
	assert_int_equal(segments.bias, BASE - 0x1000);
	assert_int_equal(segments.at[0].p_vaddr, 0x1200);
	it.segments[1].p_offset = 0x100; /* not the one that has the header */
	assert_true(elf_segments_read(&segments, BASE, copy, &it));
	assert_int_equal(segments.bias, BASE);
}

static void refuses_what_is_no_module(void **state)
{
	struct elf_segments segments;
	struct module it = module();

	(void)state;
	assert_false(elf_segments_read(&segments, BASE + 8, copy, &it));
	it.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_false(reads(it));
	it = module();
	it.head.e_phentsize = 8;
	assert_false(reads(it));
	it = module();
	it.head.e_phoff = UINT64_MAX - 8;
	assert_false(reads(it));
	it = module();
	it.head.e_phnum = 3; /* more than there are */
	assert_false(reads(it));
	it.head.e_phnum = UINT16_MAX;
	assert_false(reads(it));
}

static bool all_zero_but_the_head(void *context, uint64_t address, void *to, size_t len)
{
	if (address == BASE)
		return copy(context, address, to, len);
	memset(to, 0, len);
	return true;
}

static void takes_no_more_than_it_has_room_for(void **state)
{
	struct elf_segments segments;
	struct module it = module();

	(void)state;
	it.head.e_phnum = UINT16_MAX;
	assert_true(elf_segments_read(&segments, BASE, all_zero_but_the_head, &it));
	assert_int_equal(segments.n, ELF_SEGMENTS_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_to_add_to_addresses),
		cmocka_unit_test(refuses_what_is_no_module),
		cmocka_unit_test(takes_no_more_than_it_has_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
