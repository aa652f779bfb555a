/* target_elf.c - reads memory and symbols of another process; every size in it is bounded */
#include "sampler/attach/target_elf.h"

#include "base/elf_segments.h"
#include "sampler/wire/attach.h"

#include <string.h>
#include <sys/uio.h>

enum {
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

bool target_symbols_open(struct target_symbols *ret_symbols, pid_t pid, uint64_t base)
{
	const struct elf_memory memory = {.read = copy, .context = &pid};
	struct target_symbols symbols = {.pid = pid};
	struct elf_segments segments;
	bool found = false;

	if (!elf_segments_read(&segments, base, copy, &pid))
		return false;
	for (size_t i = 0; i < segments.n; i++)
		if (segments.at[i].p_type == PT_DYNAMIC)
			found = elf_dynamic_read(&symbols.dynamic, &memory, segments.bias,
						 segments.bias + segments.at[i].p_vaddr,
						 segments.at[i].p_memsz);
	*ret_symbols = symbols;
	return found;
}

uint64_t target_symbols_sized(const struct target_symbols *symbols, const char *name,
			      uint64_t *ret_bytes)
{
	pid_t pid = symbols->pid;
	const struct elf_memory memory = {.read = copy, .context = &pid};
	Elf64_Sym symbol;

	*ret_bytes = 0;
	if (!elf_dynamic_find(&symbols->dynamic, &memory, name, STT_FUNC, &symbol))
		return 0;
	*ret_bytes = symbol.st_size;
	return symbols->dynamic.bias + symbol.st_value;
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
