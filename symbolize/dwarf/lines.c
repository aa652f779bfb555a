/* lines.c - the machine of 6.2.2, and its sequences put in order */
#include "symbolize/dwarf/lines.h"

#include "base/array.h"
#include "base/search.h"
#include "symbolize/bounds/loader.h"
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

/* 6.2.2, and where the next row goes.  A copy of it lives in processor registers while opcodes
 * run that call nothing: that makes programs run twice as fast. */
struct registers {
	uint64_t addr;
	uint64_t operation; /* within the instruction at ADDR; 0 but for VLIW */
	uint32_t file;
	uint32_t line;
	uint32_t column;
	bool is_stmt;

	bool begun;     /* the sequence has a row */
	bool backwards; /* and one that begins before the one before it */
	uint64_t last;  /* address of its last row */
	struct line_row *next;
};

struct machine {
	const struct line_header *header;
	const struct elf_head *head;
	struct line_files *files;
	struct advance special[OPCODES];
	struct registers now;
	struct line_row *rows;
	size_t rows_room;
	size_t first; /* row of the sequence at hand */
	struct sequence *sequences;
	size_t n_sequences;
	size_t sequences_room;
};

/* A sequence begins. */
static void reset(struct machine *machine)
{
	machine->now = (struct registers){
		.file = 1,
		.line = 1,
		.is_stmt = machine->header->default_is_stmt,
		.next = &machine->rows[machine->first],
	};
}

static void prepare(struct machine *machine)
{
	const struct line_header *header = machine->header;

	struct advance next = {.operations = 0, .line = header->line_base};

	/* Adjusted opcode by line_range, quotient and remainder: 240 divisions would take longer
	 * than many a program. */
	for (int opcode = header->opcode_base; opcode < OPCODES; opcode++) {
		machine->special[opcode] = next;
		if (++next.line == header->line_base + header->line_range)
			next = (struct advance){.operations = next.operations + 1,
						.line = header->line_base};
	}
	reset(machine);
}

static inline void advance(struct registers *now, const struct line_header *header,
			   uint64_t operations)
{
	if (__builtin_expect(header->max_operations == 1, 1)) {
		now->addr += operations * header->min_instruction;
		return;
	}
	operations += now->operation;
	now->addr += operations / header->max_operations * header->min_instruction;
	now->operation = operations % header->max_operations;
}

/* A row at the registers; it takes the place of one at the same address.  There is room. */
static inline void add_row(struct registers *now)
{
	struct line_row *row = now->next - (now->begun & (now->last == now->addr));

	now->backwards |= now->begun & (now->addr < now->last);
	row->addr = now->addr;
	row->file = now->file;
	row->line = now->line;
	row->column = now->column;
	row->is_stmt = now->is_stmt;
	row->ends = false;
	now->begun = true;
	now->last = now->addr;
	now->next = row + 1;
}

static bool is_full(const struct machine *machine, const struct registers *now)
{
	return now->next == machine->rows + machine->rows_room;
}

static int grow_rows(struct machine *machine, struct registers *now)
{
	size_t n = (size_t)(now->next - machine->rows);
	size_t room = machine->rows_room * 2;
	struct line_row *rows = reallocarray(machine->rows, room, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	machine->rows = rows;
	machine->rows_room = room;
	now->next = rows + n;
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

static int keep_sequence(struct machine *machine, size_t n)
{
	const struct line_row *rows = &machine->rows[machine->first];

	if (array_reserve(&machine->sequences, machine->n_sequences, &machine->sequences_room, 8) <
	    0)
		return -ENOMEM;
	machine->sequences[machine->n_sequences++] = (struct sequence){
		.start = rows[0].addr,
		.end = rows[n - 1].addr,
		.first = machine->first,
		.n_rows = n,
	};
	machine->first += n;
	return 0;
}

static int end_sequence(struct machine *machine)
{
	struct line_row *rows = &machine->rows[machine->first];
	size_t n;
	int r = 0;

	add_row(&machine->now);
	n = (size_t)(machine->now.next - rows);
	if (machine->now.backwards)
		r = sort_rows(rows, &n);
	/* Out of order, what stands last is not the end's own row. */
	rows[n - 1].line = 0;
	rows[n - 1].ends = true;
	if (r == 0 && n >= 2 && is_code(machine, rows[0].addr))
		r = keep_sequence(machine, n);
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
		machine->now.addr = cursor_unsigned(&operands, cursor_left(&operands));
		machine->now.operation = 0;
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

/* Opcodes with rare or long operands. */
static int run_other(struct machine *machine, uint8_t opcode, struct cursor *cursor)
{
	switch (opcode) {
	case 0:
		return run_extended(machine, cursor);
	case DW_LNS_advance_pc:
		advance(&machine->now, machine->header, cursor_uleb(cursor));
		break;
	case DW_LNS_advance_line:
		machine->now.line += (uint32_t)cursor_signed_leb(cursor);
		break;
	case DW_LNS_set_file:
		machine->now.file = narrow(cursor_uleb(cursor));
		break;
	case DW_LNS_set_column:
		machine->now.column = narrow(cursor_uleb(cursor));
		break;
	case DW_LNS_fixed_advance_pc:
		machine->now.addr += cursor_u16(cursor);
		machine->now.operation = 0;
		break;
	default: /* DW_LNS_set_isa, and those that are newer than this */
		for (int i = 0; i < machine->header->lengths[opcode - 1]; i++)
			cursor_uleb_skip(cursor);
		break;
	}
	return cursor->failed ? -EBADMSG : 0;
}

/* 6.2.5.2, those whose operand is there and has one byte.  False: it is for run_other(). */
static inline bool run_short(struct registers *now, const struct machine *machine, uint8_t opcode,
			     const uint8_t **at)
{
	uint8_t operand = **at;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(now);
		return true;
	case DW_LNS_negate_stmt:
		now->is_stmt = !now->is_stmt;
		return true;
	case DW_LNS_const_add_pc:
		advance(now, machine->header, machine->special[OPCODES - 1].operations);
		return true;
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		return true;
	case DW_LNS_advance_pc:
	case DW_LNS_advance_line:
	case DW_LNS_set_file:
	case DW_LNS_set_column:
		if (operand >= 0x80)
			return false;
		break;
	default:
		return false;
	}
	++*at;
	if (opcode == DW_LNS_set_column)
		now->column = operand;
	else if (opcode == DW_LNS_advance_line)
		now->line += (uint32_t)operand - (operand & 0x40) * 2U;
	else if (opcode == DW_LNS_set_file)
		now->file = operand;
	else
		advance(now, machine->header, operand);
	return true;
}

/* One opcode that is not run with the registers at hand. */
static int step_out(struct machine *machine, struct registers *now, uint8_t opcode,
		    struct cursor *cursor)
{
	int r;

	if (loader_is_stopping())
		return -ECANCELED;
	machine->now = *now;
	r = run_other(machine, opcode, cursor);
	*now = machine->now;
	return r;
}

/* The last byte is never run_short()'s, which reads the one after it. */
static int run(struct machine *machine)
{
	const struct line_header *header = machine->header;
	struct cursor cursor = header->program;
	const uint8_t *at = cursor.at;
	struct registers now;
	int r = 0;

	prepare(machine);
	now = machine->now;
	while (r == 0 && at < cursor.end) {
		uint8_t opcode = *at++;

		if (__builtin_expect(is_full(machine, &now), 0))
			r = grow_rows(machine, &now);
		if (__builtin_expect(r < 0, 0))
			break;
		if (__builtin_expect(opcode >= header->opcode_base, 1)) {
			advance(&now, header, machine->special[opcode].operations);
			now.line += (uint32_t)machine->special[opcode].line;
			add_row(&now);
		} else if (at == cursor.end || !run_short(&now, machine, opcode, &at)) {
			struct registers copy = now;

			cursor.at = at;
			r = step_out(machine, &copy, opcode, &cursor);
			now = copy;
			at = cursor.at;
		}
	}
	return r;
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

	if (!machine->sequences || in_order(machine)) {
		table->rows = machine->rows;
		table->n_rows = machine->first;
		machine->rows = NULL;
		return 0;
	}
	table->rows = reallocarray(NULL, machine->first, sizeof(*table->rows));
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
	size_t n = search_up_to(table->rows, table->n_rows, sizeof(*table->rows), addr);

	return n ? n - 1 : table->n_rows;
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
