/*
 * wick_note.c - the note of each module leads to what it says, however the module was linked
 *
 * Strict C99.  Every call of wick.h is made once, so that it is seen to compile and to do no harm.
 * "wick_note LIBRARY" loads a library as well, whose note is looked at too, and has it record.
 */
#include "sampler/include/wick.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static int found;

struct note_desc {
	int64_t anchor;
	int64_t thread; /* below 0: from the thread pointer, as lld has it in executables */
	int64_t otel;
};

int wick_note_use(void);

/* This module's calls; whether its thread's variables stand where its note says. */
int wick_note_use(void)
{
	struct wick_request request;
	struct wick_context context;
	struct wick_scope scope;
	struct wick_span span;
	struct wick_task task;
	struct wick_task other;
	char text[56];

	WICK_PROFILE_FN;
	wick_gauge_set("one", 1);
	wick_request_begin(&request, "GET /users");
	wick_traceparent_write(&request.own, text);
	if (wick_traceparent_parse(&context, text) != 0)
		return 1;
	(void)wick_context_set(wick_context_get());
	WICK_TIER("db")
	{
		scope = wick_tier_enter("cache");
		wick_scope_leave(&scope);
	}
	span = wick_span_begin("queue", wick_context_get());
	wick_span_end(&span);
	wick_profile_start();
	wick_profile_stop();
	wick_task_create(&task, 0);
	wick_task_create(&other, "other");
	wick_task_run(&task);
	wick_task_switch(&task, &other);
	wick_task_suspend(&other);
	wick_task_finish(&other, WICK_FAILED);
	wick_task_finish(&task, WICK_CANCELLED);
	wick_request_end(&request);
	return wick_state_1.misuse[WICK_MISUSE_REQUEST_END] != 0 || wick_state_1.tables == 0;
}

/* Where a variable of this thread is by its offset in a note. */
static const void *variable(const char *tls, int64_t offset)
{
	const char *thread_pointer;

	__asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
	return (offset < 0 ? thread_pointer : tls) + offset;
}

static void look_at(const struct dl_phdr_info *info, const char *desc)
{
	struct note_desc note;
	const struct wick_anchor *anchor;
	const char *tls = (const char *)info->dlpi_tls_data;

	memcpy(&note, desc, sizeof(note));
	anchor = (const struct wick_anchor *)(desc + note.anchor);
	if (anchor->abi != WICK_TABLES_ABI || anchor->state->bytes != sizeof(struct wick_state))
		return;
	/* A module whose variables another module's stand for has some of its own, unused. */
	if (anchor == &wick_anchor_1 &&
	    (!tls || variable(tls, note.thread) != (const void *)&wick_thread_1 ||
	     variable(tls, note.otel) != (const void *)&otel_thread_ctx_v1))
		return;
	found++;
}

static int look_through(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const char *at = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		const char *end = at + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		while (at + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			const char *name = at + sizeof(*note);
			const char *desc = name + ((note->n_namesz + 3) & ~3U);

			if (note->n_type == 0x74 && strcmp(name, "wick") == 0)
				look_at(info, desc);
			at = desc + ((note->n_descsz + 3) & ~3U);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? 2 : 1;

	wick_state_1.session = 1;
	wick_state_1.clock = 2;
	wick_state_1.mult = UINT64_C(1) << 32;
	wick_state_1.until = UINT64_MAX;
	if (wick_note_use() != 0)
		return 1;
#ifndef WICK_NOTE_STATIC
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) {
		printf("%s\n", dlerror());
		return 1;
	}
#endif
	(void)argv;
	(void)dl_iterate_phdr(look_through, 0);
	if (found != wanted)
		printf("%d notes of %d lead to what they say\n", found, wanted);
	return found != wanted;
}
