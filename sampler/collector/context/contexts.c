/* contexts.c - what the handlers of one process read of each thread's context */
#include "sampler/collector/context/contexts.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/context/blocked_context.h"
#include "sampler/collector/context/identities.h"
#include "sampler/collector/context/loader.h"
#include "sampler/collector/context/variables.h"

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
	RECENT = 16, /* variables that records in a ring may still be of: a power of two */
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
	struct identities identities;
	struct label_words words;
	uint64_t follow_ns; /* when the list is read next */
	uint64_t keys_ns;   /* when names are */
};

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
	contexts->n = variables_find(&loader, contexts->variables);
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
	identities_release(&contexts->identities);
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

	atomic_store_explicit(place, CONTEXT_NOWHERE, memory_order_relaxed);
	/* The rest is not seen before it. */
	atomic_thread_fence(memory_order_release);
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

static void add_value(struct contexts *contexts, const struct posted *posted,
		      const struct record_context *context, struct labels *labels)
{
	struct context_value value;
	const char *name;

	memcpy(&value, context->data, sizeof(value));
	labels_of_ids(labels, value.trace_id, value.span_id);
	name = identities_find(&contexts->identities, contexts->mem_fd, posted->anchor,
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
