/* remote.c - memory and modules of another process, as the unwinder reads them */
#include "sampler/remote/remote.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/remote/remote_modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	REMOTE_PAGES = 64,           /* of the files of one process, kept between walks */
	REMOTE_RULES = 4096,         /* of its code; a power of two */
	REMOTE_STACK_MOST = 4 << 20, /* bytes of a stack that are copied as the walk goes up */
	REMOTE_MOST_WORK = 1 << 20,  /* bytes of code and tables that one walk may read */
	REMOTE_MISS_MS = 100,        /* between two reads of maps for an unknown address */
	REMOTE_AGE_MS = 1000,        /* maps are read again when they are this old, */
	REMOTE_AGE_COST = 100,       /* but at least this many times what a read takes later */
};

enum {
	PAGE_BYTES = 4096,
	GROW_BYTES = 16 * PAGE_BYTES, /* of a stack, at once */
	READ_WORK = 16,
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
	int mem_fd;       /* its memory until it calls exec; -1: not read yet */
	uint64_t walk;    /* counts remote_begin() */
	uint64_t work;    /* of this walk: what was read beyond the stack, and READ_WORK a time */
	uint64_t refused; /* the last address requested that no user memory has */
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

/*
 * Memory that is no file's, up to the first page that cannot be read.  It never waits, not even for
 * a userfaultfd handler.  -ESRCH when the process is gone.
 */
static ssize_t read_memory(const struct remote *remote, uint64_t at, void *to, size_t len)
{
	ssize_t n = pread(remote->mem_fd, to, len, (off_t)at);

	if (n < 0)
		return errno == EIO ? -EFAULT : -errno;
	return n == 0 && len ? -ESRCH : n;
}

/*
 * A file's page may have to be fetched first.  Other than a read of /proc/PID/mem, this one
 * does not keep the target's mappings locked until it comes, and can be killed.
 */
static bool read_file_page(const struct remote *remote, uint64_t at, void *to)
{
	struct iovec local = {to, PAGE_BYTES};
	struct iovec page = {(void *)(uintptr_t)at, PAGE_BYTES};

	return process_vm_readv(remote->pid, &local, 1, &page, 1, 0) == PAGE_BYTES;
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
		uint64_t more = have < GROW_BYTES ? have : GROW_BYTES;
		ssize_t n;

		if (more > remote->stack_end - reader->hi)
			more = remote->stack_end - reader->hi;
		if (!make_room(remote, have + more))
			return false;
		n = read_memory(remote, reader->hi, remote->stack + have, more);
		if (n > 0)
			reader->hi += (uint64_t)n;
		if (n != (ssize_t)more)
			remote->stack_end = reader->hi;
		if (n <= 0)
			return false;
	}
	return true;
}

static bool fill(const struct remote *remote, const struct remote_range *file, struct page *page,
		 uint64_t address)
{
	page->address = UINT64_MAX;
	if (file ? !read_file_page(remote, address, page->bytes)
		 : read_memory(remote, address, page->bytes, PAGE_BYTES) != PAGE_BYTES)
		return false;
	page->address = address;
	page->walk = file && !file->writable ? 0 : remote->walk;
	return true;
}

static const struct page *read_page(struct remote *remote, uint64_t address)
{
	struct page **place = &remote->pages[(address / PAGE_BYTES) % REMOTE_PAGES];
	struct page *page = *place;
	const struct remote_range *range;

	if (page && page->address == address && (!page->walk || page->walk == remote->walk))
		return page;
	if (!page)
		page = malloc(sizeof(*page));
	if (!page)
		return NULL;
	*place = page;
	range = remote_modules_range(&remote->modules, address);
	if (range && range->image == REMOTE_NO_IMAGE)
		range = NULL;
	return fill(remote, range, page, address) ? page : NULL;
}

static bool remote_read(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	struct remote *remote = (struct remote *)reader;
	unsigned char *bytes = to;

	remote->work += len + READ_WORK;
	if (remote_is_spent(remote))
		return false;
	if (address >= USER_ADDRESS_END || len > USER_ADDRESS_END - address) {
		remote->refused = address;
		return false;
	}
	if (address >= reader->lo && grow_stack(remote, address + len)) {
		memcpy(to, remote->stack + (address - reader->lo), len);
		return true;
	}
	if (!remote_modules_range(&remote->modules, address) &&
	    remote_modules_table(&remote->modules, address, to, len))
		return true;
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

/* Its memory and what is mapped there: since exec both are others. */
static int read_mappings(struct remote *remote)
{
	bool changed = false;
	char path[32];
	int r;

	cleanup_fd(&remote->mem_fd);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)remote->pid);
	remote->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (remote->mem_fd < 0)
		return errno == EACCES ? -EPERM : errno == ENOENT ? -ESRCH : -errno;
	r = remote_modules_read(&remote->modules, remote->pid, &changed);
	if (changed)
		forget(remote);
	return r == -ENOENT ? -ESRCH : r;
}

/* Reading what thousands of lines say takes long: it is done the less often. */
static bool are_older(const struct remote_modules *modules, uint64_t ms)
{
	uint64_t age_ns = io_now_ns() - modules->read_ns;

	return age_ns > ms * NS_PER_MS && age_ns / REMOTE_AGE_COST > modules->cost_ns;
}

static bool remote_find(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	struct remote *remote = (struct remote *)reader;
	const struct remote_range *range = remote_modules_range(&remote->modules, pc);

	if (!range && pc < USER_ADDRESS_END && are_older(&remote->modules, REMOTE_MISS_MS)) {
		(void)read_mappings(remote);
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
	remote->mem_fd = -1;
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
	cleanup_fd(&remote->mem_fd);
	free(remote->stack);
	free(remote);
}

void remote_changed(struct remote *remote)
{
	remote_modules_release(&remote->modules);
	forget(remote);
}

pid_t remote_pid(const struct remote *remote)
{
	return remote->pid;
}

size_t remote_copy(struct remote *remote, uint64_t address, void *to, size_t len)
{
	ssize_t n;

	if (address >= USER_ADDRESS_END || len > USER_ADDRESS_END - address ||
	    (remote->mem_fd < 0 && read_mappings(remote) < 0))
		return 0;
	n = read_memory(remote, address, to, len);
	return n < 0 ? 0 : (size_t)n;
}

/* At least one word, so that a stack that is not there differs from one that is unknown. */
static int copy_stack(struct remote *remote, uint64_t sp)
{
	uint64_t end = remote_modules_stack_end(&remote->modules, sp);
	size_t len = REMOTE_STACK_FIRST;
	ssize_t n;

	if (end <= sp || end - sp > REMOTE_STACK_MOST)
		end = sp + (end <= sp ? ARCH_WORD : REMOTE_STACK_MOST);
	if (len > end - sp)
		len = (size_t)(end - sp);
	n = read_memory(remote, sp, remote->stack, len);
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

	/* What the last walk could not read any more it took for bad. */
	if (remote_is_spent(remote))
		remote_changed(remote);
	remote->work = 0;
	remote->walk++;
	remote->refused = 0;
	remote->stack_end = sp;
	reader->lo = sp;
	reader->hi = sp;
	reader->bytes = remote->stack;
	if (sp >= USER_ADDRESS_END - REMOTE_STACK_MOST)
		return -EFAULT;
	/* Of its own, unheard: what a program maps without an agent that says so. */
	if (remote->modules.read_ns == 0 || remote->mem_fd < 0 ||
	    are_older(&remote->modules, REMOTE_AGE_MS)) {
		r = read_mappings(remote);
		if (r < 0)
			return r;
	}
	r = copy_stack(remote, sp);
	if (r != -ESRCH)
		return r;
	/* There is none of the program that it was: it is another by now, or gone. */
	r = read_mappings(remote);
	return r < 0 ? r : copy_stack(remote, sp);
}

void remote_hold(struct remote *remote, size_t bytes)
{
	uint64_t most = remote->stack_end - remote->reader.lo;

	(void)grow_stack(remote, remote->reader.lo + (bytes < most ? bytes : most));
}

struct unwind_reader *remote_reader(struct remote *remote)
{
	return &remote->reader;
}

struct unwind_cache *remote_rules(struct remote *remote)
{
	return &remote->rules;
}

bool remote_is_spent(const struct remote *remote)
{
	return remote->work > REMOTE_MOST_WORK;
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

const char *remote_stop_text(unsigned stop)
{
	switch (stop) {
	case UNWIND_END:
		return "";
	case UNWIND_NO_CFI:
		return "no unwind table (no-cfi)";
	case UNWIND_BAD_CFA:
		return "bad frame address (bad-cfa)";
	case UNWIND_BOUNDS:
		return "stack not readable (bounds)";
	case UNWIND_DEPTH:
		return "too deep (depth)";
	case UNWIND_BAD_CFI:
		return "unwind table not understood (bad-cfi)";
	default:
		return "unknown reason";
	}
}
