/* jit.c - reads files again that grow while their process runs, and looks up names in them */
#include "symbolize/jit/jit.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/jit/internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { READ_STEP = 256 * 1024, MAX_DUMP_BYTES = 256 * 1024 * 1024 };

static const uint64_t REREAD_NS = 100 * 1000 * 1000;
/* Large files take long to read and sort again: at most a tenth of a CPU, names within 4 s. */
static const uint64_t REREAD_TIMES = 9;
static const uint64_t REREAD_MAX_NS = UINT64_C(4000000000);
static const uint64_t RETRY_NS = 1000 * 1000 * 1000; /* while there is neither */
/* Some writers read the clock when they write the record, just after the code began to run. */
static const uint64_t LATE_NS = 10 * 1000 * 1000;

struct jit {
	struct jit_place place;

	/* The loader's. */
	struct jit_map map;
	struct jit_dump dump;
	int dump_fd;
	char *dump_path;      /* set before the first code is published */
	uint64_t searched_ns; /* when a dump was last searched */

	/* From the loader to the main thread. */
	_Atomic(struct symbol_table *) new_symbols;
	_Atomic(struct jit_code *) new_code;
	_Atomic(bool) found;
	_Atomic(bool) dumps; /* times count */
	_Atomic(bool) busy;
	_Atomic(bool) partial;      /* there is more than is read */
	_Atomic(bool) tail;         /* a last line without a newline was left for later */
	_Atomic(uint64_t) read_ns;  /* when the last reading began */
	_Atomic(uint64_t) pause_ns; /* from then on, until the next reading */

	/* The main thread's. */
	struct symbol_table *table;
	struct jit_code *code;
	uint64_t requested_ns;
};

struct jit *jit_new(pid_t pid)
{
	struct jit *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	jit_place_init(&jit->place, pid);
	jit->map.fd = -1;
	jit->map.lines.claim.use = MEMORY_JIT;
	jit->dump_fd = -1;
	jit->dump.pid = (uint32_t)jit->place.namespace_pid;
	jit->dump.outer_pid = (uint32_t)pid;
	jit->dump.started_ns = jit->place.started_mono_ns;
	jit->dump.other_clock = jit->place.other_time;
	return jit;
}

static void free_table(struct symbol_table *table)
{
	if (table)
		symbol_table_release(table);
	free(table);
}

static void free_code(struct jit_code *code)
{
	if (code)
		jit_code_release(code);
	free(code);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	if (jit->map.fd >= 0)
		(void)close(jit->map.fd);
	if (jit->dump_fd >= 0)
		(void)close(jit->dump_fd);
	jit_map_release(&jit->map);
	jit_dump_release(&jit->dump);
	free_table(jit->new_symbols);
	free_table(jit->table);
	free_code(jit->new_code);
	free_code(jit->code);
	free(jit->dump_path);
	free(jit);
}

bool jit_has_map(const struct jit *jit)
{
	return atomic_load_explicit(&jit->found, memory_order_relaxed);
}

bool jit_is_partial(const struct jit *jit)
{
	return atomic_load_explicit(&jit->partial, memory_order_relaxed);
}

/* A writer may replace the file that is open by another. */
static void open_map(struct jit *jit)
{
	_cleanup_fd_ int fd = jit_place_map(&jit->place);
	struct stat now;
	struct stat then;

	if (fd < 0 || fstat(fd, &now) < 0)
		return;
	if (jit->map.fd >= 0) {
		if (fstat(jit->map.fd, &then) == 0 && then.st_ino == now.st_ino &&
		    then.st_dev == now.st_dev)
			return;
		(void)close(jit->map.fd);
		jit_map_release(&jit->map);
	}
	jit->map.fd = steal_fd(&fd);
}

static void publish_map(struct jit *jit)
{
	struct symbol_table *table = calloc(1, sizeof(*table));

	if (!table)
		return;
	if (symbol_table_copy(&jit->map.lines, table) < 0) {
		free(table);
		return;
	}
	symbol_table_finish(table);
	/* Pairs with the exchange in take_published(). */
	free_table(atomic_exchange_explicit(&jit->new_symbols, table, memory_order_acq_rel));
}

static void read_map(struct jit *jit)
{
	open_map(jit);
	if (jit->map.fd < 0)
		return;
	if (jit_map_read(&jit->map) && !loader_is_stopping())
		publish_map(jit);
	atomic_store_explicit(&jit->tail, jit->map.tail, memory_order_relaxed);
	atomic_store_explicit(&jit->found, true, memory_order_relaxed);
}

static void open_dump(struct jit *jit, uint64_t now_ns)
{
	if (jit->dump_fd >= 0 || (jit->searched_ns && now_ns - jit->searched_ns < REREAD_NS))
		return;
	jit->searched_ns = now_ns;
	jit->dump_fd = jit_place_dump(&jit->place, &jit->dump_path);
	if (jit->dump_fd >= 0)
		atomic_store_explicit(&jit->dumps, true, memory_order_relaxed);
}

/* Reads what was appended, in steps of ROOM bytes; -EAGAIN: a record is larger than ROOM. */
static int read_records(struct jit *jit, uint8_t *bytes, size_t room)
{
	struct jit_dump *dump = &jit->dump;
	struct stat st;
	uint64_t end; /* the next call reads what is appended meanwhile */

	if (fstat(jit->dump_fd, &st) < 0)
		return -errno;
	end = (uint64_t)st.st_size < MAX_DUMP_BYTES ? (uint64_t)st.st_size : MAX_DUMP_BYTES;
	while (!dump->ended && dump->at < end && !loader_is_stopping()) {
		ssize_t n =
			io_pread(jit->dump_fd, bytes,
				 end - dump->at < room ? (size_t)(end - dump->at) : room, dump->at);
		int r;

		if (n <= 0)
			return 0;
		r = jit_dump_read(dump, bytes, (size_t)n, io_now_ns());
		if (r == -EAGAIN)
			return (size_t)n == room ? r : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static void publish_code(struct jit *jit)
{
	struct jit_code *code = calloc(1, sizeof(*code));

	if (!code)
		return;
	if (jit_code_copy(&jit->dump.code, code) < 0) {
		free(code);
		return;
	}
	/* Pairs with the exchange in take_published(). */
	free_code(atomic_exchange_explicit(&jit->new_code, code, memory_order_acq_rel));
}

static void read_dump(struct jit *jit)
{
	static const size_t STEPS[] = {READ_STEP, JIT_DUMP_MAX_BYTES};
	uint64_t at = jit->dump.at;
	int r = -EAGAIN;

	if (jit->dump_fd < 0)
		return;
	for (size_t i = 0; i < 2 && r == -EAGAIN; i++) {
		uint8_t *bytes = malloc(STEPS[i]);

		r = bytes ? read_records(jit, bytes, STEPS[i]) : -ENOMEM;
		free(bytes);
	}
	/* After a partial read, code may have been overwritten in the rest of the file. */
	if (jit->dump.at == at || loader_is_stopping())
		return;
	atomic_store_explicit(&jit->found, true, memory_order_relaxed);
	publish_code(jit);
}

/* A job of the loader. */
static void reread_files(void *context)
{
	struct jit *jit = (struct jit *)context;
	uint64_t now_ns = io_now_ns();
	uint64_t pause_ns;

	read_map(jit);
	open_dump(jit, now_ns);
	read_dump(jit);
	if (loader_is_stopping() || jit->map.full || jit->map.at >= JIT_MAP_MAX_BYTES ||
	    jit->dump.full || jit->dump.at >= MAX_DUMP_BYTES)
		atomic_store_explicit(&jit->partial, true, memory_order_relaxed);
	pause_ns = (io_now_ns() - now_ns) * (1 + REREAD_TIMES);
	pause_ns = pause_ns < REREAD_NS ? REREAD_NS : pause_ns;
	atomic_store_explicit(&jit->pause_ns, pause_ns < REREAD_MAX_NS ? pause_ns : REREAD_MAX_NS,
			      memory_order_relaxed);
	atomic_store_explicit(&jit->read_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&jit->busy, false, memory_order_release);
}

/* Takes what the loader has read meanwhile. */
static void take_published(struct jit *jit)
{
	/* Pairs with the exchanges in publish_map() and publish_code(). */
	struct symbol_table *table =
		atomic_exchange_explicit(&jit->new_symbols, NULL, memory_order_acq_rel);
	struct jit_code *code =
		atomic_exchange_explicit(&jit->new_code, NULL, memory_order_acq_rel);

	if (table) {
		free_table(jit->table);
		jit->table = table;
	}
	if (code) {
		free_code(jit->code);
		jit->code = code;
	}
}

static const struct jit_function *find_function(const struct jit *jit, uint64_t addr,
						uint64_t time_ns)
{
	const struct jit_function *function;

	if (!jit->code)
		return NULL;
	if (jit->dump.other_clock)
		return jit_code_find(jit->code, addr, JIT_FOREVER - 1);
	function = jit_code_find(jit->code, addr, time_ns);
	return function ? function : jit_code_find(jit->code, addr, time_ns + LATE_NS);
}

static struct jit_name find(struct jit *jit, uint64_t addr, uint64_t time_ns)
{
	const struct jit_function *function;
	const struct symbol *symbol;
	struct jit_name name = {.symbol = NULL};

	take_published(jit);
	function = find_function(jit, addr, time_ns);
	if (function) {
		name.symbol = jit_code_name(jit->code, function);
		name.start = function->start;
		name.line = jit_code_line(jit->code, function, addr, &name.file);
		name.from = jit->dump_path;
		return name;
	}
	symbol = jit->table ? symbol_table_find_latest(jit->table, addr) : NULL;
	if (symbol) {
		name.symbol = symbol_table_name(jit->table, symbol);
		name.start = symbol->addr;
	}
	return name;
}

/* Has the files read again, unless they just were. */
static void request_reread(struct jit *jit, struct loader *loader, uint64_t time_ns,
			   enum jit_reread reread, struct jit_name *name)
{
	uint64_t read_ns = atomic_load_explicit(&jit->read_ns, memory_order_relaxed);
	uint64_t pause_ns = reread == JIT_REREAD_SOON
				    ? REREAD_NS
				    : atomic_load_explicit(&jit->pause_ns, memory_order_relaxed);
	uint64_t now_ns = io_now_ns();

	if (read_ns && !jit_has_map(jit)) {
		/* Most processes with such code write no map: their samples do not wait. */
		if (now_ns - jit->requested_ns < RETRY_NS && reread != JIT_REREAD_NOW)
			return;
	} else {
		bool tail = atomic_load_explicit(&jit->tail, memory_order_relaxed);

		if (read_ns && !tail && read_ns >= (time_ns < now_ns ? time_ns : now_ns))
			return;
		name->pending = true;
		name->due_ns = reread == JIT_REREAD_NOW || !read_ns ? 0 : read_ns + pause_ns;
		if (name->due_ns > now_ns)
			return;
	}
	name->due_ns = 0;
	jit->requested_ns = now_ns;
	atomic_store_explicit(&jit->busy, true, memory_order_relaxed);
	if (loader_push(loader, reread_files, jit) < 0) {
		atomic_store_explicit(&jit->busy, false, memory_order_relaxed);
		name->pending = false;
	}
}

/* May the files have another name by now? */
static bool is_stale(const struct jit *jit, const struct jit_name *name, uint64_t time_ns)
{
	/* A map has no times: a name in it is as good now as later. */
	return !name->symbol ||
	       (atomic_load_explicit(&jit->dumps, memory_order_relaxed) &&
		atomic_load_explicit(&jit->read_ns, memory_order_relaxed) < time_ns);
}

struct jit_name jit_find(struct jit *jit, struct loader *loader, uint64_t addr, uint64_t time_ns,
			 enum jit_reread reread)
{
	/* Pairs with the store at the end of reread_files(): find() sees what it read. */
	bool busy = atomic_load_explicit(&jit->busy, memory_order_acquire);
	struct jit_name name = find(jit, addr, time_ns);

	if (!is_stale(jit, &name, time_ns))
		return name;
	if (busy) {
		name.pending = true;
		return name;
	}
	request_reread(jit, loader, time_ns, reread, &name);
	if (reread != JIT_REREAD_NOW)
		return name;
	name = find(jit, addr, time_ns);
	if (!name.symbol) {
		/* The second read takes a last line without a newline. */
		request_reread(jit, loader, time_ns, reread, &name);
		name = find(jit, addr, time_ns);
	}
	return name;
}
