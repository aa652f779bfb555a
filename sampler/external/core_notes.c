/* core_notes.c - what the notes of a core file say: threads, files, the process */
#include "base/io.h"
#include "sampler/external/core_internal.h"
#include "sampler/external/limits.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

enum { NARROW_CODE = 0x23, NOTE_ALIGN = 4 };

/* A note's content. */
struct note {
	uint32_t type;
	uint64_t at; /* in the file */
	uint32_t len;
};

static uint64_t align(uint64_t n)
{
	return (n + NOTE_ALIGN - 1) & ~(uint64_t)(NOTE_ALIGN - 1);
}

static bool read_all(const struct core *core, uint64_t at, void *to, size_t len)
{
	return io_pread(core->fd, to, len, at) == (ssize_t)len;
}

static struct core_thread *add_thread(struct core *core)
{
	struct core_thread *threads = core->threads;

	if (core->n_threads == core->threads_size) {
		size_t size = core->threads_size ? core->threads_size * 2 : 64;

		threads = realloc(threads, size * sizeof(*threads));
		if (!threads)
			return NULL;
		core->threads = threads;
		core->threads_size = size;
	}
	return &threads[core->n_threads++];
}

static int take_thread(struct core *core, const struct note *note)
{
	struct user_regs_struct regs;
	struct elf_prstatus status;
	struct core_thread *thread;

	if (note->len < sizeof(status) || core->n_threads == STACKS_MOST_THREADS ||
	    !read_all(core, note->at, &status, sizeof(status)))
		return 0;
	thread = add_thread(core);
	if (!thread)
		return -ENOMEM;
	_Static_assert(sizeof(regs) == sizeof(status.pr_reg), "the same registers");
	memcpy(&regs, &status.pr_reg, sizeof(regs));
	*thread = (struct core_thread){
		.tid = (uint32_t)status.pr_pid,
		.signal = status.pr_cursig,
		.narrow = regs.cs == NARROW_CODE,
		.regs = {.pc = regs.rip, .sp = regs.rsp, .bp = regs.rbp, .bx = regs.rbx}};
	return 0;
}

static int take_process(struct core *core, const struct note *note)
{
	struct elf_prpsinfo info;
	size_t n = sizeof(info.pr_fname) < sizeof(core->comm) ? sizeof(info.pr_fname)
							      : sizeof(core->comm);

	if (note->len < sizeof(info) || !read_all(core, note->at, &info, sizeof(info)))
		return 0;
	core->pid = info.pr_pid > 0 ? info.pr_pid : 0;
	memcpy(core->comm, info.pr_fname, n);
	core->comm[sizeof(core->comm) - 1] = '\0';
	return 0;
}

static int take_auxv(struct core *core, const struct note *note)
{
	Elf64_auxv_t entry;
	uint64_t n = note->len / sizeof(entry);

	for (uint64_t i = 0; i < n && i < CORE_MOST_AUXV; i++) {
		if (!read_all(core, note->at + i * sizeof(entry), &entry, sizeof(entry)))
			return 0;
		if (entry.a_type == AT_ENTRY)
			core->entry = entry.a_un.a_val;
	}
	return 0;
}

static int take_note(struct core *core, const struct note *note)
{
	int r;

	switch (note->type) {
	case NT_PRSTATUS:
		return take_thread(core, note);
	case NT_PRPSINFO:
		return take_process(core, note);
	case NT_AUXV:
		return take_auxv(core, note);
	case NT_FILE:
		/* The second list is nobody's: the first one stands. */
		r = core->n_ranges ? 0 : core_files_read(core, note->at, note->len);
		return r == -ENOMEM ? r : 0;
	default:
		return 0;
	}
}

/* "CORE" is the kernel's; other names have numbers of their own. */
static bool is_core_note(const struct core *core, uint64_t at, uint32_t len)
{
	static const char core_name[] = "CORE";
	char name[sizeof(core_name)];

	return len == sizeof(name) && read_all(core, at, name, sizeof(name)) &&
	       memcmp(name, core_name, sizeof(name)) == 0;
}

int core_notes_read(struct core *core, uint64_t offset, uint64_t len)
{
	Elf64_Nhdr head;
	int r = 0;

	/* Segments may be many, and be the same bytes: what is read is bounded for all together. */
	while (r == 0 && len >= sizeof(head) && core->n_notes++ < CORE_MOST_NOTES) {
		uint64_t room = len - sizeof(head);
		uint64_t name;
		uint64_t step;

		if (!read_all(core, offset, &head, sizeof(head)))
			return 0;
		name = align(head.n_namesz);
		if (name > room || head.n_descsz > room - name)
			return 0;
		offset += sizeof(head);
		if (is_core_note(core, offset, head.n_namesz)) {
			const struct note note = {head.n_type, offset + name, head.n_descsz};

			r = take_note(core, &note);
		}
		step = name + align(head.n_descsz);
		offset += step;
		len = step < room ? room - step : 0;
	}
	return r;
}
