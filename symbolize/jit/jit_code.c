/* jit_code.c - functions by page: those that new code overwrites end */
#include "symbolize/jit/internal.h"

#include "base/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Compilers align functions to 16 bytes or more: a page with twice as many holds none of theirs. */
enum { PAGE_SHIFT = 12, MAX_STEPS = 1024, MAX_IN_PAGE = 512 };

/* One function in one page.  Nodes of a page are a chain: the number of the next, plus one. */
struct jit_page_node {
	uint32_t function;
	uint32_t next;
};

static int claim(struct jit_code *code, size_t more)
{
	code->claim.use = MEMORY_JIT;
	return memory_claim(&code->claim, code->claim.bytes + more);
}

static int make_room(struct jit_code *code, void **array, size_t n, size_t *n_room, size_t size,
		     size_t limit)
{
	size_t n_more = *n_room ? *n_room * 2 : 256;
	void *more;

	if (n < *n_room)
		return 0;
	if (n >= limit || claim(code, (n_more - *n_room) * size) < 0)
		return -EFBIG;
	more = realloc(*array, n_more * size);
	if (!more)
		return -ENOMEM;
	*array = more;
	*n_room = n_more;
	return 0;
}

static int add_text(struct jit_code *code, const char *text, size_t len, uint32_t *ret_at)
{
	size_t at = code->names.len;
	int r = 0;

	if (!code->names.limit)
		buf_init(&code->names, JIT_MAX_NAME_BYTES);
	if (at + len + 1 > code->names.size) /* a buffer doubles */
		r = claim(code, 2 * (at + len + 1) - code->names.size);
	if (r < 0)
		return r;
	r = buf_append(&code->names, text, len);
	if (r == 0)
		r = buf_append(&code->names, "", 1);
	if (r == 0)
		*ret_at = (uint32_t)at;
	return r;
}

/*
 * Take the functions that overlap NEW out of a page, and end them.  What is left of a page are
 * functions that are there now; they do not overlap.
 */
static uint32_t clear_page(struct jit_code *code, uint32_t head, struct jit_function *new)
{
	uint32_t kept = 0;
	int n_kept = 0;

	while (head) {
		struct jit_page_node *node = &code->nodes[head - 1];
		struct jit_function *old = &code->functions[node->function];
		uint32_t next = node->next;
		bool apart = old->start >= new->end || new->start >= old->end;

		if (!apart && new->from_ns >= old->from_ns) {
			if (old->until_ns > new->from_ns)
				old->until_ns = new->from_ns;
		} else {
			/* Written by another thread, it came later and speaks of earlier. */
			if (!apart && new->until_ns > old->from_ns)
				new->until_ns = old->from_ns;
			if (++n_kept > MAX_IN_PAGE) {
				/* Later code could not end it any more. */
				if (old->until_ns > new->from_ns)
					old->until_ns = new->from_ns;
			} else {
				node->next = kept;
				kept = head;
			}
		}
		head = next;
	}
	return kept;
}

static uint32_t page_head(const struct jit_code *code, uint64_t page)
{
	return (uint32_t)(uintptr_t)map_get(&code->pages, page);
}

static int add_to_page(struct jit_code *code, uint64_t page, uint32_t function)
{
	uint32_t head = page_head(code, page);
	int r = make_room(code, (void **)&code->nodes, code->n_nodes, &code->n_nodes_room,
			  sizeof(*code->nodes), 4 * (size_t)JIT_MAX_FUNCTIONS);

	if (r < 0)
		return r;
	code->nodes[code->n_nodes++] = (struct jit_page_node){.function = function, .next = head};
	return map_put(&code->pages, page, (void *)(uintptr_t)code->n_nodes);
}

/* The lines that were added since the last function. */
static void take_lines(const struct jit_code *code, struct jit_function *function)
{
	if (function->n_lines > code->n_lines)
		function->n_lines = 0;
	function->first_line = (uint32_t)(code->n_lines - function->n_lines);
}

static int append(struct jit_code *code, const struct jit_function *function)
{
	uint64_t first = function->start >> PAGE_SHIFT;
	uint64_t last = (function->end - 1) >> PAGE_SHIFT;
	uint32_t number = (uint32_t)code->n_functions;
	int r = make_room(code, (void **)&code->functions, code->n_functions, &code->n_room,
			  sizeof(*code->functions), JIT_MAX_FUNCTIONS);

	if (r < 0)
		return r;
	code->functions[code->n_functions++] = *function;
	for (uint64_t page = first; r == 0 && page <= last; page++) {
		uint32_t head = page_head(code, page);

		if (head)
			r = map_put(&code->pages, page,
				    (void *)(uintptr_t)clear_page(code, head,
								  &code->functions[number]));
	}
	/* One that has ended already ends nothing any more. */
	if (code->functions[number].until_ns != JIT_FOREVER)
		return r;
	for (uint64_t page = first; r == 0 && page <= last; page++)
		r = add_to_page(code, page, number);
	return r;
}

int jit_code_add(struct jit_code *code, const struct jit_function *function, const char *name,
		 size_t name_len)
{
	struct jit_function added = *function;
	int r;

	if (added.end <= added.start || added.end - added.start > JIT_MAX_CODE_BYTES ||
	    name_len == 0)
		return 0;
	r = add_text(code, name, name_len, &added.name);
	if (r < 0)
		return r;
	added.until_ns = JIT_FOREVER;
	take_lines(code, &added);
	return append(code, &added);
}

int jit_code_add_line(struct jit_code *code, uint32_t offset, const char *file, size_t file_len,
		      uint32_t line)
{
	struct jit_line added = {.offset = offset, .line = line};
	int r = make_room(code, (void **)&code->lines, code->n_lines, &code->n_lines_room,
			  sizeof(*code->lines), JIT_MAX_LINES);

	if (r < 0)
		return r;
	if (!file && code->n_lines) {
		added.file = code->lines[code->n_lines - 1].file;
	} else {
		r = add_text(code, file ? file : "", file ? file_len : 0, &added.file);
		if (r < 0)
			return r;
	}
	code->lines[code->n_lines++] = added;
	return 0;
}

int jit_code_move(struct jit_code *code, uint64_t from, uint64_t to, uint64_t time_ns)
{
	uint32_t head = page_head(code, from >> PAGE_SHIFT);

	for (; head; head = code->nodes[head - 1].next) {
		struct jit_function *old = &code->functions[code->nodes[head - 1].function];
		struct jit_function moved = *old;

		if (old->start != from || old->until_ns != JIT_FOREVER)
			continue;
		old->until_ns = time_ns;
		moved.start = to;
		moved.end = to + (old->end - old->start);
		moved.from_ns = time_ns;
		moved.until_ns = JIT_FOREVER;
		return moved.end > moved.start ? append(code, &moved) : 0;
	}
	return -ENOENT;
}

static int compare(const void *left, const void *right)
{
	const struct jit_function *a = left;
	const struct jit_function *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static int copy_array(void **to, const void *from, size_t bytes)
{
	if (!bytes)
		return 0;
	*to = malloc(bytes);
	if (!*to)
		return -ENOMEM;
	memcpy(*to, from, bytes);
	return 0;
}

int jit_code_copy(const struct jit_code *code, struct jit_code *ret_copy)
{
	struct jit_code copy = {.n_functions = code->n_functions, .n_lines = code->n_lines};
	uint64_t max_end = 0;
	int r = claim(&copy, code->n_functions * sizeof(*code->functions) +
				     code->n_lines * sizeof(*code->lines) + code->names.len);

	if (r < 0)
		return r;
	r = copy_array((void **)&copy.functions, code->functions,
		       code->n_functions * sizeof(*code->functions));

	if (r == 0)
		r = copy_array((void **)&copy.lines, code->lines,
			       code->n_lines * sizeof(*code->lines));
	buf_init(&copy.names, JIT_MAX_NAME_BYTES);
	if (r == 0 && code->names.len)
		r = buf_append(&copy.names, code->names.data, code->names.len);
	if (r < 0) {
		jit_code_release(&copy);
		return r;
	}
	if (copy.n_functions)
		qsort(copy.functions, copy.n_functions, sizeof(*copy.functions), compare);
	for (size_t i = 0; i < copy.n_functions; i++) {
		if (copy.functions[i].end > max_end)
			max_end = copy.functions[i].end;
		copy.functions[i].max_end = max_end;
	}
	*ret_copy = copy;
	return 0;
}

const struct jit_function *jit_code_find(const struct jit_code *code, uint64_t addr,
					 uint64_t time_ns)
{
	const struct jit_function *best = NULL;
	size_t i = search_up_to(code->functions, code->n_functions, sizeof(*code->functions), addr);

	for (int steps = 0; i-- > 0 && steps < MAX_STEPS; steps++) {
		const struct jit_function *function = &code->functions[i];

		if (addr >= function->max_end)
			break;
		if (addr < function->end && function->from_ns <= time_ns &&
		    time_ns < function->until_ns && (!best || function->from_ns > best->from_ns))
			best = function;
	}
	return best;
}

const char *jit_code_name(const struct jit_code *code, const struct jit_function *function)
{
	return code->names.data + function->name;
}

uint32_t jit_code_line(const struct jit_code *code, const struct jit_function *function,
		       uint64_t addr, const char **ret_file)
{
	const struct jit_line *lines;
	const struct jit_line *best = NULL;

	if (!function->n_lines)
		return 0;
	lines = code->lines + function->first_line;

	/* Writers are not bound to an order. */
	for (uint32_t i = 0; i < function->n_lines; i++)
		if (lines[i].offset <= addr - function->start &&
		    (!best || lines[i].offset >= best->offset))
			best = &lines[i];
	if (!best || !best->line)
		return 0;
	*ret_file = code->names.data + best->file;
	return best->line;
}

void jit_code_release(struct jit_code *code)
{
	free(code->functions);
	free(code->lines);
	free(code->nodes);
	buf_release(&code->names);
	map_release(&code->pages);
	(void)memory_claim(&code->claim, 0);
	*code = (struct jit_code){0};
}
