/* contexts.c - the variables in which threads of one process say whose work they do, and labels of
 * samples */
#include "sampler/collector/context/contexts.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/map.h"
#include "base/units.h"
#include "sampler/collector/context/blocked_context.h"
#include "sampler/collector/context/key_map.h"
#include "sampler/collector/context/labels.h"
#include "sampler/collector/context/loader.h"
#include "sampler/procfs/proc.h"
#include "sampler/wire/tables.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FOLLOW_MS = 200,   /* between two reads of the loader's list */
	FOLLOW_PART = 500, /* the part of a processor that they may take */
	KEYS_MS = 100,     /* between two reads of names of attributes, for one without a name */
	KEYS_PART = 50,
	RECENT = 16,     /* variables that records in a ring may still be of: a power of two */
	CANDIDATES = 64, /* variables of all formats */
	LABELS_ABI = 1,
};

struct found_variable {
	struct context_variable how; /* without a serial */
	size_t module;               /* its number in link order */
	bool wick;       /* of a module with wick.h's note: its keys are enum context_key */
	uint64_t anchor; /* then: address of its struct tables_anchor */
};

/* A variable that was posted. */
struct posted {
	uint32_t serial; /* 0: none */
	bool wick;
	uint64_t anchor;
};

struct contexts {
	pid_t pid;
	int mem_fd; /* the program's memory until it calls exec */
	struct loader loader;
	struct found_variable variables[CONTEXT_VARIABLES];
	size_t n;
	size_t n_kept; /* modules that are never unloaded: the program, and what it needs */
	struct context_variable shown[CONTEXT_VARIABLES];
	uint32_t serial;  /* the last one that was given */
	uint32_t unloads; /* as last seen */
	struct posted recent[RECENT];
	struct key_map keys;
	struct map identities; /* names by number: numbers are never given again */
	struct label_words words;
	uint64_t follow_ns; /* when the list is read next */
	uint64_t keys_ns;   /* when names are */
};

struct candidates {
	struct found_variable at[CANDIDATES];
	size_t n;
	/* The program exports the variable: what later modules define of that name is not used. */
	bool is_the_programs[2]; /* otel_thread_ctx_v1, wick_thread_1 */
};

/* A module, and its note if it has wick.h's. */
struct noted {
	struct found_variable module;
	struct tables_note note;
};

/* OFFSET: in the module's block.  lld, when it links a program, makes the offset in a note one from
 * the thread pointer: it is below 0. */
static void add_candidate(struct candidates *to, enum context_format format,
			  const struct loader_tls *tls, int64_t offset,
			  const struct found_variable *module)
{
	struct found_variable *at = &to->at[to->n];
	static const struct loader_tls from_pointer = {.place = CONTEXT_TP};

	if (to->n == CANDIDATES || offset > INT32_MAX || offset < INT32_MIN)
		return;
	if (offset < 0)
		tls = &from_pointer;
	*at = *module;
	at->how = (struct context_variable){
		.place = tls->place,
		.format = (uint16_t)format,
		/* wick.h never unmaps a table. */
		.flags = format == CONTEXT_OTEL && module->wick ? CONTEXT_STAYS : 0,
		.module = tls->module,
		.offset = tls->offset + offset,
	};
	to->n++;
}

/* The file names that the ABI of custom-labels v1 lets a library have. */
static bool may_have_labels(const char *name)
{
	static const char prefix[] = "libcustomlabels";
	size_t len = strlen(name);

	if (name[0] == '\0' || strcmp(name, "customlabels.node") == 0)
		return true;
	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && len > 3 &&
	       strcmp(name + len - 3, ".so") == 0;
}

static void add_labels(struct candidates *to, const struct loader *loader,
		       const struct loader_module *module, const struct elf_dynamic *dynamic,
		       const struct loader_tls *tls)
{
	const struct found_variable none = {.module = (size_t)(module - loader->at)};
	char name[LOADER_NAME_BYTES];
	uint64_t offset;
	uint64_t at;
	uint32_t abi;

	if (!loader_symbol(loader, dynamic, "custom_labels_current_set", STT_TLS, &offset) ||
	    !loader_symbol(loader, dynamic, "custom_labels_abi_version", STT_OBJECT, &at) ||
	    !proc_memory_copy(loader->mem_fd, dynamic->bias + at, &abi, sizeof(abi)) ||
	    abi != LABELS_ABI)
		return;
	loader_name(loader, module, name);
	if (offset <= INT32_MAX && (module == loader->at || may_have_labels(name)))
		add_candidate(to, CONTEXT_LABELS, tls, (int64_t)offset, &none);
}

/* A variable that a module has by name in its dynamic symbols, or else by wick.h's note. */
static void add_named(struct candidates *to, enum context_format format,
		      const struct loader *loader, const struct elf_dynamic *dynamic,
		      const struct loader_tls *tls, const struct noted *noted)
{
	bool *is_the_programs = &to->is_the_programs[format == CONTEXT_WICK];
	const char *name = format == CONTEXT_WICK ? "wick_thread_1" : "otel_thread_ctx_v1";
	uint64_t offset;

	if (loader_symbol(loader, dynamic, name, STT_TLS, &offset)) {
		if (!*is_the_programs)
			add_candidate(to, format, tls, (int64_t)offset, &noted->module);
		*is_the_programs |= noted->module.module == 0;
	} else if (noted->module.wick) {
		add_candidate(
			to, format, tls,
			(int64_t)(format == CONTEXT_WICK ? noted->note.thread : noted->note.otel),
			&noted->module);
	}
}

static void add_module(struct candidates *to, const struct loader *loader,
		       const struct loader_module *module)
{
	const size_t number = (size_t)(module - loader->at);
	struct noted noted = {.module.module = number};
	struct elf_dynamic dynamic;
	struct loader_tls tls;
	uint64_t at;

	if (!loader_tls(loader, module, &tls))
		return;
	if (!loader_dynamic(loader, module, &dynamic))
		dynamic = (struct elf_dynamic){0};
	if (loader_note(loader, module, TABLES_NOTE, &noted.note, sizeof(noted.note), &at)) {
		noted.module.wick = true;
		noted.module.anchor = at + (uint64_t)noted.note.anchor;
	}
	add_named(to, CONTEXT_OTEL, loader, &dynamic, &tls, &noted);
	add_labels(to, loader, module, &dynamic, &tls);
	if (noted.module.wick)
		add_named(to, CONTEXT_WICK, loader, &dynamic, &tls, &noted);
}

static size_t pick(const struct candidates *from, enum context_format format,
		   struct found_variable *ret_variables, size_t n)
{
	for (size_t i = 0; i < from->n && n < CONTEXT_VARIABLES; i++)
		if (from->at[i].how.format == format)
			ret_variables[n++] = from->at[i];
	return n;
}

/* OpenTelemetry's come first, in link order, then custom-labels v1, then wick.h's own. */
static size_t find_variables(const struct loader *loader,
			     struct found_variable ret_variables[CONTEXT_VARIABLES])
{
	struct candidates found = {0};
	size_t n;

	for (size_t i = 0; i < loader->n; i++)
		add_module(&found, loader, &loader->at[i]);
	n = pick(&found, CONTEXT_OTEL, ret_variables, 0);
	n = pick(&found, CONTEXT_LABELS, ret_variables, n);
	return pick(&found, CONTEXT_WICK, ret_variables, n);
}

static void flag_kept(struct contexts *contexts)
{
	for (size_t i = 0; i < contexts->n; i++)
		if (contexts->variables[i].module < contexts->n_kept)
			contexts->variables[i].how.flags |= CONTEXT_KEPT;
}

/* Return: whether they may be others. */
static bool search(struct contexts *contexts)
{
	struct loader loader;

	if (loader_read(&loader, contexts->pid, contexts->mem_fd) < 0)
		return false; /* it ends: what was posted stays */
	loader_release(&contexts->loader);
	contexts->loader = loader;
	contexts->n = find_variables(&loader, contexts->variables);
	flag_kept(contexts);
	return true;
}

int contexts_new(struct contexts **ret_contexts, pid_t pid, const char *const *gauges,
		 size_t n_gauges)
{
	struct contexts *contexts = calloc(1, sizeof(*contexts));
	char path[32];

	if (!contexts)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	contexts->pid = pid;
	contexts->n_kept = 1;
	contexts->words = (struct label_words){.gauges = gauges, .n_gauges = n_gauges};
	contexts->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (contexts->mem_fd < 0 || !search(contexts)) {
		int r = contexts->mem_fd < 0 ? -errno : -ENOENT;

		contexts_free(contexts);
		return r;
	}
	*ret_contexts = contexts;
	return 0;
}

void contexts_keep_modules(struct contexts *contexts)
{
	contexts->n_kept = contexts->loader.n;
	flag_kept(contexts);
}

void contexts_free(struct contexts *contexts)
{
	if (!contexts)
		return;
	cleanup_fd(&contexts->mem_fd);
	loader_release(&contexts->loader);
	key_map_release(&contexts->keys);
	map_free_values(&contexts->identities);
	map_release(&contexts->identities);
	free(contexts);
}

static bool same_variable(const struct context_variable *a, const struct context_variable *b)
{
	return a->place == b->place && a->format == b->format && a->flags == b->flags &&
	       a->module == b->module && a->offset == b->offset;
}

/* Readers check place and serial after the rest (handler/context.c). */
static void write_variable(struct context_variable *to, const struct context_variable *variable)
{
	_Atomic uint32_t *place = (_Atomic uint32_t *)&to->place;

	/* Acquire: the rest is not written before it. */
	(void)atomic_exchange_explicit(place, CONTEXT_NOWHERE, memory_order_acquire);
	to->format = variable->format;
	to->flags = variable->flags;
	to->module = variable->module;
	*(volatile uint32_t *)&to->serial = variable->serial;
	to->offset = variable->offset;
	/* Pairs with the acquire of the handler. */
	atomic_store_explicit(place, variable->place, memory_order_release);
}

void contexts_post(struct contexts *contexts, struct ring_header *header)
{
	for (size_t i = 0; i < CONTEXT_VARIABLES; i++) {
		struct context_variable *shown = &contexts->shown[i];
		const struct found_variable *found = &contexts->variables[i];

		if (i >= contexts->n) {
			if (shown->place)
				atomic_store_explicit(
					(_Atomic uint32_t *)&header->contexts[i].place,
					CONTEXT_NOWHERE, memory_order_release);
			*shown = (struct context_variable){0};
			continue;
		}
		if (same_variable(shown, &found->how))
			continue;
		*shown = found->how;
		shown->serial = ++contexts->serial ? contexts->serial : ++contexts->serial;
		contexts->recent[shown->serial % RECENT] = (struct posted){
			.serial = shown->serial, .wick = found->wick, .anchor = found->anchor};
		write_variable(&header->contexts[i], shown);
	}
}

bool contexts_follow(struct contexts *contexts, struct ring_header *header, uint64_t now_ns,
		     bool changed)
{
	/* Acquire: pairs with the agent's release; the list that is read next is later. */
	uint32_t unloads = atomic_load_explicit(&header->unloads, memory_order_acquire);
	struct loader loader;
	uint64_t begun_ns;
	bool same, found;

	if (!changed && now_ns < contexts->follow_ns && unloads == contexts->unloads &&
	    !loader_has_more(&contexts->loader))
		return false;
	begun_ns = io_thread_ns();
	same = loader_read(&loader, contexts->pid, contexts->mem_fd) < 0;
	if (!same) {
		same = loader_same(&loader, &contexts->loader);
		loader_release(&loader);
	}
	found = (!same || unloads != contexts->unloads) && search(contexts);
	if (found)
		contexts_post(contexts, header);
	contexts->unloads = unloads;
	/* Pairs with the handler's acquire: it sees what was posted. */
	atomic_store_explicit(&header->unloads_seen, unloads, memory_order_release);
	contexts->follow_ns =
		now_ns + FOLLOW_MS * NS_PER_MS + (io_thread_ns() - begun_ns) * FOLLOW_PART;
	return found;
}

static const struct posted *posted_as(const struct contexts *contexts, uint32_t serial)
{
	const struct posted *posted = &contexts->recent[serial % RECENT];

	return serial && posted->serial == serial ? posted : NULL;
}

/* An attribute has no name: the process may have published it since (OTEP 4947). */
static bool read_keys(struct contexts *contexts)
{
	uint64_t now_ns = io_now_ns();
	uint64_t begun_ns = io_thread_ns();

	if (now_ns < contexts->keys_ns)
		return false;
	(void)key_map_read(&contexts->keys, contexts->pid, contexts->mem_fd);
	contexts->keys_ns = now_ns + KEYS_MS * NS_PER_MS + (io_thread_ns() - begun_ns) * KEYS_PART;
	return true;
}

static void add_otel(struct contexts *contexts, const struct posted *posted,
		     const struct record_context *context, struct labels *labels)
{
	struct label_source source = {
		.wick = posted->wick, .keys = &contexts->keys, .words = &contexts->words};

	labels_of_otel(labels, &source, context->data, context->bytes);
	if (!source.unknown_key || !read_keys(contexts))
		return;
	*labels = (struct labels){0};
	labels_of_otel(labels, &source, context->data, context->bytes);
}

/* Return: address of the program's tables; 0: it has none yet, or of another layout. */
static uint64_t tables_of(int mem_fd, uint64_t anchor)
{
	struct tables_anchor at;
	struct tables_state state;

	if (!anchor || !proc_memory_copy(mem_fd, anchor, &at, sizeof(at)) || at.abi != TABLES_ABI ||
	    !proc_memory_copy(mem_fd, at.state, &state, sizeof(state)) || state.abi != TABLES_ABI)
		return 0;
	return state.tables;
}

/* Return: the name with this number, which is kept; NULL: there is none, or it cannot be read. */
static const char *find_identity(struct map *identities, int mem_fd, uint64_t anchor,
				 uint32_t number)
{
	char *text = map_get(identities, number);
	struct table_name name;
	uint64_t tables;

	if (text || number == 0 || number >= TABLES_NAMES)
		return text;
	tables = tables_of(mem_fd, anchor);
	if (!tables ||
	    !proc_memory_copy(mem_fd,
			      tables + offsetof(struct tables, names) + number * sizeof(name),
			      &name, sizeof(name)) ||
	    name.kind != NAME_IDENTITY || name.bytes >= sizeof(name.text))
		return NULL;
	text = strndup(name.text, name.bytes);
	if (text && map_put(identities, number, text) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void add_value(struct contexts *contexts, const struct posted *posted,
		      const struct record_context *context, struct labels *labels)
{
	struct context_value value;
	const char *name;

	memcpy(&value, context->data, sizeof(value));
	labels_of_ids(labels, value.trace_id, value.span_id);
	name = find_identity(&contexts->identities, contexts->mem_fd, posted->anchor,
			     value.identity);
	if (name)
		labels_set_own(labels, "identity", name, strlen(name));
}

void contexts_labels(struct contexts *contexts, const struct record_context *context,
		     struct labels *ret_labels)
{
	const struct posted *posted =
		contexts && context ? posted_as(contexts, context->serial) : NULL;

	ret_labels->n = 0;
	ret_labels->bytes = 0;
	if (!posted)
		return;
	if (context->format == CONTEXT_OTEL)
		add_otel(contexts, posted, context, ret_labels);
	else if (context->format == CONTEXT_WICK)
		add_value(contexts, posted, context, ret_labels);
	else
		labels_of_texts(ret_labels, &contexts->words, context->data, context->bytes);
}

bool contexts_any(const struct contexts *contexts)
{
	return contexts->n > 0;
}

uint64_t contexts_thread_pointer(const struct contexts *contexts, uint64_t sp)
{
	return blocked_thread_pointer(contexts->mem_fd, sp);
}

void contexts_blocked(struct contexts *contexts, uint64_t thread_pointer, struct labels *ret_labels)
{
	union context_copy context;

	ret_labels->n = 0;
	ret_labels->bytes = 0;
	for (size_t i = 0; i < CONTEXT_VARIABLES; i++) {
		if (!contexts->shown[i].place ||
		    !blocked_context_read(contexts->mem_fd, thread_pointer, &contexts->shown[i],
					  &context))
			continue;
		contexts_labels(contexts, &context.head, ret_labels);
		return;
	}
}
