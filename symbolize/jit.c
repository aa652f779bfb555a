/* jit.c - following a map file that grows while its process runs */
#include "symbolize/jit.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/symbol_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_MAP_BYTES = 256 * 1024 * 1024, READ_STEP = 256 * 1024, MAX_LINE = 64 * 1024 };

static const uint64_t REREAD_NS = 100 * 1000 * 1000;
static const uint64_t RETRY_NS = 1000 * 1000 * 1000; /* while there is no map */
static const uint64_t SECOND_NS = 1000 * 1000 * 1000;

struct jit {
	pid_t pid;
	pid_t inner_pid; /* in the innermost pid namespace */
	uid_t uid;
	uint64_t birth_ns; /* CLOCK_REALTIME; 0: not known */

	/* The loader's. */
	int fd;
	uint64_t at;               /* bytes of it that were taken in, whole lines */
	uint64_t seen;             /* its size when it was last read */
	uint32_t n_lines;          /* a later line wins */
	struct symbol_table lines; /* never finished: copied first */

	/* From the loader to the main thread. */
	_Atomic(struct symbol_table *) fresh;
	_Atomic(bool) found;
	_Atomic(bool) busy;
	_Atomic(bool) tail;        /* a last line without a newline was left for later */
	_Atomic(uint64_t) read_ns; /* when the last reading began */

	/* The main thread's. */
	struct symbol_table *table;
	uint64_t asked_ns;
};

/* One number of a line of /proc/PID/status: the last one, or the first. */
static long status_number(const char *status, const char *label, bool last)
{
	const char *at = strstr(status, label);
	long number = -1;
	char *end;

	if (!at)
		return -1;
	for (at += strlen(label); *at && *at != '\n'; at = end) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		number = next;
		if (!last)
			break;
	}
	return number;
}

static void read_status(struct jit *jit)
{
	struct buf buf;
	char path[64];
	long uid = -1;
	long inner = -1;

	buf_init(&buf, 64 * 1024);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)jit->pid);
	if (io_read_file(path, &buf, NULL) == 0) {
		uid = status_number(buf_text(&buf), "\nUid:", false);
		inner = status_number(buf_text(&buf), "\nNSpid:", true);
	}
	buf_release(&buf);
	jit->uid = uid >= 0 ? (uid_t)uid : 0;
	jit->inner_pid = inner > 0 ? (pid_t)inner : jit->pid;
}

/* When the process started, from field 22 of its stat: a map that is older is another's. */
static uint64_t read_birth(pid_t pid)
{
	unsigned long long ticks = 0;
	struct timespec boot;
	uint64_t age_ns = 0;
	struct buf buf;
	char path[64];
	const char *at;

	buf_init(&buf, 16 * 1024);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = io_read_file(path, &buf, NULL) == 0 ? strrchr(buf_text(&buf), ')') : NULL;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at + 1, NULL, 10);
	buf_release(&buf);
	if (!ticks || clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return 0;
	age_ns = (uint64_t)boot.tv_sec * SECOND_NS + (uint64_t)boot.tv_nsec -
		 (uint64_t)ticks * SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
	return io_realtime_ns() - age_ns;
}

struct jit *jit_new(pid_t pid)
{
	struct jit *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	jit->pid = pid;
	jit->fd = -1;
	read_status(jit);
	jit->birth_ns = read_birth(pid);
	return jit;
}

static void free_table(struct symbol_table *table)
{
	if (table)
		symbol_table_release(table);
	free(table);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	if (jit->fd >= 0)
		(void)close(jit->fd);
	symbol_table_release(&jit->lines);
	free_table(jit->fresh);
	free_table(jit->table);
	free(jit);
}

bool jit_has_map(const struct jit *jit)
{
	return atomic_load_explicit(&jit->found, memory_order_relaxed);
}

/* Anybody can put a file into /tmp: it has to be the process's, or root's. */
static int try_open(const struct jit *jit, const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	if (st.st_uid != 0 && st.st_uid != jit->uid)
		return -1;
	if ((uint64_t)st.st_mtim.tv_sec * SECOND_NS + (uint64_t)st.st_mtim.tv_nsec + SECOND_NS <
	    jit->birth_ns)
		return -1;
	return steal_fd(&fd);
}

static void open_map(struct jit *jit)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)jit->pid,
		       (int)jit->inner_pid);
	jit->fd = try_open(jit, path);
	if (jit->fd >= 0)
		return;
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)jit->pid);
	jit->fd = try_open(jit, path);
}

static bool parse_hex(const char **at, const char *end, uint64_t *ret_number)
{
	const char *p = *at;
	uint64_t number = 0;
	int n_digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (; p < end && n_digits < 17; p++, n_digits++) {
		char c = (char)(*p | 0x20);

		if (*p >= '0' && *p <= '9')
			number = number << 4 | (uint64_t)(*p - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (n_digits == 0 || n_digits > 16 || p == end || (*p != ' ' && *p != '\t'))
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*at = p;
	*ret_number = number;
	return true;
}

bool jit_parse_line(const char *line, size_t len, uint64_t *ret_start, uint64_t *ret_size,
		    const char **ret_name)
{
	const char *end = line + len;
	const char *at = line;

	return parse_hex(&at, end, ret_start) && parse_hex(&at, end, ret_size) && at < end &&
	       (*ret_name = at);
}

static void add_line(struct jit *jit, const char *line, size_t len)
{
	struct symbol_entry entry = {.rank = jit->n_lines};

	if (len && line[len - 1] == '\r')
		len--;
	if (!jit_parse_line(line, len, &entry.addr, &entry.size, &entry.name))
		return;
	/* A size of 0 is not "unknown" in a map: give it the one address. */
	entry.limit = entry.addr + 1;
	entry.name_len = (size_t)(line + len - entry.name);
	if (entry.name_len <= MAX_LINE && symbol_table_add(&jit->lines, &entry) == 0)
		jit->n_lines++;
}

/* Take in the whole lines of a piece of the file, the last also without a newline if WHOLE. */
static size_t add_lines(struct jit *jit, const char *text, size_t len, bool whole)
{
	size_t at = 0;

	while (at < len) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t line = newline ? (size_t)(newline - (text + at)) : len - at;

		if (!newline && !whole && line < MAX_LINE)
			break;
		add_line(jit, text + at, line);
		at += line + (newline != NULL);
	}
	return at;
}

/* A file that got shorter is a new one. */
static void start_over(struct jit *jit)
{
	symbol_table_release(&jit->lines);
	jit->at = 0;
	jit->n_lines = 0;
}

/* What was appended.  A last line without a newline counts once the file stopped growing. */
static bool read_lines(struct jit *jit)
{
	_cleanup_free_ char *text = malloc(READ_STEP);
	uint64_t before = jit->at;
	struct stat st;
	bool tail = false;

	if (!text || fstat(jit->fd, &st) < 0)
		return false; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
	if ((uint64_t)st.st_size < jit->at)
		start_over(jit);
	while (jit->at < MAX_MAP_BYTES) {
		ssize_t n = io_pread(jit->fd, text, READ_STEP, jit->at);
		bool last = n >= 0 && n < READ_STEP;
		size_t used;

		if (n <= 0)
			break;
		used = add_lines(jit, text, (size_t)n, last && jit->seen == jit->at + (size_t)n);
		if (last)
			jit->seen = jit->at + (size_t)n;
		jit->at += used;
		tail = used < (size_t)n;
		if (last || used == 0)
			break;
	}
	atomic_store_explicit(&jit->tail, tail, memory_order_relaxed);
	return jit->at != before;
}

static void publish(struct jit *jit)
{
	struct symbol_table *table = calloc(1, sizeof(*table));

	if (!table)
		return;
	if (symbol_table_copy(&jit->lines, table) < 0) {
		free(table);
		return;
	}
	symbol_table_finish(table);
	/* Pairs with the exchange in adopt(). */
	free_table(atomic_exchange_explicit(&jit->fresh, table, memory_order_acq_rel));
}

/* The loader's job. */
static void reread(void *context)
{
	struct jit *jit = (struct jit *)context;
	uint64_t now_ns = io_now_ns();

	if (jit->fd < 0)
		open_map(jit);
	if (jit->fd >= 0) {
		if (read_lines(jit))
			publish(jit);
		atomic_store_explicit(&jit->found, true, memory_order_relaxed);
	}
	atomic_store_explicit(&jit->read_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&jit->busy, false, memory_order_release);
}

static const struct symbol *find(struct jit *jit, uint64_t addr)
{
	/* Pairs with the exchange in publish(). */
	struct symbol_table *fresh =
		atomic_exchange_explicit(&jit->fresh, NULL, memory_order_acq_rel);

	if (fresh) {
		free_table(jit->table);
		jit->table = fresh;
	}
	return jit->table ? symbol_table_find_latest(jit->table, addr) : NULL;
}

/* Have the map read again, unless that was just done. */
static struct jit_name ask(struct jit *jit, struct loader *loader, uint64_t time_ns, bool wait)
{
	uint64_t read_ns = atomic_load_explicit(&jit->read_ns, memory_order_relaxed);
	uint64_t now_ns = io_now_ns();
	struct jit_name none = {.symbol = NULL};

	if (read_ns && !jit_has_map(jit)) {
		/* Most processes with such code write no map: do not keep their samples waiting. */
		if (now_ns - jit->asked_ns < RETRY_NS && !wait)
			return none;
	} else {
		bool tail = atomic_load_explicit(&jit->tail, memory_order_relaxed);

		if (read_ns && !tail && read_ns >= (time_ns < now_ns ? time_ns : now_ns))
			return none;
		none.pending = true;
		none.due_ns = wait || !read_ns ? 0 : read_ns + REREAD_NS;
		if (none.due_ns > now_ns)
			return none;
	}
	none.due_ns = 0;
	jit->asked_ns = now_ns;
	atomic_store_explicit(&jit->busy, true, memory_order_relaxed);
	if (loader_push(loader, reread, jit) < 0) {
		atomic_store_explicit(&jit->busy, false, memory_order_relaxed);
		none.pending = false;
	}
	return none;
}

struct jit_name jit_find(struct jit *jit, struct loader *loader, uint64_t addr, uint64_t time_ns,
			 bool wait)
{
	/* Pairs with the store at the end of reread(): what it read is there to be found. */
	bool busy = atomic_load_explicit(&jit->busy, memory_order_acquire);
	const struct symbol *symbol = find(jit, addr);
	struct jit_name name = {.symbol = NULL};

	if (!symbol && busy)
		return (struct jit_name){.pending = true};
	if (!symbol) {
		name = ask(jit, loader, time_ns, wait);
		symbol = wait ? find(jit, addr) : NULL;
		if (wait && !symbol) {
			/* The second look takes a line without its newline. */
			name = ask(jit, loader, time_ns, wait);
			symbol = find(jit, addr);
		}
		name.pending = name.pending && !wait;
	}
	if (!symbol)
		return name;
	return (struct jit_name){.symbol = symbol_table_name(jit->table, symbol),
				 .start = symbol->addr};
}
