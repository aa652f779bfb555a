/* image_symbols.c - .dynsym in the memory of a process; all of it is checked */
#include "symbolize/elf/image.h"

#include "base/cleanup.h"
#include "symbolize/elf/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	MAX_DYNAMIC = 512,
	MAX_SYMBOLS = 512 * 1024,
	MAX_STRINGS = 32 * 1024 * 1024,
	MAX_BUCKETS = 1024 * 1024,
};

/* What PT_DYNAMIC says; offsets from the start of the image. */
struct dynamic {
	uint64_t symbols;
	uint64_t strings;
	uint64_t strings_bytes;
	uint64_t hash;
	uint64_t gnu_hash;
};

/* glibc turns the pointers of PT_DYNAMIC into addresses, musl and the vDSO leave them. */
static uint64_t offset_of(const struct image *image, uint64_t pointer)
{
	if (pointer >= image->source.base)
		return pointer - image->source.base;
	return pointer - elf_head_start(&image->head);
}

static int read_dynamic(const struct image *image, struct dynamic *ret_dynamic)
{
	uint64_t n = image->head.dynamic_bytes / sizeof(Elf64_Dyn);
	Elf64_Dyn entries[MAX_DYNAMIC];
	struct dynamic dynamic = {0};
	int r;

	n = n < MAX_DYNAMIC ? n : MAX_DYNAMIC;
	if (!n)
		return -ENODATA;
	r = elf_source_read(&image->source, entries, n * sizeof(*entries),
			    image->head.dynamic - elf_head_start(&image->head));
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
		uint64_t value = entries[i].d_un.d_val;

		if (entries[i].d_tag == DT_SYMTAB)
			dynamic.symbols = offset_of(image, value);
		else if (entries[i].d_tag == DT_STRTAB)
			dynamic.strings = offset_of(image, value);
		else if (entries[i].d_tag == DT_STRSZ)
			dynamic.strings_bytes = value;
		else if (entries[i].d_tag == DT_HASH)
			dynamic.hash = offset_of(image, value);
		else if (entries[i].d_tag == DT_GNU_HASH)
			dynamic.gnu_hash = offset_of(image, value);
	}
	if (!dynamic.symbols || !dynamic.strings || dynamic.strings_bytes == 0 ||
	    dynamic.strings_bytes > MAX_STRINGS)
		return -ENODATA;
	*ret_dynamic = dynamic;
	return 0;
}

/* DT_GNU_HASH: the highest bucket's chain ends with the last symbol. */
static int count_gnu(const struct image *image, uint64_t hash, uint32_t *ret_n)
{
	struct {
		uint32_t n_buckets;
		uint32_t first;
		uint32_t n_bloom;
		uint32_t shift;
	} header;
	_cleanup_free_ uint32_t *buckets = NULL;
	uint64_t at = hash + sizeof(header);
	uint32_t last = 0;
	uint32_t link = 0;
	int r = elf_source_read(&image->source, &header, sizeof(header), hash);

	if (r < 0)
		return r;
	if (header.n_buckets == 0 || header.n_buckets > MAX_BUCKETS)
		return -EINVAL;
	at += header.n_bloom * sizeof(uint64_t);
	buckets = malloc(header.n_buckets * sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	r = elf_source_read(&image->source, buckets, header.n_buckets * sizeof(*buckets), at);
	if (r < 0)
		return r;
	at += header.n_buckets * sizeof(*buckets);
	for (uint32_t i = 0; i < header.n_buckets; i++)
		last = buckets[i] > last ? buckets[i] : last;
	for (; last >= header.first && last < MAX_SYMBOLS && !(link & 1); last++) {
		r = elf_source_read(&image->source, &link, sizeof(link),
				    at + (uint64_t)(last - header.first) * sizeof(link));
		if (r < 0)
			return r;
	}
	*ret_n = last;
	return 0;
}

static int count_symbols(const struct image *image, const struct dynamic *dynamic, uint32_t *ret_n)
{
	uint32_t header[2];
	int r;

	if (!dynamic->hash)
		return dynamic->gnu_hash ? count_gnu(image, dynamic->gnu_hash, ret_n) : -ENODATA;
	r = elf_source_read(&image->source, header, sizeof(header), dynamic->hash);
	if (r < 0)
		return r;
	*ret_n = header[1] < MAX_SYMBOLS ? header[1] : MAX_SYMBOLS;
	return 0;
}

static int add_symbols(const struct image *image, const Elf64_Sym *symbols, uint32_t n_symbols,
		       const char *strings, uint64_t strings_bytes, struct symbol_table *table)
{
	int n_added = 0;

	for (uint32_t i = 0; i < n_symbols; i++) {
		const Elf64_Sym *symbol = &symbols[i];
		unsigned type = ELF64_ST_TYPE(symbol->st_info);
		struct symbol_entry entry = {.addr = symbol->st_value,
					     .size = symbol->st_size,
					     .limit = symbol->st_value + 1};
		int r;

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
		    symbol->st_name >= strings_bytes ||
		    !elf_head_executable(&image->head, symbol->st_value))
			continue;
		entry.name = strings + symbol->st_name;
		entry.name_len = strnlen(entry.name, strings_bytes - symbol->st_name);
		if (entry.name_len == strings_bytes - symbol->st_name)
			continue;
		entry.rank = elf_symbol_rank(symbol->st_info, entry.name);
		r = symbol_table_add(table, &entry);
		if (r < 0)
			return r;
		n_added++;
	}
	return n_added;
}

int image_symbols(const struct image *image, struct symbol_table *table)
{
	_cleanup_free_ Elf64_Sym *symbols = NULL;
	_cleanup_free_ char *strings = NULL;
	struct dynamic dynamic;
	uint32_t n_symbols = 0;
	int r = read_dynamic(image, &dynamic);

	if (r == 0)
		r = count_symbols(image, &dynamic, &n_symbols);
	if (r < 0)
		return r;
	if (n_symbols == 0)
		return -ENODATA;
	symbols = calloc(n_symbols, sizeof(*symbols));
	strings = malloc((size_t)dynamic.strings_bytes);
	if (!symbols || !strings)
		return -ENOMEM;
	r = elf_source_read(&image->source, symbols, n_symbols * sizeof(*symbols), dynamic.symbols);
	if (r == 0)
		r = elf_source_read(&image->source, strings, (size_t)dynamic.strings_bytes,
				    dynamic.strings);
	if (r < 0)
		return r;
	return add_symbols(image, symbols, n_symbols, strings, dynamic.strings_bytes, table);
}
