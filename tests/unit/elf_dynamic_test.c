/* elf_dynamic_test.c - dynamic symbols in memory that ends, or lies */
#include "base/elf_dynamic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

enum { BASE = 0x10000, BIAS = 0xf000 };

/* The dynamic section is the last that is mapped. */
struct image {
	Elf64_Sym symbols[3];
	char strings[16];
	struct {
		uint32_t n_buckets, first, n_bloom, shift;
		uint64_t bloom;
		uint32_t bucket;
		uint32_t chain[2];
	} gnu_hash;
	Elf64_Dyn dynamic[20];
};

static bool copy(void *context, uint64_t address, void *to, size_t len)
{
	if (address < BASE || address - BASE > sizeof(struct image) ||
	    len > sizeof(struct image) - (address - BASE))
		return false;
	memcpy(to, (const char *)context + (address - BASE), len);
	return true;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static void put(struct image *image, size_t at, int64_t tag, uint64_t value)
{
	image->dynamic[at] = (Elf64_Dyn){.d_tag = tag, .d_un = {.d_val = value}};
}

/* Two symbols in one bucket: a variable "one", a thread-local "two". */
static struct image an_image(void)
{
	struct image image = {
		.symbols = {{0},
			    {.st_name = 1, .st_info = STT_OBJECT, .st_shndx = 1, .st_value = 0x40},
			    {.st_name = 5, .st_info = STT_TLS, .st_shndx = 1, .st_value = 8}},
		.strings = "\0one\0two",
		.gnu_hash = {.n_buckets = 1, .first = 1, .n_bloom = 1, .bloom = ~UINT64_C(0)},
	};

	image.gnu_hash.bucket = 1;
	image.gnu_hash.chain[0] = hash_of("one") & ~1U;
	image.gnu_hash.chain[1] = hash_of("two") | 1;
	for (size_t i = 0; i < 20; i++)
		put(&image, i, DT_RELACOUNT, 0);
	/* musl: not relocated */
	put(&image, 0, DT_SYMTAB, BASE - BIAS + offsetof(struct image, symbols));
	put(&image, 1, DT_STRTAB, BASE + offsetof(struct image, strings));
	put(&image, 2, DT_STRSZ, sizeof(image.strings));
	put(&image, 19, DT_GNU_HASH, BASE + offsetof(struct image, gnu_hash));
	return image;
}

static bool find(struct image *image, const char *name, unsigned type, uint64_t *ret_value)
{
	const struct elf_memory memory = {.read = copy, .context = image};
	struct elf_dynamic dynamic;
	Elf64_Sym symbol;

	if (!elf_dynamic_read(&dynamic, &memory, BIAS, BASE + offsetof(struct image, dynamic),
			      ELF_DYNAMIC_BYTES) ||
	    !elf_dynamic_find(&dynamic, &memory, name, type, &symbol))
		return false;
	*ret_value = symbol.st_value;
	return true;
}

static void symbols_are_found_by_name_and_type(void **state)
{
	struct image image = an_image();
	uint64_t value;

	(void)state;
	/* The section has no DT_NULL, and ends with the memory: its last entry counts. */
	assert_true(find(&image, "one", STT_OBJECT, &value));
	assert_int_equal(value, 0x40);
	assert_true(find(&image, "two", STT_TLS, &value));
	assert_int_equal(value, 8);
	assert_false(find(&image, "two", STT_OBJECT, &value));
	assert_false(find(&image, "three", STT_TLS, &value));
}

static void tables_that_lie_have_no_symbols(void **state)
{
	struct image image = an_image();
	uint64_t value;

	(void)state;
	image.gnu_hash.n_buckets = 0;
	assert_false(find(&image, "one", STT_OBJECT, &value));
	image = an_image();
	image.gnu_hash.bloom = 0;
	assert_false(find(&image, "one", STT_OBJECT, &value));
	image = an_image();
	image.gnu_hash.chain[1] &= ~1U; /* a chain without an end */
	assert_false(find(&image, "three", STT_OBJECT, &value));
	image = an_image();
	image.symbols[1].st_name = sizeof(image.strings);
	assert_false(find(&image, "one", STT_OBJECT, &value));
	image = an_image();
	put(&image, 3, DT_NULL, 0);
	assert_false(find(&image, "one", STT_OBJECT, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_found_by_name_and_type),
		cmocka_unit_test(tables_that_lie_have_no_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
