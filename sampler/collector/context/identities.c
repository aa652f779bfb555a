/* identities.c - names of requests, from the tables of wick.h in the program */
#include "sampler/collector/context/identities.h"

#include "sampler/collector/context/symbols.h"
#include "sampler/wire/tables.h"

#include <stdlib.h>
#include <string.h>

/* Return: its address; 0: it has none yet, or of another layout. */
static uint64_t tables_of(int mem_fd, uint64_t anchor)
{
	struct tables_anchor at;
	struct tables_state state;

	if (!anchor || !module_memory(mem_fd, anchor, &at, sizeof(at)) || at.abi != TABLES_ABI ||
	    !module_memory(mem_fd, at.state, &state, sizeof(state)) || state.abi != TABLES_ABI)
		return 0;
	return state.tables;
}

const char *identities_find(struct identities *identities, int mem_fd, uint64_t anchor,
			    uint32_t number)
{
	char *text = map_get(&identities->names, number);
	struct table_name name;
	uint64_t tables;

	if (text || number == 0 || number >= TABLES_NAMES)
		return text;
	tables = tables_of(mem_fd, anchor);
	if (!tables ||
	    !module_memory(mem_fd, tables + offsetof(struct tables, names) + number * sizeof(name),
			   &name, sizeof(name)) ||
	    name.kind != NAME_IDENTITY || name.bytes >= sizeof(name.text))
		return NULL;
	text = strndup(name.text, name.bytes);
	if (text && map_put(&identities->names, number, text) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

void identities_release(struct identities *identities)
{
	map_free_values(&identities->names);
	map_release(&identities->names);
}
