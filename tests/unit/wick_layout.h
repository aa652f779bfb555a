/* wick_layout.h - wick.h keeps its tables as sampler/wire/tables.h and context.h lay them out */
#ifndef UNIT_WICK_LAYOUT_H
#define UNIT_WICK_LAYOUT_H

#include "sampler/include/wick.h"
#include "sampler/wire/tables.h"

#include <stddef.h>

#define SAME_SIZE(a, b)                                                                            \
	_Static_assert(sizeof(struct a) == sizeof(struct b) &&                                     \
			       _Alignof(struct a) == _Alignof(struct b),                           \
		       #a)
#define SAME(a, b, field)                                                                          \
	_Static_assert(offsetof(struct a, field) == offsetof(struct b, field) &&                   \
			       sizeof(((struct a *)0)->field) == sizeof(((struct b *)0)->field),   \
		       #a "." #field)
#define EQUAL(a, b) _Static_assert((int)(a) == (int)(b), #a)

SAME_SIZE(wick_record, otel_record);
SAME(wick_record, otel_record, trace_id);
SAME(wick_record, otel_record, span_id);
SAME(wick_record, otel_record, valid);
SAME(wick_record, otel_record, trace_flags);
SAME(wick_record, otel_record, attrs_bytes);
SAME(wick_record, otel_record, attrs);
SAME_SIZE(wick_context, context_value);
SAME(wick_context, context_value, trace_id);
SAME(wick_context, context_value, span_id);
SAME(wick_context, context_value, identity);
SAME(wick_context, context_value, flags);
SAME_SIZE(wick_thread, context_thread);
SAME(wick_thread, context_thread, block);
SAME(wick_thread, context_thread, value);
SAME_SIZE(wick_anchor, tables_anchor);
SAME(wick_anchor, tables_anchor, abi);
_Static_assert(offsetof(struct wick_anchor, state) == offsetof(struct tables_anchor, state), "one");
SAME_SIZE(wick_state, tables_state);
SAME(wick_state, tables_state, abi);
SAME(wick_state, tables_state, bytes);
SAME(wick_state, tables_state, until);
SAME(wick_state, tables_state, mult);
SAME(wick_state, tables_state, stall);
SAME(wick_state, tables_state, clock);
SAME(wick_state, tables_state, session);
SAME(wick_state, tables_state, tables);
SAME(wick_state, tables_state, lost_threads);
SAME(wick_state, tables_state, misuse);
SAME_SIZE(wick_text, table_name);
SAME(wick_text, table_name, kind);
SAME(wick_text, table_name, hash);
SAME(wick_text, table_name, line);
SAME(wick_text, table_name, bytes);
SAME(wick_text, table_name, file_bytes);
SAME(wick_text, table_name, text);
SAME(wick_text, table_name, pad);
SAME_SIZE(wick_tables, tables);
SAME(wick_tables, tables, n_names);
SAME(wick_tables, tables, n_nodes);
SAME(wick_tables, tables, n_cells);
SAME(wick_tables, tables, n_threads);
SAME(wick_tables, tables, n_identities);
SAME(wick_tables, tables, pad);
SAME(wick_tables, tables, lost_names);
SAME(wick_tables, tables, lost_nodes);
SAME(wick_tables, tables, lost_cells);
SAME(wick_tables, tables, threads);
SAME(wick_tables, tables, nodes);
SAME(wick_tables, tables, cells);
SAME(wick_tables, tables, name_index);
SAME(wick_tables, tables, node_index);
SAME(wick_tables, tables, cell_index);
SAME(wick_tables, tables, names);
SAME(wick_tables, tables, attrs);
SAME(wick_tables, tables, inside_itself);
SAME_SIZE(wick_node_row, table_node_row);
SAME(wick_node_row, table_node_row, begun);
SAME(wick_node_row, table_node_row, ended);
SAME(wick_node_row, table_node_row, self);
SAME(wick_node_row, table_node_row, wall);
SAME(wick_node_row, table_node_row, max);
SAME(wick_node_row, table_node_row, run_max);
SAME(wick_node_row, table_node_row, stillborn);
SAME(wick_node_row, table_node_row, cancelled);
SAME(wick_node_row, table_node_row, failed);
SAME(wick_node_row, table_node_row, stalls);
SAME(wick_node_row, table_node_row, identity);
SAME(wick_node_row, table_node_row, cell);
SAME_SIZE(wick_cell_row, table_cell_row);
SAME(wick_cell_row, table_cell_row, count);
SAME(wick_cell_row, table_cell_row, sum_ns);
SAME(wick_cell_row, table_cell_row, self_ns);
SAME(wick_cell_row, table_cell_row, min_ns);
SAME(wick_cell_row, table_cell_row, max_ns);
SAME(wick_cell_row, table_cell_row, exemplar_ns);
SAME(wick_cell_row, table_cell_row, exemplar_ticks);
SAME(wick_cell_row, table_cell_row, exemplar_trace);
SAME(wick_cell_row, table_cell_row, chunks);
SAME_SIZE(wick_run, table_run);
SAME(wick_run, table_run, task);
SAME(wick_run, table_run, ticks);
SAME(wick_run, table_run, began);
SAME(wick_run, table_run, outer_nested);
SAME(wick_run, table_run, outer_value);
SAME(wick_run, table_run, node);
SAME(wick_run, table_run, outer_node);
SAME(wick_run, table_run, outer_attrs);
SAME(wick_run, table_run, pad);
SAME_SIZE(wick_block, table_thread);
SAME(wick_block, table_thread, tid);
SAME(wick_block, table_thread, node);
SAME(wick_block, table_thread, last);
SAME(wick_block, table_thread, nested);
SAME(wick_block, table_thread, depth);
SAME(wick_block, table_thread, n_chunks);
SAME(wick_block, table_thread, lost_chunks);
SAME(wick_block, table_thread, random);
SAME(wick_block, table_thread, session);
SAME(wick_block, table_thread, number);
SAME(wick_block, table_thread, identity_bytes);
SAME(wick_block, table_thread, base);
SAME(wick_block, table_thread, profile);
SAME(wick_block, table_thread, recent);
SAME(wick_block, table_thread, pad);
SAME(wick_block, table_thread, record);
SAME(wick_block, table_thread, runs);
SAME(wick_block, table_thread, nodes);
SAME(wick_block, table_thread, cells);
SAME(wick_block, table_thread, chunks);

EQUAL(WICK_TABLES_ABI, TABLES_ABI);
EQUAL(WICK_NAMES, TABLES_NAMES);
EQUAL(WICK_IDENTITIES, TABLES_IDENTITIES);
EQUAL(WICK_INDEX, TABLES_INDEX);
EQUAL(1 << WICK_INDEX_BITS, TABLES_INDEX);
EQUAL(WICK_OTHER, TABLES_OTHER);
EQUAL(WICK_STEPS, TABLES_STEPS);
EQUAL(WICK_OCTAVES, TABLES_OCTAVES);
EQUAL(WICK_IDENTITY_KEY, CONTEXT_IDENTITY);
EQUAL(WICK_TASK_KEY, CONTEXT_TASK);
EQUAL(WICK_TIER_KEY, CONTEXT_TIER);
EQUAL(WICK_FUNCTION_KEY, CONTEXT_FUNCTION);
EQUAL(WICK_IDENTITY, NAME_IDENTITY);
EQUAL(WICK_TIER_NAME, NAME_TIER);
EQUAL(WICK_FUNCTION, NAME_FUNCTION);
EQUAL(WICK_TASK, NAME_TASK);
EQUAL(WICK_MISUSE_REQUEST_END, MISUSE_REQUEST_END);
EQUAL(WICK_MISUSE_TASK_RUN, MISUSE_TASK_RUN);
EQUAL(WICK_MISUSE_TASK_SUSPEND, MISUSE_TASK_SUSPEND);
EQUAL(WICK_MISUSE_TASK_FINISH, MISUSE_TASK_FINISH);
EQUAL(WICK_MISUSE_ORDER, MISUSE_ORDER);
EQUAL(WICK_MISUSE_DEPTH, MISUSE_DEPTH);

#endif
