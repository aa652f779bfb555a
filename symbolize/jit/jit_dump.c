/* jit_dump.c - the records of a jitdump file; their contents are untrusted */
#include "symbolize/jit/internal.h"

#include "symbolize/bounds/cursor.h"
#include "symbolize/bounds/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAGIC = 0x4a695444, /* "JiTD" in the writer's byte order */
	HEADER_BYTES = 40,
	RECORD_BYTES = 16,
	MAX_LINES_RECORD = JIT_DUMP_MAX_BYTES - 64,
	MAX_NAME = 64 * 1024,
	MAX_PASSED_OVER = 256 * 1024 * 1024, /* a record is no longer than that */
};

static const uint64_t FLAG_ARCH_TIMESTAMP = 1;
static const uint64_t SECOND_NS = UINT64_C(1000000000);

enum record_id {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	CODE_CLOSE = 3,
};

struct record {
	uint32_t id;
	uint32_t size; /* with these fields */
	uint64_t time_ns;
};

/* A string that ends within the bytes; "" when it does not. */
static const char *take_text(struct cursor *cursor, size_t *ret_len)
{
	const char *text = cursor_string(cursor);

	*ret_len = text ? (size_t)((const char *)cursor->at - text) - 1 : 0;
	return text ? text : "";
}

/* Times of another clock are not those of samples; then what was written last counts. */
static void check_clock(struct jit_dump *dump, uint64_t time_ns, uint64_t now_ns)
{
	if (time_ns > now_ns + SECOND_NS || time_ns + SECOND_NS < dump->started_ns)
		dump->other_clock = true;
}

static int take_header(struct jit_dump *dump, struct cursor cursor, uint64_t now_ns)
{
	uint64_t magic = cursor_u32(&cursor);
	uint64_t version = cursor_u32(&cursor);
	uint64_t size = cursor_u32(&cursor);
	uint64_t pid;
	uint64_t time_ns;

	(void)cursor_u64(&cursor); /* machine and padding */
	pid = cursor_u32(&cursor);
	time_ns = cursor_u64(&cursor);
	if (cursor_u64(&cursor) & FLAG_ARCH_TIMESTAMP)
		dump->other_clock = true;
	if (cursor.failed)
		return -EAGAIN;
	if (magic != MAGIC || version == 0 || version > 2 || size < HEADER_BYTES || size > 4096)
		return -EBADMSG;
	/* What was inherited by fork was begun before. */
	if (pid == dump->pid || pid == dump->outer_pid)
		check_clock(dump, time_ns, now_ns);
	dump->at += size;
	dump->started = true;
	return 0;
}

/* A process that was forked has what its parent had made until then, and nothing of later. */
static bool is_ours(const struct jit_dump *dump, const struct record *record, uint64_t pid)
{
	return !dump->pid || pid == dump->pid || pid == dump->outer_pid ||
	       record->time_ns < dump->started_ns;
}

/* Without a clock in common, the order of records is the time. */
static uint64_t time_of(const struct jit_dump *dump, const struct record *record)
{
	return dump->other_clock ? dump->at : record->time_ns;
}

static void drop_pending(struct jit_dump_lines *lines)
{
	free(lines->record);
	*lines = (struct jit_dump_lines){0};
}

static int keep_lines(struct jit_dump *dump, struct cursor cursor)
{
	struct jit_dump_lines *lines = &dump->pending[dump->next_pending];
	size_t len = cursor_left(&cursor);

	dump->next_pending = (dump->next_pending + 1) % JIT_DUMP_MAX_PENDING;
	drop_pending(lines);
	lines->record = malloc(len ? len : 1);
	if (!lines->record)
		return -ENOMEM;
	memcpy(lines->record, cursor.at, len);
	lines->len = len;
	lines->addr = cursor_u64(&cursor);
	return 0;
}

/* DEBUG_INFO: {address, line, column, file}...; a file of "\xff" is the last one's again. */
static int add_lines(struct jit_dump *dump, const struct jit_dump_lines *lines,
		     struct jit_function *function)
{
	struct cursor cursor = cursor_over(lines->record, lines->len, 8, lines->len);
	uint64_t n_entries = cursor_u64(&cursor);
	const char *file = "";
	size_t file_len = 0;
	bool kept = false; /* the line added last has it, too */

	for (uint64_t i = 0; i < n_entries && !cursor.failed; i++) {
		uint64_t addr = cursor_u64(&cursor);
		uint32_t line = cursor_u32(&cursor);
		const char *text;
		size_t len;
		int r;

		(void)cursor_u32(&cursor); /* column */
		text = take_text(&cursor, &len);
		if (len != 1 || (uint8_t)text[0] != 0xff) {
			kept = kept && len == file_len && memcmp(text, file, len) == 0;
			file = text;
			file_len = len;
		}
		if (cursor.failed || addr < function->start || addr >= function->end)
			continue;
		r = jit_code_add_line(&dump->code, (uint32_t)(addr - function->start),
				      kept ? NULL : file, file_len, line);
		if (r < 0)
			return r;
		kept = true;
		function->n_lines++;
	}
	return 0;
}

static int add_pending(struct jit_dump *dump, struct jit_function *function)
{
	for (size_t i = 0; i < JIT_DUMP_MAX_PENDING; i++) {
		struct jit_dump_lines *lines = &dump->pending[i];
		int r;

		if (!lines->record || lines->addr != function->start)
			continue;
		r = add_lines(dump, lines, function);
		drop_pending(lines);
		return r;
	}
	return 0;
}

static int take_load(struct jit_dump *dump, const struct record *record, struct cursor cursor)
{
	struct jit_function function = {.from_ns = time_of(dump, record)};
	uint64_t pid = cursor_u32(&cursor);
	const char *name;
	uint64_t bytes;
	size_t len;
	int r;

	(void)cursor_u32(&cursor); /* thread */
	(void)cursor_u64(&cursor); /* where it will be run from: the same */
	function.start = cursor_u64(&cursor);
	bytes = cursor_u64(&cursor);
	(void)cursor_u64(&cursor); /* its number */
	name = take_text(&cursor, &len);
	/* The code is in the record, after the name. */
	if (cursor.failed || bytes > JIT_MAX_CODE_BYTES || bytes > record->size ||
	    !is_ours(dump, record, pid))
		return 0;
	function.end = function.start + bytes;
	r = add_pending(dump, &function);
	if (r == 0)
		r = jit_code_add(&dump->code, &function, name, len < MAX_NAME ? len : MAX_NAME);
	return r;
}

static int take_move(struct jit_dump *dump, const struct record *record, struct cursor cursor)
{
	uint64_t pid = cursor_u32(&cursor);
	uint64_t from;
	uint64_t to;
	int r;

	(void)cursor_u32(&cursor);
	(void)cursor_u64(&cursor);
	from = cursor_u64(&cursor);
	to = cursor_u64(&cursor);
	if (cursor.failed || !is_ours(dump, record, pid))
		return 0;
	r = jit_code_move(&dump->code, from, to, time_of(dump, record));
	return r == -ENOENT ? 0 : r;
}

/* How much of a record is read: of code only what comes before it. */
static size_t wanted_bytes(const struct record *record)
{
	size_t all = record->size - RECORD_BYTES;
	size_t most = record->id == CODE_LOAD         ? 40 + MAX_NAME
		      : record->id == CODE_DEBUG_INFO ? MAX_LINES_RECORD
		      : record->id == CODE_MOVE       ? 48
						      : 0;

	return all < most ? all : most;
}

static int take_record(struct jit_dump *dump, const struct record *record, struct cursor body)
{
	switch (record->id) {
	case CODE_LOAD:
		return take_load(dump, record, body);
	case CODE_MOVE:
		return take_move(dump, record, body);
	case CODE_DEBUG_INFO:
		return keep_lines(dump, body);
	case CODE_CLOSE:
		dump->ended = true;
		return 0;
	default:
		return 0; /* unwinding information, and what later versions add */
	}
}

/* Does the name of a LOAD end within what is there? */
static bool has_name(const struct record *record, const struct cursor *body)
{
	size_t len = cursor_left(body);

	return record->id != CODE_LOAD || (len > 40 && memchr(body->at + 40, '\0', len - 40));
}

static int take_next(struct jit_dump *dump, struct cursor *cursor, uint64_t now_ns)
{
	struct cursor at = *cursor;
	struct record record;
	struct cursor body;
	size_t wanted;
	int r;

	record.id = cursor_u32(&at);
	record.size = cursor_u32(&at);
	record.time_ns = cursor_u64(&at);
	if (at.failed)
		return -EAGAIN;
	if (record.size < RECORD_BYTES || record.size > MAX_PASSED_OVER)
		return -EBADMSG;
	wanted = wanted_bytes(&record);
	body = (struct cursor){.at = at.at, .end = at.end};
	if (wanted < cursor_left(&body))
		body.end = body.at + wanted;
	else if (wanted > cursor_left(&body) &&
		 (record.id != CODE_LOAD || !has_name(&record, &body)))
		return -EAGAIN;
	if (!dump->other_clock && record.id == CODE_LOAD && record.time_ns > now_ns + SECOND_NS)
		record.time_ns = now_ns;
	r = take_record(dump, &record, body);
	if (r == -EFBIG) {
		/* Going on without would leave names on code that is gone: rather none. */
		jit_code_release(&dump->code);
		dump->full = true;
		r = 0;
	}
	dump->at += record.size;
	cursor->at = record.size - RECORD_BYTES < cursor_left(&at)
			     ? at.at + (record.size - RECORD_BYTES)
			     : at.end;
	return r;
}

int jit_dump_read(struct jit_dump *dump, const uint8_t *bytes, size_t len, uint64_t now_ns)
{
	struct cursor cursor = {.at = bytes, .end = bytes + len};
	uint64_t began = dump->at;
	int r = 0;

	if (!dump->started) {
		r = take_header(dump, cursor, now_ns);
		if (r == 0 && dump->at - began > len)
			return 0;
		if (r == 0)
			cursor.at = bytes + (dump->at - began);
	}
	while (r == 0 && !dump->ended && cursor.at < cursor.end && !loader_is_stopping())
		r = take_next(dump, &cursor, now_ns);
	if (r == -EAGAIN && dump->at != began)
		r = 0;
	dump->ended = dump->ended || r == -EBADMSG;
	return r;
}

void jit_dump_release(struct jit_dump *dump)
{
	for (size_t i = 0; i < JIT_DUMP_MAX_PENDING; i++)
		drop_pending(&dump->pending[i]);
	jit_code_release(&dump->code);
}
