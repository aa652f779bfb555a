/*
 * elf_dynamic.c - dynamic symbols of a module in another process's memory
 *
 * Tables are those of the System V ABI (DT_HASH) and of the GNU linker (DT_GNU_HASH).
 */
#include "base/elf_dynamic.h"

#include <string.h>

enum {
	ENTRIES_AT_ONCE = 16,
	MAX_CHAIN = 1024, /* a real chain has a few */
	MAX_NAME = 64,
};

/* What is searched. */
struct search {
	const struct elf_dynamic *dynamic;
	const struct elf_memory *memory;
	const char *name;
	unsigned type;
};

static bool copy(const struct elf_memory *memory, uint64_t address, void *to, size_t len)
{
	return memory->read(memory->context, address, to, len);
}

/* glibc relocates these words in place; musl leaves them as in the file. */
static uint64_t placed(const struct elf_dynamic *dynamic, uint64_t value)
{
	return value < dynamic->bias ? value + dynamic->bias : value;
}

static void take_entry(struct elf_dynamic *dynamic, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		dynamic->symbols = placed(dynamic, entry->d_un.d_ptr);
		break;
	case DT_STRTAB:
		dynamic->strings = placed(dynamic, entry->d_un.d_ptr);
		break;
	case DT_STRSZ:
		dynamic->strings_bytes = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		dynamic->gnu_hash = placed(dynamic, entry->d_un.d_ptr);
		break;
	case DT_HASH:
		dynamic->hash = placed(dynamic, entry->d_un.d_ptr);
		break;
	case DT_DEBUG:
		dynamic->debug = entry->d_un.d_ptr;
		break;
	default:
		break;
	}
}

bool elf_dynamic_read(struct elf_dynamic *ret_dynamic, const struct elf_memory *memory,
		      uint64_t bias, uint64_t section, size_t bytes)
{
	struct elf_dynamic dynamic = {.bias = bias};
	Elf64_Dyn entries[ENTRIES_AT_ONCE];
	size_t left = (bytes < ELF_DYNAMIC_BYTES ? bytes : ELF_DYNAMIC_BYTES) / sizeof(entries[0]);
	size_t at_once = ENTRIES_AT_ONCE;
	bool ended = false;

	while (left > 0 && !ended) {
		size_t n = left < at_once ? left : at_once;

		if (!copy(memory, section, entries, n * sizeof(entries[0]))) {
			/* A section may end with its mapping: one entry after the other. */
			ended = n == 1;
			at_once = 1;
			continue;
		}
		for (size_t i = 0; i < n && !ended; i++) {
			ended = entries[i].d_tag == DT_NULL;
			take_entry(&dynamic, &entries[i]);
		}
		section += n * sizeof(entries[0]);
		left -= n;
	}
	*ret_dynamic = dynamic;
	return dynamic.symbols && dynamic.strings && (dynamic.gnu_hash || dynamic.hash);
}

/* Whether the symbol with this index is the one that is searched. */
static bool is_it(const struct search *search, uint32_t index, Elf64_Sym *ret_symbol)
{
	const struct elf_dynamic *dynamic = search->dynamic;
	size_t len = strlen(search->name) + 1;
	char text[MAX_NAME];
	Elf64_Sym symbol;

	if (!copy(search->memory, dynamic->symbols + index * sizeof(symbol), &symbol,
		  sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != search->type ||
	    symbol.st_name >= dynamic->strings_bytes ||
	    dynamic->strings_bytes - symbol.st_name < len || len > sizeof(text))
		return false;
	if (!copy(search->memory, dynamic->strings + symbol.st_name, text, len) ||
	    memcmp(text, search->name, len) != 0)
		return false;
	*ret_symbol = symbol;
	return true;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* DT_GNU_HASH: head, Bloom filter, buckets, and a word for each symbol from `first` on. */
struct gnu_hash {
	uint32_t n_buckets;
	uint32_t first;
	uint32_t n_bloom;
	uint32_t shift;
};

/* Most modules define none of the names: the Bloom filter says so after one read. */
static bool may_have(const struct search *search, const struct gnu_hash *table, uint32_t hash)
{
	uint64_t at = search->dynamic->gnu_hash + sizeof(*table);
	uint64_t word;

	if (!table->n_bloom || table->shift > 31)
		return false;
	if (!copy(search->memory, at + 8 * (uint64_t)(hash / 64 % table->n_bloom), &word,
		  sizeof(word)))
		return false;
	return word >> hash % 64 & word >> (hash >> table->shift) % 64 & 1;
}

static bool find_by_gnu_hash(const struct search *search, Elf64_Sym *ret_symbol)
{
	uint32_t hash = gnu_hash_of(search->name);
	struct gnu_hash table;
	uint64_t buckets;
	uint32_t index;
	uint32_t word;

	if (!copy(search->memory, search->dynamic->gnu_hash, &table, sizeof(table)) ||
	    !table.n_buckets || !may_have(search, &table, hash))
		return false;
	buckets = search->dynamic->gnu_hash + sizeof(table) + 8 * (uint64_t)table.n_bloom;
	if (!copy(search->memory, buckets + 4 * (uint64_t)(hash % table.n_buckets), &index,
		  sizeof(index)) ||
	    index < table.first)
		return false;
	for (size_t i = 0; i < MAX_CHAIN; i++, index++) {
		uint64_t at = buckets + 4 * ((uint64_t)table.n_buckets + index - table.first);

		if (!copy(search->memory, at, &word, sizeof(word)))
			return false;
		if ((word | 1) == (hash | 1) && is_it(search, index, ret_symbol))
			return true;
		if (word & 1)
			return false;
	}
	return false;
}

static uint32_t sysv_hash_of(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

static bool find_by_hash(const struct search *search, Elf64_Sym *ret_symbol)
{
	uint32_t table[2]; /* buckets, chains */
	uint64_t at = search->dynamic->hash + sizeof(table);
	uint32_t index;

	if (!copy(search->memory, search->dynamic->hash, table, sizeof(table)) || !table[0])
		return false;
	if (!copy(search->memory, at + 4 * (uint64_t)(sysv_hash_of(search->name) % table[0]),
		  &index, sizeof(index)))
		return false;
	for (size_t i = 0; i < MAX_CHAIN && index && index < table[1]; i++) {
		if (is_it(search, index, ret_symbol))
			return true;
		if (!copy(search->memory, at + 4 * ((uint64_t)table[0] + index), &index,
			  sizeof(index)))
			return false;
	}
	return false;
}

bool elf_dynamic_find(const struct elf_dynamic *dynamic, const struct elf_memory *memory,
		      const char *name, unsigned type, Elf64_Sym *ret_symbol)
{
	const struct search search = {
		.dynamic = dynamic, .memory = memory, .name = name, .type = type};

	if (dynamic->gnu_hash)
		return find_by_gnu_hash(&search, ret_symbol);
	return dynamic->hash && find_by_hash(&search, ret_symbol);
}
