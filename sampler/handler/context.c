/* context.c - copies a thread's context from the program's thread-local variables */
#include "sampler/handler/context.h"

#include "sampler/handler/memory.h"
#include "sampler/wire/tables.h"

#include "sampler/handler/sys/sigsafe.h"

enum {
	PAGE = RING_PAGE,
	PAGES_NOW = 2,    /* pages found readable during this sample */
	LONGEST = 255,    /* of a label's key or value: its length is one byte */
	GLIBC_ENTRY = 16, /* of glibc's dtv: a pointer, and what to free */
	MUSL_ENTRY = 8,
	VALID = 1,
	OTEL_ALIGN = 2,
};

struct view {
	struct process *p;
	struct slot_own *own;
	uint64_t tp;
	uint32_t tid;
	bool no_syscalls;
	bool by_kernel; /* a module may be unmapped, in a way that the agent does not see */
	/* The variable itself is never unmapped while the thread lives.  Of a module that was
	 * loaded late, the thread frees it after a dlclose, and only then forgets it. */
	bool found_stays;
	bool stays; /* what it points to is never unmapped */
	uint8_t n_now;
	uint64_t now[PAGES_NOW];
};

/* custom-labels v1 (polarsignals/custom-labels, custom-labels-v1.md) */
struct text {
	uint64_t bytes;
	uint64_t at; /* 0 for a key: the label is none */
};

struct label {
	struct text key;
	struct text value;
};

struct label_set {
	uint64_t labels;
	uint64_t n;
};

static bool has_page(const uint64_t *pages, int n, uint64_t page)
{
	for (int i = 0; i < n; i++)
		if (pages[i] == page)
			return true;
	return false;
}

/* STAYS: see SLOT_STAYING. */
static bool is_known(const struct view *view, uint64_t page, bool stays)
{
	const struct slot_own *own = view->own;

	return has_page(own->staying, SLOT_STAYING, page) || has_page(view->now, PAGES_NOW, page) ||
	       (view->no_syscalls && !stays && has_page(own->probed, SLOT_PROBED, page));
}

static __attribute__((noinline)) bool prove(struct view *view, uint64_t page, uint64_t address,
					    bool stays)
{
	struct slot_own *own = view->own;

	if (view->no_syscalls || !memory_probe(address))
		return false;
	view->now[view->n_now++ % PAGES_NOW] = page;
	if (stays)
		own->staying[own->n_staying++ % SLOT_STAYING] = page;
	else if (!has_page(own->probed, SLOT_PROBED, page))
		own->probed[own->n_probed++ % SLOT_PROBED] = page;
	return true;
}

/* LEN: at most a page. */
static bool readable(struct view *view, uint64_t address, uint32_t len, bool stays)
{
	uint64_t page = address & -(uint64_t)PAGE;

	/* The first page stands for none. */
	if (address < PAGE || address + len < len)
		return false;
	for (; page < address + len; page += PAGE)
		if (!is_known(view, page, stays) && !prove(view, page, page, stays))
			return false;
	return true;
}

/* In words, the last of which may overlap the one before: nothing outside the source is read. */
static void copy(void *to, uint64_t from, uint32_t len)
{
	typedef uint64_t __attribute__((may_alias, aligned(1))) word;
	const unsigned char *f = (const unsigned char *)from;
	unsigned char *t = to;
	uint32_t at = 0;

	for (; at + sizeof(word) <= len; at += (uint32_t)sizeof(word))
		*(word *)(t + at) = *(const word *)(f + at);
	if (at == len)
		return;
	if (len >= sizeof(word)) {
		at = len - (uint32_t)sizeof(word);
		*(word *)(t + at) = *(const word *)(f + at);
		return;
	}
	for (; at < len; at++)
		t[at] = f[at];
}

/* A thread-local variable, or what finds one. */
static bool load(struct view *view, uint64_t address, bool stays, uint64_t *ret_value)
{
	if (address % 8 || !readable(view, address, 8, stays))
		return false;
	*ret_value = *(const uint64_t *)address;
	return true;
}

/* Memory that a variable points to. */
static bool fetch(struct view *view, uint64_t address, void *to, uint32_t len)
{
	if (view->by_kernel && !view->stays)
		return !view->no_syscalls && memory_copy(view->p, address, to, len);
	if (!readable(view, address, len, view->stays))
		return false;
	copy(to, address, len);
	return true;
}

/* Return:  the thread's block of a module; 0: nothing of it was used in this thread. */
static uint64_t block_of(struct view *view, uint32_t module, uint32_t entry_bytes)
{
	uint64_t count_at;
	uint64_t count;
	uint64_t block;
	uint64_t dtv;

	if (!load(view, view->tp + 8, true, &dtv))
		return 0;
	/* glibc: dtv[-1]; musl: dtv[0] */
	count_at = entry_bytes == GLIBC_ENTRY ? dtv - entry_bytes : dtv;
	if (!load(view, count_at, true, &count) || module > count ||
	    !load(view, dtv + (uint64_t)module * entry_bytes, true, &block))
		return 0;
	return block == ~UINT64_C(0) ? 0 : block;
}

/* Return:  where the calling thread has the variable; 0: nowhere. */
static uint64_t find(struct view *view, const struct context_variable *variable)
{
	uint64_t block;

	view->found_stays = variable->place == CONTEXT_TP;
	if (view->found_stays)
		return view->tp + (uint64_t)variable->offset;
	if (!variable->module || variable->place > CONTEXT_DTV_MUSL)
		return 0;
	block = block_of(view, variable->module,
			 variable->place == CONTEXT_DTV ? GLIBC_ENTRY : MUSL_ENTRY);
	return block ? block + (uint64_t)variable->offset : 0;
}

/* Another library may write the variable of wick.h, too, and what it points to then may be
 * unmapped. A block of wick.h begins with a page, and with the thread's tid. */
static bool is_wicks(struct view *view, uint64_t at)
{
	uint64_t page = at & -(uint64_t)PAGE;

	struct slot_own *own = view->own;

	if (at - page != offsetof(struct table_thread, record))
		return false;
	if (has_page(own->staying, SLOT_STAYING, page))
		return true;
	if (!readable(view, page, sizeof(uint32_t), false) || *(const uint32_t *)page != view->tid)
		return false;
	own->staying[own->n_staying++ % SLOT_STAYING] = page;
	return true;
}

static uint32_t copy_otel(struct view *view, uint64_t address, uint8_t *to)
{
	struct otel_record *record = (void *)to;
	uint64_t at;
	uint32_t n;

	if (!load(view, address, view->found_stays, &at) || !at || at % OTEL_ALIGN)
		return 0;
	view->stays = view->stays && is_wicks(view, at);
	if (!fetch(view, at, record, OTEL_RECORD_HEAD) || record->valid != VALID)
		return 0;
	n = record->attrs_bytes < CONTEXT_MAX_ATTRS ? record->attrs_bytes : CONTEXT_MAX_ATTRS;
	if (n && !fetch(view, at + OTEL_RECORD_HEAD, record->attrs, n))
		n = 0;
	return OTEL_RECORD_HEAD + n;
}

static bool is_zero(const struct context_value *value)
{
	const uint64_t *words = (const void *)value;

	return !(words[0] | words[1] | words[2] | value->identity);
}

static uint32_t copy_value(struct view *view, uint64_t address, uint8_t *to)
{
	const struct context_value *value = (void *)to;

	address += offsetof(struct context_thread, value);
	if (!readable(view, address, sizeof(*value), view->found_stays))
		return 0;
	copy(to, address, sizeof(*value));
	return is_zero(value) ? 0 : sizeof(*value);
}

/* Return:  bytes written, with their length before them; 0: it cannot be read. */
static uint32_t copy_text(struct view *view, const struct text *text, uint8_t *to)
{
	uint32_t n = (uint32_t)text->bytes; /* at most LONGEST */

	if (n && !fetch(view, text->at, to + 1, n))
		return 0;
	to[0] = (uint8_t)n;
	return 1 + n;
}

static uint32_t copy_labels(struct view *view, uint64_t address, uint8_t *to)
{
	struct label_set set;
	struct label label;
	uint32_t used = 0;
	uint64_t at;

	if (!load(view, address, view->found_stays, &at) || !at ||
	    !fetch(view, at, &set, sizeof(set)))
		return 0;
	for (uint32_t i = 0; i < set.n && i < CONTEXT_MAX_LABELS; i++) {
		uint32_t key;
		uint32_t value;

		if (!fetch(view, set.labels + i * sizeof(label), &label, sizeof(label)))
			break;
		/* A key that is cut would be another one. */
		if (!label.key.at || label.key.bytes > LONGEST)
			continue;
		if (label.value.bytes > LONGEST)
			label.value.bytes = LONGEST;
		if (used + 2 + label.key.bytes + label.value.bytes > CONTEXT_MAX_ATTRS)
			break;
		key = copy_text(view, &label.key, to + used);
		value = key ? copy_text(view, &label.value, to + used + key) : 0;
		if (value)
			used += key + value;
	}
	return used;
}

/* Whether the module of a variable may be gone since it was posted. */
static bool may_be_gone(struct process *p, const struct context_variable *variable)
{
	const struct ring_header *header = p->header;
	uint32_t unloading;

	if (variable->flags & CONTEXT_KEPT)
		return false;
	unloading = atomic_load_explicit(&p->unloading, memory_order_relaxed);
	return (unloading && unloading != PROCESS_UNHOOKED) ||
	       atomic_load_explicit(&header->unloads, memory_order_relaxed) !=
		       atomic_load_explicit(&header->unloads_seen, memory_order_acquire);
}

static uint32_t copy_variable(struct view *view, const struct context_variable *variable,
			      uint8_t *to)
{
	uint64_t address = may_be_gone(view->p, variable) ? 0 : find(view, variable);

	if (!address)
		return 0;
	view->stays = (variable->flags & CONTEXT_STAYS) != 0;
	switch (variable->format) {
	case CONTEXT_OTEL:
		return copy_otel(view, address, to);
	case CONTEXT_WICK:
		return copy_value(view, address, to);
	case CONTEXT_LABELS:
		return copy_labels(view, address, to);
	default:
		return 0;
	}
}

/* Return:  whether it is a variable; the collector may be changing it. */
static inline bool read_variable(const struct context_variable *from,
				 struct context_variable *ret_variable)
{
	const _Atomic uint32_t *place = (const void *)&from->place;

	ret_variable->place = atomic_load_explicit(place, memory_order_acquire);
	if (ret_variable->place == CONTEXT_NOWHERE)
		return false;
	ret_variable->format = from->format;
	ret_variable->flags = from->flags;
	ret_variable->module = from->module;
	ret_variable->serial = from->serial;
	ret_variable->offset = from->offset;
	/* What was read is older than these two: x86-64 keeps loads in order (Intel SDM 3A 8.2.2),
	 * and so must the compiler. */
	__asm__ volatile("" ::: "memory");
	return atomic_load_explicit(place, memory_order_relaxed) == ret_variable->place &&
	       *(const volatile uint32_t *)&from->serial == ret_variable->serial;
}

void context_begin(struct slot *slot)
{
	atomic_store_explicit(&slot->ring->thread_pointer, arch_thread_pointer(),
			      memory_order_relaxed);
}

static uint64_t thread_pointer(struct slot *slot, bool no_syscalls)
{
	uint64_t tp = atomic_load_explicit(&slot->ring->thread_pointer, memory_order_relaxed);

	if (tp || no_syscalls)
		return tp;
	context_begin(slot);
	return atomic_load_explicit(&slot->ring->thread_pointer, memory_order_relaxed);
}

/* Return:  bytes of data; 0: the variable has none for this thread. */
static __attribute__((noinline)) uint32_t
append(struct process *p, struct slot *slot, const struct context_variable *variable, uint8_t *to)
{
	bool no_syscalls = process_state(p) != AGENT_SAMPLING;
	struct view view = {
		.p = p,
		.own = slot->own,
		.tp = thread_pointer(slot, no_syscalls),
		.tid = atomic_load_explicit(&p->header->tids[slot->index], memory_order_relaxed),
		.no_syscalls = no_syscalls,
		.by_kernel = atomic_load_explicit(&p->unloading, memory_order_relaxed) != 0,
	};

	return view.tp ? copy_variable(&view, variable, to) : 0;
}

uint32_t context_append(struct process *p, struct slot *slot, struct record_context *to)
{
	struct context_variable variable;
	uint32_t n = 0;

	for (int i = 0; !n && i < CONTEXT_VARIABLES; i++)
		if (read_variable(&p->header->contexts[i], &variable))
			n = append(p, slot, &variable, to->data);
	if (!n)
		return 0;
	to->serial = variable.serial;
	to->format = variable.format;
	to->bytes = (uint16_t)n;
	for (; n % 8; n++)
		to->data[n] = 0;
	return (uint32_t)sizeof(*to) + n;
}

/* Return:  where the calling thread has its struct context_value; NULL: none is handed on. */
static struct context_value *own_value(struct process *p)
{
	struct context_variable variable;
	uint64_t tp = (uint64_t)__builtin_thread_pointer();

	for (int i = 0; i < CONTEXT_VARIABLES; i++)
		if (read_variable(&p->header->contexts[i], &variable) &&
		    variable.format == CONTEXT_WICK && variable.place == CONTEXT_TP &&
		    variable.flags & CONTEXT_KEPT)
			return (struct context_value *)(tp + (uint64_t)variable.offset +
							offsetof(struct context_thread, value));
	return NULL;
}

bool context_of_creator(struct process *p, struct context_value *ret_value)
{
	const struct context_value *value = own_value(p);

	if (!value)
		return false;
	*ret_value = *value;
	return !is_zero(ret_value);
}

void context_hand_on(struct process *p, const struct context_value *value)
{
	struct context_value *own = own_value(p);

	if (own)
		*own = *value;
}
