/* symbols.c - dynamic symbols of a module in another process's memory */
#include "sampler/collector/context/symbols.h"

#include "base/io.h"
#include "sampler/procfs/proc_maps.h"

#include <elf.h>
#include <string.h>

enum {
	MAX_DYNAMIC = 256,
	MAX_CHAIN = 1024, /* a real chain has a few */
	MAX_NAME = 64,
};

bool module_memory(int mem_fd, uint64_t address, void *to, size_t len)
{
	return address < USER_ADDRESS_END && io_pread(mem_fd, to, len, address) == (ssize_t)len;
}

/* glibc relocates these words in place; musl leaves them as in the file. */
static uint64_t placed(const struct module_symbols *symbols, uint64_t value)
{
	return value < symbols->bias ? value + symbols->bias : value;
}

static void take_dynamic(struct module_symbols *symbols, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		symbols->symbols = placed(symbols, entry->d_un.d_ptr);
		break;
	case DT_STRTAB:
		symbols->strings = placed(symbols, entry->d_un.d_ptr);
		break;
	case DT_STRSZ:
		symbols->strings_bytes = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		symbols->gnu_hash = placed(symbols, entry->d_un.d_ptr);
		break;
	case DT_HASH:
		symbols->hash = placed(symbols, entry->d_un.d_ptr);
		break;
	case DT_DEBUG:
		symbols->debug = entry->d_un.d_ptr;
		break;
	default:
		break;
	}
}

bool module_symbols_read(struct module_symbols *ret_symbols, int mem_fd, uint64_t bias,
			 uint64_t dynamic)
{
	struct module_symbols symbols = {.mem_fd = mem_fd, .bias = bias};
	Elf64_Dyn entries[MAX_DYNAMIC];
	ssize_t n = dynamic < USER_ADDRESS_END ? io_pread(mem_fd, entries, sizeof(entries), dynamic)
					       : 0;

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(entries[0]); i++) {
		if (entries[i].d_tag == DT_NULL)
			break;
		take_dynamic(&symbols, &entries[i]);
	}
	*ret_symbols = symbols;
	return symbols.symbols && symbols.strings && (symbols.gnu_hash || symbols.hash);
}

/* Whether the symbol with this index is the one that is searched. */
static bool is_it(const struct module_symbols *symbols, uint32_t index, const char *name,
		  unsigned type, uint64_t *ret_value)
{
	size_t len = strlen(name) + 1;
	char text[MAX_NAME];
	Elf64_Sym symbol;

	if (!module_memory(symbols->mem_fd, symbols->symbols + index * sizeof(symbol), &symbol,
			   sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != type ||
	    symbol.st_name >= symbols->strings_bytes ||
	    symbols->strings_bytes - symbol.st_name < len || len > sizeof(text))
		return false;
	if (!module_memory(symbols->mem_fd, symbols->strings + symbol.st_name, text, len) ||
	    memcmp(text, name, len) != 0)
		return false;
	*ret_value = symbol.st_value;
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
static bool may_have(const struct module_symbols *symbols, const struct gnu_hash *table,
		     uint32_t hash)
{
	uint64_t word;
	uint64_t at = symbols->gnu_hash + sizeof(*table);

	if (!table->n_bloom || table->shift > 31)
		return false;
	if (!module_memory(symbols->mem_fd, at + 8 * (uint64_t)(hash / 64 % table->n_bloom), &word,
			   sizeof(word)))
		return false;
	return word >> hash % 64 & word >> (hash >> table->shift) % 64 & 1;
}

static bool find_by_gnu_hash(const struct module_symbols *symbols, const char *name, unsigned type,
			     uint64_t *ret_value)
{
	uint32_t hash = gnu_hash_of(name);
	struct gnu_hash table;
	uint64_t buckets;
	uint32_t index;
	uint32_t word;

	if (!module_memory(symbols->mem_fd, symbols->gnu_hash, &table, sizeof(table)) ||
	    !table.n_buckets || !may_have(symbols, &table, hash))
		return false;
	buckets = symbols->gnu_hash + sizeof(table) + 8 * (uint64_t)table.n_bloom;
	if (!module_memory(symbols->mem_fd, buckets + 4 * (uint64_t)(hash % table.n_buckets),
			   &index, sizeof(index)) ||
	    index < table.first)
		return false;
	for (size_t i = 0; i < MAX_CHAIN; i++, index++) {
		uint64_t at = buckets + 4 * ((uint64_t)table.n_buckets + index - table.first);

		if (!module_memory(symbols->mem_fd, at, &word, sizeof(word)))
			return false;
		if ((word | 1) == (hash | 1) && is_it(symbols, index, name, type, ret_value))
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

static bool find_by_hash(const struct module_symbols *symbols, const char *name, unsigned type,
			 uint64_t *ret_value)
{
	uint32_t table[2]; /* buckets, chains */
	uint64_t at = symbols->hash + sizeof(table);
	uint32_t index;

	if (!module_memory(symbols->mem_fd, symbols->hash, table, sizeof(table)) || !table[0])
		return false;
	if (!module_memory(symbols->mem_fd, at + 4 * (uint64_t)(sysv_hash_of(name) % table[0]),
			   &index, sizeof(index)))
		return false;
	for (size_t i = 0; i < MAX_CHAIN && index && index < table[1]; i++) {
		if (is_it(symbols, index, name, type, ret_value))
			return true;
		if (!module_memory(symbols->mem_fd, at + 4 * ((uint64_t)table[0] + index), &index,
				   sizeof(index)))
			return false;
	}
	return false;
}

bool module_symbols_find(const struct module_symbols *symbols, const char *name, unsigned type,
			 uint64_t *ret_value)
{
	return symbols->gnu_hash ? find_by_gnu_hash(symbols, name, type, ret_value)
				 : find_by_hash(symbols, name, type, ret_value);
}
