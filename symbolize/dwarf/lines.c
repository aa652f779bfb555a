/* lines.c - the machine of 6.2.2, and its sequences put in order */
#include "symbolize/dwarf/lines.h"

#include "symbolize/dwarf/line_header.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPCODES = 256 };

/* Rows that belong together: from its first to its end, without a gap. */
struct sequence {
	uint64_t start;
	uint64_t end;
	size_t first; /* row */
	size_t n_rows;
};

/* What a special opcode adds (6.2.5.1), worked out once a program. */
struct advance {
	uint32_t operations;
	int32_t line;
};

struct machine {
	const struct line_header *header;
	const struct elf_head *head;
	struct line_files *files;
	struct advance special[OPCODES];

	/* The registers. */
	uint64_t addr;
	uint64_t operation; /* within the instruction at ADDR; 0 but for VLIW */
	uint32_t file;
	uint32_t line;
	uint32_t column;
	bool is_stmt;

	struct line_row *rows;
	size_t n_rows;
	size_t rows_room;
	size_t first; /* row of the sequence at hand */
	bool backwards;
	struct sequence *sequences;
	size_t n_sequences;
	size_t sequences_room;
};

static void reset(struct machine *machine)
{
	machine->addr = 0;
	machine->operation = 0;
	machine->file = 1;
	machine->line = 1;
	machine->column = 0;
	machine->is_stmt = machine->header->default_is_stmt;
}

static void prepare(struct machine *machine)
{
	const struct line_header *header = machine->header;

	for (int opcode = header->opcode_base; opcode < OPCODES; opcode++) {
		int adjusted = opcode - header->opcode_base;

		machine->special[opcode] = (struct advance){
			.operations = (uint32_t)(adjusted / header->line_range),
			.line = header->line_base + adjusted % header->line_range,
		};
	}
	reset(machine);
}

static inline void advance(struct machine *machine, uint64_t operations)
{
	const struct line_header *header = machine->header;

	if (__builtin_expect(header->max_operations == 1, 1)) {
		machine->addr += operations * header->min_instruction;
		return;
	}
	operations += machine->operation;
	machine->addr += operations / header->max_operations * header->min_instruction;
	machine->operation = operations % header->max_operations;
}

static int grow_rows(struct machine *machine)
{
	size_t room = machine->rows_room * 2;
	struct line_row *rows = reallocarray(machine->rows, room, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	machine->rows = rows;
	machine->rows_room = room;
	return 0;
}

/* A row of LINE at the registers; it takes the place of one at the same address. */
static inline int add_row(struct machine *machine, uint32_t line)
{
	struct line_row *row = &machine->rows[machine->n_rows];
	int r;

	if (machine->n_rows > machine->first) {
		machine->backwards |= machine->addr < row[-1].addr;
		if (row[-1].addr == machine->addr) {
			row--;
			machine->n_rows--;
		}
	}
	if (__builtin_expect(machine->n_rows == machine->rows_room, 0)) {
		r = grow_rows(machine);
		if (r < 0)
			return r;
		row = &machine->rows[machine->n_rows];
	}
	row->addr = machine->addr;
	row->file = machine->file;
	row->line = line;
	row->column = machine->column;
	row->is_stmt = machine->is_stmt;
	row->ends = false;
	machine->n_rows++;
	return 0;
}

/* Two runs of rows become one.  Of two at one address the second run's is the later. */
static void merge(const struct line_row *from, size_t middle, size_t n, struct line_row *to)
{
	size_t a = 0;
	size_t b = middle;

	for (size_t i = 0; i < n; i++) {
		if (b == n || (a < middle && from[a].addr <= from[b].addr))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* Addresses may only go up (6.2.5): some producers' do not.  A stable merge sort. */
static int sort_rows(struct line_row *rows, size_t *n_rows)
{
	size_t n = *n_rows;
	struct line_row *other = reallocarray(NULL, n, sizeof(*other));
	size_t kept = 0;

	if (!other)
		return -ENOMEM;
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			size_t len = n - i < 2 * width ? n - i : 2 * width;

			merge(rows + i, len < width ? len : width, len, other + i);
		}
		memcpy(rows, other, n * sizeof(*rows));
	}
	free(other);
	for (size_t i = 0; i < n; i++) {
		if (kept && rows[kept - 1].addr == rows[i].addr)
			kept--;
		rows[kept++] = rows[i];
	}
	*n_rows = kept;
	return 0;
}

/* Code that the linker threw away stays in the program, at an address where there is no code. */
static bool is_code(const struct machine *machine, uint64_t start)
{
	return start != 0 && elf_head_executable(machine->head, start);
}

static int keep_sequence(struct machine *machine)
{
	const struct line_row *rows = &machine->rows[machine->first];
	size_t n = machine->n_rows - machine->first;

	if (machine->n_sequences == machine->sequences_room) {
		size_t room = machine->sequences_room ? machine->sequences_room * 2 : 8;
		struct sequence *more =
			reallocarray(machine->sequences, room, sizeof(*machine->sequences));

		if (!more)
			return -ENOMEM;
		machine->sequences = more;
		machine->sequences_room = room;
	}
	machine->sequences[machine->n_sequences++] = (struct sequence){
		.start = rows[0].addr,
		.end = rows[n - 1].addr,
		.first = machine->first,
		.n_rows = n,
	};
	return 0;
}

static int end_sequence(struct machine *machine)
{
	int r = add_row(machine, 0);

	if (r == 0 && machine->backwards) {
		size_t n = machine->n_rows - machine->first;

		r = sort_rows(&machine->rows[machine->first], &n);
		machine->n_rows = machine->first + n;
	}
	if (r < 0)
		return r;
	/* Out of order, what stands last is not the end's own row. */
	machine->rows[machine->n_rows - 1].line = 0;
	machine->rows[machine->n_rows - 1].ends = true;
	if (machine->n_rows - machine->first < 2 ||
	    !is_code(machine, machine->rows[machine->first].addr))
		machine->n_rows = machine->first;
	else
		r = keep_sequence(machine);
	machine->first = machine->n_rows;
	machine->backwards = false;
	reset(machine);
	return r;
}

static int define_file(struct machine *machine, struct cursor *cursor)
{
	const char *name = cursor_string(cursor);
	uint64_t folder = cursor_uleb(cursor);

	if (!name)
		return -EBADMSG;
	return machine->files ? line_files_add(machine->files, name, folder) : 0;
}

/* 6.2.5.3: a length, an opcode, its operands. */
static int run_extended(struct machine *machine, struct cursor *cursor)
{
	uint64_t len = cursor_uleb(cursor);
	struct cursor operands = *cursor;

	if (!cursor_skip(cursor, len))
		return -EBADMSG;
	operands.end = cursor->at;
	if (len == 0)
		return 0;
	switch (cursor_u8(&operands)) {
	case DW_LNE_end_sequence:
		return end_sequence(machine);
	case DW_LNE_set_address:
		machine->addr = cursor_unsigned(&operands, cursor_left(&operands));
		machine->operation = 0;
		return operands.failed ? -EBADMSG : 0;
	case DW_LNE_define_file:
		return define_file(machine, &operands);
	default: /* DW_LNE_set_discriminator and what others made up */
		return 0;
	}
}

/* A number that is too large for its register is none that a file or a line has. */
static uint32_t narrow(uint64_t number)
{
	return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

/* 6.2.5.2 */
static int run_standard(struct machine *machine, uint8_t opcode, struct cursor *cursor)
{
	switch (opcode) {
	case DW_LNS_copy:
		return add_row(machine, machine->line);
	case DW_LNS_advance_pc:
		advance(machine, cursor_uleb(cursor));
		break;
	case DW_LNS_advance_line:
		machine->line += (uint32_t)cursor_sleb(cursor);
		break;
	case DW_LNS_set_file:
		machine->file = narrow(cursor_uleb(cursor));
		break;
	case DW_LNS_set_column:
		machine->column = narrow(cursor_uleb(cursor));
		break;
	case DW_LNS_negate_stmt:
		machine->is_stmt = !machine->is_stmt;
		break;
	case DW_LNS_const_add_pc:
		advance(machine, machine->special[OPCODES - 1].operations);
		break;
	case DW_LNS_fixed_advance_pc:
		machine->addr += cursor_u16(cursor);
		machine->operation = 0;
		break;
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	default: /* DW_LNS_set_isa, and those that are newer than this */
		for (int i = 0; i < machine->header->lengths[opcode - 1]; i++)
			cursor_uleb_skip(cursor);
		break;
	}
	return 0;
}

static int run(struct machine *machine)
{
	struct cursor cursor = machine->header->program;
	const uint8_t opcode_base = machine->header->opcode_base;
	int r = 0;

	prepare(machine);
	while (r == 0 && cursor.at < cursor.end) {
		uint8_t opcode = *cursor.at++;

		if (__builtin_expect(opcode >= opcode_base, 1)) {
			advance(machine, machine->special[opcode].operations);
			machine->line += (uint32_t)machine->special[opcode].line;
			r = add_row(machine, machine->line);
		} else if (opcode == 0) {
			r = run_extended(machine, &cursor);
		} else {
			r = run_standard(machine, opcode, &cursor);
		}
	}
	machine->n_rows = machine->first; /* a sequence without an end is none */
	return r < 0 ? r : cursor.failed ? -EBADMSG : 0;
}

/* By address; of two that begin at one, the earlier in the program. */
static int compare(const void *left, const void *right)
{
	const struct sequence *a = (const struct sequence *)left;
	const struct sequence *b = (const struct sequence *)right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->first < b->first ? -1 : 1;
}

static bool in_order(const struct machine *machine)
{
	for (size_t i = 1; i < machine->n_sequences; i++) {
		if (machine->sequences[i].start <= machine->sequences[i - 1].end)
			return false; /* or the row of one's end is another's first */
	}
	return true;
}

/* The rows of a sequence from FROM on; the row that FROM is in begins there. */
static void copy_rows(struct line_table *table, const struct line_row *rows, size_t n,
		      uint64_t from)
{
	while (n > 1 && rows[1].addr <= from) {
		rows++;
		n--;
	}
	/* It begins where the one before it ends: that one's last row is not needed. */
	if (table->n_rows && table->rows[table->n_rows - 1].addr >= from)
		table->n_rows--;
	memcpy(table->rows + table->n_rows, rows, n * sizeof(*rows));
	if (rows[0].addr < from)
		table->rows[table->n_rows].addr = from;
	table->n_rows += n;
}

/* Sequences in order of addresses.  Where two overlap (functions that were folded into one), the
 * one that began first keeps what it has. */
static int order(struct machine *machine, struct line_table *table)
{
	uint64_t end = 0;

	if (in_order(machine)) {
		table->rows = machine->rows;
		table->n_rows = machine->n_rows;
		machine->rows = NULL;
		return 0;
	}
	table->rows = reallocarray(NULL, machine->n_rows, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	qsort(machine->sequences, machine->n_sequences, sizeof(*machine->sequences), compare);
	for (size_t i = 0; i < machine->n_sequences; i++) {
		const struct sequence *sequence = &machine->sequences[i];

		if (sequence->end <= end)
			continue;
		copy_rows(table, &machine->rows[sequence->first], sequence->n_rows,
			  sequence->start > end ? sequence->start : end);
		end = sequence->end;
	}
	return 0;
}

static int run_program(const struct line_header *header, struct machine *machine,
		       struct line_table *table)
{
	int r;

	/* A row needs a byte or more, three or so of them on average. */
	machine->rows_room = cursor_left(&header->program) / 4 + 16;
	machine->rows = reallocarray(NULL, machine->rows_room, sizeof(*machine->rows));
	if (!machine->rows)
		return -ENOMEM;
	r = run(machine);
	if (r == 0)
		r = order(machine, table);
	free(machine->rows);
	free(machine->sequences);
	return r;
}

int lines_read(const struct dwarf_unit *unit, const struct elf_head *head,
	       struct line_table *ret_table)
{
	struct line_table table = {0};
	struct line_header header;
	struct machine machine = {.header = &header, .head = head};
	int r = line_header_read(unit, &header, &table.files);

	if (r < 0)
		return r;
	machine.files = table.files;
	r = run_program(&header, &machine, &table);
	if (r < 0) {
		line_table_release(&table);
		return r;
	}
	*ret_table = table;
	return 0;
}

size_t line_table_find(const struct line_table *table, uint64_t addr)
{
	size_t lo = 0;
	size_t hi = table->n_rows;

	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;

		if (table->rows[middle].addr <= addr)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo ? lo - 1 : table->n_rows;
}

size_t line_table_n_files(const struct line_table *table)
{
	return line_files_count(table->files);
}

const char *line_table_file(struct line_table *table, uint64_t file)
{
	return line_files_path(table->files, file);
}

void line_table_release(struct line_table *table)
{
	free(table->rows);
	line_files_free(table->files);
	*table = (struct line_table){0};
}
