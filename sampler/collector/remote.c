/* remote.c - memory and modules of another process, as the unwinder reads them */
#include "sampler/collector/remote.h"

#include "base/io.h"
#include "sampler/collector/limits.h"
#include "sampler/collector/remote_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum {
	PAGE_BYTES = 4096,
	PIECES = 64, /* pages of one call: each is read or not */
	PIECES_BYTES = (PIECES - 1) * PAGE_BYTES,
};

/*
 * A page of the target.  One that a module maps and cannot write stays; any other counts in
 * the walk that read it only.
 */
struct page {
	uint64_t address;
	uint64_t walk; /* 0: it stays */
	unsigned char bytes[PAGE_BYTES];
};

struct remote {
	struct unwind_reader reader; /* first: it is what the unwinder holds */
	struct unwind_cache rules;
	struct remote_modules modules;
	pid_t pid;
	uint64_t walk;    /* counts remote_begin() */
	uint64_t refused; /* the last address asked for that no user memory has */
	unsigned char *stack;
	size_t stack_size;  /* of what holds the copy */
	uint64_t stack_end; /* where it ends at the latest */
	struct page *pages[REMOTE_PAGES];
	struct unwind_cache_entry entries[REMOTE_RULES];
};

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGE_BYTES - 1);
}

/* Bytes from AT on, page by page, until one cannot be read.  -errno when the first cannot. */
static ssize_t copy_from(pid_t pid, uint64_t at, void *to, size_t len)
{
	struct iovec local = {to, len};
	struct iovec pieces[PIECES];
	unsigned long n = 0;
	size_t left = len;
	ssize_t r;

	while (left && n < PIECES) {
		size_t part = PAGE_BYTES - (size_t)(at % PAGE_BYTES);

		part = part < left ? part : left;
		pieces[n++] = (struct iovec){(void *)(uintptr_t)at, part};
		at += part;
		left -= part;
	}
	r = process_vm_readv(pid, &local, 1, pieces, n, 0);
	return r < 0 ? -errno : r;
}

static bool make_room(struct remote *remote, size_t size)
{
	unsigned char *stack;

	if (size <= remote->stack_size)
		return true;
	stack = realloc(remote->stack, size);
	if (!stack)
		return false;
	remote->stack = stack;
	remote->stack_size = size;
	remote->reader.bytes = stack;
	return true;
}

/* The window covers [lo, end) afterwards, unless the stack ends before. */
static bool grow_stack(struct remote *remote, uint64_t end)
{
	struct unwind_reader *reader = &remote->reader;

	if (end > remote->stack_end)
		return false;
	while (reader->hi < end) {
		size_t have = (size_t)(reader->hi - reader->lo);
		uint64_t more = have < PIECES_BYTES ? have : PIECES_BYTES;
		ssize_t n;

		if (more > remote->stack_end - reader->hi)
			more = remote->stack_end - reader->hi;
		if (!make_room(remote, have + more))
			return false;
		n = copy_from(remote->pid, reader->hi, remote->stack + have, more);
		if (n > 0)
			reader->hi += (uint64_t)n;
		if (n != (ssize_t)more)
			remote->stack_end = reader->hi;
		if (n <= 0)
			return false;
	}
	return true;
}

static bool stays(const struct remote *remote, uint64_t address)
{
	const struct remote_range *range = remote_modules_range(&remote->modules, address);

	return range && range->image != REMOTE_NO_IMAGE && !range->writable;
}

static const struct page *read_page(struct remote *remote, uint64_t address)
{
	struct page **place = &remote->pages[(address / PAGE_BYTES) % REMOTE_PAGES];
	struct page *page = *place;

	if (page && page->address == address && (!page->walk || page->walk == remote->walk))
		return page;
	if (!page)
		page = malloc(sizeof(*page));
	if (!page)
		return NULL;
	*place = page;
	page->address = UINT64_MAX;
	if (copy_from(remote->pid, address, page->bytes, PAGE_BYTES) != PAGE_BYTES)
		return NULL;
	page->address = address;
	page->walk = stays(remote, address) ? 0 : remote->walk;
	return page;
}

static bool remote_read(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	struct remote *remote = (struct remote *)reader;
	unsigned char *bytes = to;

	if (address >= USER_ADDRESS_END || len > USER_ADDRESS_END - address) {
		remote->refused = address;
		return false;
	}
	if (address >= reader->lo && grow_stack(remote, address + len)) {
		memcpy(to, remote->stack + (address - reader->lo), len);
		return true;
	}
	while (len) {
		size_t in_page = (size_t)(address % PAGE_BYTES);
		size_t part = PAGE_BYTES - in_page < len ? PAGE_BYTES - in_page : len;
		const struct page *page = read_page(remote, page_of(address));

		if (!page)
			return false;
		memcpy(bytes, page->bytes + in_page, part);
		bytes += part;
		address += part;
		len -= part;
	}
	return true;
}

static void forget(struct remote *remote)
{
	for (size_t i = 0; i < REMOTE_PAGES; i++)
		if (remote->pages[i])
			remote->pages[i]->address = UINT64_MAX;
	unwind_cache_flush(&remote->rules);
}

static int read_modules(struct remote *remote)
{
	bool changed = false;
	int r = remote_modules_read(&remote->modules, remote->pid, &changed);

	if (changed)
		forget(remote);
	return r;
}

static bool remote_find(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	struct remote *remote = (struct remote *)reader;
	const struct remote_range *range = remote_modules_range(&remote->modules, pc);

	if (!range && pc < USER_ADDRESS_END &&
	    io_now_ns() - remote->modules.read_ns > REMOTE_MISS_MS * NS_PER_MS) {
		(void)read_modules(remote);
		range = remote_modules_range(&remote->modules, pc);
	}
	return range && remote_modules_find(&remote->modules, reader, range, ret_module);
}

int remote_new(struct remote **ret, pid_t pid)
{
	struct remote *remote = calloc(1, sizeof(*remote));

	if (!remote)
		return -ENOMEM;
	remote->stack = malloc(REMOTE_STACK_FIRST);
	if (!remote->stack) {
		free(remote);
		return -ENOMEM;
	}
	remote->stack_size = REMOTE_STACK_FIRST;
	remote->pid = pid;
	remote->rules.entries = remote->entries;
	remote->rules.n = REMOTE_RULES;
	remote->reader.read = remote_read;
	remote->reader.find = remote_find;
	*ret = remote;
	return 0;
}

void remote_free(struct remote *remote)
{
	if (!remote)
		return;
	for (size_t i = 0; i < REMOTE_PAGES; i++)
		free(remote->pages[i]);
	remote_modules_release(&remote->modules);
	free(remote->stack);
	free(remote);
}

void remote_changed(struct remote *remote)
{
	remote_modules_release(&remote->modules);
	forget(remote);
}

/* Of its own, unheard: what a program maps without an agent that says so. */
static bool modules_are_old(const struct remote_modules *modules)
{
	uint64_t age_ns = io_now_ns() - modules->read_ns;

	return modules->read_ns == 0 ||
	       (age_ns > REMOTE_AGE_MS * NS_PER_MS && age_ns / REMOTE_AGE_COST > modules->cost_ns);
}

/* At least one word, so that a stack that is not there is told from one that is not known. */
static int copy_stack(struct remote *remote, uint64_t sp)
{
	uint64_t end = remote_modules_stack_end(&remote->modules, sp);
	size_t len = REMOTE_STACK_FIRST;
	ssize_t n;

	if (end <= sp || end - sp > REMOTE_STACK_MOST)
		end = sp + (end <= sp ? ARCH_WORD : REMOTE_STACK_MOST);
	if (len > end - sp)
		len = (size_t)(end - sp);
	n = copy_from(remote->pid, sp, remote->stack, len);
	if (n < 0)
		return (int)n;
	remote->reader.hi = sp + (uint64_t)n;
	remote->stack_end = n == (ssize_t)len ? end : remote->reader.hi;
	return 0;
}

int remote_begin(struct remote *remote, uint64_t sp)
{
	struct unwind_reader *reader = &remote->reader;
	int r;

	remote->walk++;
	remote->refused = 0;
	remote->stack_end = sp;
	reader->lo = sp;
	reader->hi = sp;
	reader->bytes = remote->stack;
	if (sp >= USER_ADDRESS_END - REMOTE_STACK_MOST)
		return -EFAULT;
	if (modules_are_old(&remote->modules)) {
		r = read_modules(remote);
		if (r < 0 && remote->modules.read_ns == 0)
			return r == -EACCES ? -EPERM : r == -ENOENT ? -ESRCH : r;
	}
	return copy_stack(remote, sp);
}

struct unwind_reader *remote_reader(struct remote *remote)
{
	return &remote->reader;
}

struct unwind_cache *remote_rules(struct remote *remote)
{
	return &remote->rules;
}

uint64_t remote_take_refused(struct remote *remote)
{
	uint64_t refused = remote->refused;

	remote->refused = 0;
	return refused;
}

bool remote_is_code(const struct remote *remote, uint64_t address)
{
	const struct remote_range *range = remote_modules_range(&remote->modules, address);

	return range && range->executable;
}
