/* target_elf.c - reads memory and symbols of another process; every size in it is bounded */
#include "sampler/attach/target_elf.h"

#include "base/elf_segments.h"
#include "sampler/wire/attach.h"

#include <string.h>
#include <sys/uio.h>

enum {
	MAX_DYNAMIC = 256,
	MAX_CHAIN = 1024, /* a real chain has a few */
	MAX_NAME = 64,
	MAX_NOTES = 4096,
	ADDRESS_BITS = 56,
};

bool target_read(pid_t pid, uint64_t address, void *to, size_t len)
{
	struct iovec local = {.iov_base = to, .iov_len = len};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = len};

	return !(address >> ADDRESS_BITS) &&
	       process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool copy(void *context, uint64_t address, void *to, size_t len)
{
	return target_read(*(const pid_t *)context, address, to, len);
}

/* glibc relocates these words in place; musl leaves them as in the file. */
static uint64_t placed(uint64_t value, uint64_t bias)
{
	return value < bias ? value + bias : value;
}

static void take_dynamic(struct target_symbols *symbols, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		symbols->symbols = placed(entry->d_un.d_ptr, symbols->bias);
		break;
	case DT_STRTAB:
		symbols->strings = placed(entry->d_un.d_ptr, symbols->bias);
		break;
	case DT_STRSZ:
		symbols->strings_bytes = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		symbols->gnu_hash = placed(entry->d_un.d_ptr, symbols->bias);
		break;
	case DT_HASH:
		symbols->hash = placed(entry->d_un.d_ptr, symbols->bias);
		break;
	default:
		break;
	}
}

static void read_dynamic(struct target_symbols *symbols, const Elf64_Phdr *segment)
{
	uint64_t at = symbols->bias + segment->p_vaddr;
	Elf64_Dyn entry;

	for (size_t i = 0; i < MAX_DYNAMIC && i < segment->p_memsz / sizeof(entry); i++) {
		if (!target_read(symbols->pid, at + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return;
		take_dynamic(symbols, &entry);
	}
}

bool target_symbols_open(struct target_symbols *ret_symbols, pid_t pid, uint64_t base)
{
	struct target_symbols symbols = {.pid = pid};
	struct elf_segments segments;

	if (!elf_segments_read(&segments, base, copy, &pid))
		return false;
	symbols.bias = segments.bias;
	for (size_t i = 0; i < segments.n; i++)
		if (segments.at[i].p_type == PT_DYNAMIC)
			read_dynamic(&symbols, &segments.at[i]);
	*ret_symbols = symbols;
	return symbols.symbols && symbols.strings && (symbols.gnu_hash || symbols.hash);
}

struct found {
	uint64_t address;
	uint64_t bytes;
};

/* Whether the symbol with this index is the wanted function. */
static bool is_it(const struct target_symbols *symbols, uint32_t index, const char *name,
		  struct found *ret_found)
{
	size_t len = strlen(name) + 1;
	char text[MAX_NAME];
	Elf64_Sym symbol;

	if (!target_read(symbols->pid, symbols->symbols + index * sizeof(symbol), &symbol,
			 sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
	    symbol.st_name >= symbols->strings_bytes ||
	    symbols->strings_bytes - symbol.st_name < len || len > sizeof(text))
		return false;
	if (!target_read(symbols->pid, symbols->strings + symbol.st_name, text, len) ||
	    memcmp(text, name, len) != 0)
		return false;
	*ret_found =
		(struct found){.address = symbols->bias + symbol.st_value, .bytes = symbol.st_size};
	return true;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static struct found find_by_gnu_hash(const struct target_symbols *symbols, const char *name)
{
	struct {
		uint32_t n_buckets;
		uint32_t first;
		uint32_t n_bloom;
		uint32_t shift;
	} table;
	uint32_t hash = gnu_hash_of(name);
	uint64_t buckets;
	const struct found none = {0};
	struct found found;
	uint32_t index;
	uint32_t word;

	if (!target_read(symbols->pid, symbols->gnu_hash, &table, sizeof(table)) ||
	    !table.n_buckets)
		return none;
	buckets = symbols->gnu_hash + sizeof(table) + 8 * (uint64_t)table.n_bloom;
	if (!target_read(symbols->pid, buckets + 4 * (uint64_t)(hash % table.n_buckets), &index,
			 sizeof(index)) ||
	    index < table.first)
		return none;
	for (size_t i = 0; i < MAX_CHAIN; i++, index++) {
		uint64_t at = buckets + 4 * ((uint64_t)table.n_buckets + index - table.first);

		if (!target_read(symbols->pid, at, &word, sizeof(word)))
			return none;
		if ((word | 1) == (hash | 1) && is_it(symbols, index, name, &found))
			return found;
		if (word & 1)
			return none;
	}
	return none;
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

static struct found find_by_hash(const struct target_symbols *symbols, const char *name)
{
	uint32_t table[2]; /* buckets, chains */
	const struct found none = {0};
	struct found found;
	uint32_t index;

	if (!target_read(symbols->pid, symbols->hash, table, sizeof(table)) || !table[0])
		return none;
	if (!target_read(symbols->pid,
			 symbols->hash + 8 + 4 * (uint64_t)(sysv_hash_of(name) % table[0]), &index,
			 sizeof(index)))
		return none;
	for (size_t i = 0; i < MAX_CHAIN && index && index < table[1]; i++) {
		if (is_it(symbols, index, name, &found))
			return found;
		if (!target_read(symbols->pid, symbols->hash + 8 + 4 * ((uint64_t)table[0] + index),
				 &index, sizeof(index)))
			return none;
	}
	return none;
}

uint64_t target_symbols_sized(const struct target_symbols *symbols, const char *name,
			      uint64_t *ret_bytes)
{
	struct found found =
		symbols->gnu_hash ? find_by_gnu_hash(symbols, name) : find_by_hash(symbols, name);

	*ret_bytes = found.bytes;
	return found.address;
}

uint64_t target_symbols_find(const struct target_symbols *symbols, const char *name)
{
	uint64_t bytes;

	return target_symbols_sized(symbols, name, &bytes);
}

/* Address of the note's description, in LEN bytes at ADDRESS. */
static uint64_t note_in(const unsigned char *bytes, size_t len, uint64_t address,
			struct attach_note *ret_note)
{
	struct elf_notes notes = {.bytes = bytes, .len = len, .align = 4};
	struct elf_note note;

	while (elf_notes_next(&notes, &note)) {
		if (!elf_note_is(&note, ATTACH_NOTE_OWNER, ATTACH_NOTE) ||
		    note.desc_len != sizeof(*ret_note))
			continue;
		memcpy(ret_note, note.desc, sizeof(*ret_note));
		return address + (uint64_t)(note.desc - bytes);
	}
	return 0;
}

uint64_t target_attach_note(pid_t pid, uint64_t base, uint32_t *ret_version, uint32_t *ret_signal)
{
	unsigned char notes[MAX_NOTES];
	struct elf_segments segments;
	struct attach_note note;

	if (!elf_segments_read(&segments, base, copy, &pid))
		return 0;
	for (size_t i = 0; i < segments.n; i++) {
		const Elf64_Phdr *segment = &segments.at[i];
		uint64_t at = segments.bias + segment->p_vaddr;
		size_t len = segment->p_memsz < sizeof(notes) ? segment->p_memsz : sizeof(notes);
		uint64_t found = 0;

		if (segment->p_type == PT_NOTE && target_read(pid, at, notes, len))
			found = note_in(notes, len, at, &note);
		if (!found)
			continue;
		*ret_version = note.version;
		if (!target_read(pid,
				 found + offsetof(struct attach_note, signal) +
					 (uint64_t)note.signal,
				 ret_signal, sizeof(*ret_signal)))
			*ret_signal = 0;
		return found + offsetof(struct attach_note, enter) + (uint64_t)note.enter;
	}
	return 0;
}
