/* name.c - names of functions, and of what they are in */
#include "symbolize/dwarf/name.h"

#include "symbolize/dwarf/die.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum name_kind { NAME_FUNCTION, NAME_SCOPE };

enum {
	LANGUAGE_C17 = 0x2c,
	MAX_MEMBERS = 2048, /* entries of a class that are read */
};

/* Entries followed to the one that declares the function. */
struct declaration {
	const char *linkage; /* NULL: none */
	const char *name;    /* NULL: none */
	struct loaded_unit *unit;
	uint64_t offset;
	const struct abbrev *abbrev;
};

/* What all of these need. */
struct naming {
	struct name_memo *memo;
	struct unit_cache *cache;
};

static size_t slot_of(const struct name_memo *memo, const struct dwarf_source *source, uint64_t key)
{
	uint64_t hash = (key ^ (uint64_t)(uintptr_t)source) * 0x9e3779b97f4a7c15ULL;
	size_t at = (size_t)(hash >> 20) & (memo->size - 1);

	while (memo->entries[at].source &&
	       (memo->entries[at].source != source || memo->entries[at].key != key))
		at = (at + 1) & (memo->size - 1);
	return at;
}

/* NULL: it was not requested yet. */
static struct name_entry *recall(const struct name_memo *memo, const struct dwarf_source *source,
				 uint64_t key)
{
	struct name_entry *entry;

	if (!memo->size)
		return NULL;
	entry = &memo->entries[slot_of(memo, source, key)];
	return entry->name ? entry : NULL;
}

static int grow(struct name_memo *memo)
{
	struct name_memo bigger = {.size = memo->size ? memo->size * 2 : 1024};

	bigger.entries = calloc(bigger.size, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < memo->size; i++) {
		const struct name_entry *entry = &memo->entries[i];

		if (entry->source)
			bigger.entries[slot_of(&bigger, entry->source, entry->key)] = *entry;
	}
	free(memo->entries);
	memo->entries = bigger.entries;
	memo->size = bigger.size;
	return 0;
}

static struct name_entry *remember(struct name_memo *memo, const struct dwarf_source *source,
				   uint64_t key, const char *name)
{
	struct name_entry *entry;

	if (!name || (memo->n_entries * 2 >= memo->size && grow(memo) < 0))
		return NULL;
	entry = &memo->entries[slot_of(memo, source, key)];
	memo->n_entries += !entry->source;
	*entry = (struct name_entry){.source = source, .key = key, .name = name};
	return entry;
}

static const char *keep(struct name_memo *memo, const char *text, size_t len)
{
	if (memo->n_bytes > NAME_MEMO_MAX_BYTES)
		return ""; /* within one function: no compiler's work */
	memo->n_bytes += len + 1;
	return intern_bytes(&memo->strings, text, len);
}

/* No name is longer than what is done with it can stand. */
static const char *truncate_name(struct name_memo *memo, const char *text)
{
	size_t len = strnlen(text, NAME_MAX_BYTES + 1);

	return len <= NAME_MAX_BYTES ? text : keep(memo, text, NAME_MAX_BYTES);
}

/* One entry; whether it refers to another by REF that has to be followed. */
static bool read_one(enum name_kind kind, struct declaration *to, struct form_value *ret_ref)
{
	const struct die_unit *unit = &to->unit->die;
	struct cursor cursor = die_cursor(unit, to->offset);
	struct die_values values;

	to->abbrev = die_begin(unit, &cursor);
	if (!to->abbrev)
		return false;
	die_read(&cursor, unit, to->abbrev, &values);
	if (cursor.failed)
		return false;
	if (kind == NAME_FUNCTION && die_has(&values, SLOT_LINKAGE_NAME))
		to->linkage = form_string(&unit->unit, &values.of[SLOT_LINKAGE_NAME]);
	if (to->linkage)
		return false; /* nothing else is needed */
	if (!to->name && die_has(&values, SLOT_NAME))
		to->name = form_string(&unit->unit, &values.of[SLOT_NAME]);
	if (die_has(&values, SLOT_ORIGIN))
		*ret_ref = values.of[SLOT_ORIGIN];
	else if (die_has(&values, SLOT_SPECIFICATION))
		*ret_ref = values.of[SLOT_SPECIFICATION];
	else
		return false;
	return true;
}

/* From TO's unit and offset to the entry that declares what it is. */
static int follow(struct unit_cache *cache, enum name_kind kind, struct declaration *to)
{
	for (int n = 0; n < NAME_MAX_CHAIN; n++) {
		const struct dwarf_source *source;
		struct loaded_unit *unit;
		struct form_value ref;
		uint64_t offset;
		int r;

		if (!read_one(kind, to, &ref))
			return 0;
		if (!unit_cache_target(to->unit, &ref, &source, &offset))
			return 0;
		r = unit_cache_around(cache, to->unit, source, offset, &unit);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
		to->unit = unit;
		to->offset = offset;
	}
	return 0;
}

/* Names in C are not qualified: what is around a function there is no part of its name. */
static bool qualifies(const struct dwarf_unit *unit)
{
	switch (unit->language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANGUAGE_C17:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

/* Is it the class of a lambda: does it have an operator()? */
static bool is_closure(const struct declaration *class)
{
	const struct die_unit *unit = &class->unit->die;
	struct cursor cursor = die_cursor(unit, class->offset);
	const struct abbrev *abbrev = die_begin(unit, &cursor);

	if (!abbrev || !abbrev->children)
		return false;
	die_skip(&cursor, unit, abbrev);
	for (int n = 0; n < MAX_MEMBERS && (abbrev = die_begin(unit, &cursor)) != NULL; n++) {
		struct cursor attrs = cursor;
		struct die_values values;
		const char *name;

		if (abbrev->role == ROLE_SUBPROGRAM) {
			die_read(&attrs, unit, abbrev, &values);
			name = !attrs.failed && die_has(&values, SLOT_NAME)
				       ? form_string(&unit->unit, &values.of[SLOT_NAME])
				       : NULL;
			/* Of a generic one there may be instances only: operator()<int>. */
			if (name && strncmp(name, "operator()", strlen("operator()")) == 0)
				return true;
		}
		if (die_jump(&cursor, unit, abbrev) &&
		    !die_pass_children(&cursor, unit, MAX_MEMBERS))
			return false;
	}
	return false;
}

static const char *name_nameless(struct naming *naming, const struct declaration *scope)
{
	char text[48];
	unsigned k;
	int len;

	if (scope->abbrev && scope->abbrev->role == ROLE_NAMESPACE)
		return scope->abbrev->named ? "" : "(anonymous namespace)";
	if (!scope->abbrev || scope->abbrev->role != ROLE_CLASS)
		return "";
	if (scope->abbrev->named)
		return ""; /* it has a name that cannot be read: none is invented */
	if (!is_closure(scope))
		return "(anonymous class)";
	k = function_index_ordinal(&scope->unit->index, &scope->unit->die, scope->offset);
	len = snprintf(text, sizeof(text), "{lambda#%u}", k);
	return keep(naming->memo, text, (size_t)len);
}

static const char *scope_name(struct naming *naming, struct loaded_unit *unit, uint64_t offset,
			      unsigned depth);

static const char *join(struct naming *naming, const char *scope, const char *name)
{
	size_t scope_len = strnlen(scope, NAME_MAX_BYTES);
	size_t len = strnlen(name, NAME_MAX_BYTES);
	char text[2 * NAME_MAX_BYTES + 2];

	if (scope_len == 0)
		return truncate_name(naming->memo, name);
	memcpy(text, scope, scope_len);
	text[scope_len] = ':';
	text[scope_len + 1] = ':';
	memcpy(text + scope_len + 2, name, len);
	len += scope_len + 2;
	return keep(naming->memo, text, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
}

/* The name after that of its scope. */
static const char *qualify( // NOLINT(misc-no-recursion): NAME_MAX_SCOPES
	struct naming *naming, const struct declaration *what, unsigned depth)
{
	struct loaded_unit *unit = what->unit;
	const char *name = what->name;
	const char *scope = "";
	uint64_t around;

	if (name && (!qualifies(&unit->die.unit) || depth >= NAME_MAX_SCOPES))
		return truncate_name(naming->memo, name);
	if (unit_cache_index(naming->cache, unit, false) < 0)
		return truncate_name(naming->memo, name ? name : "");
	if (!name)
		name = name_nameless(naming, what);
	if (!name || !name[0])
		return name;
	around = function_index_scope(&unit->index, &unit->die, what->offset);
	if (around && depth < NAME_MAX_SCOPES)
		scope = scope_name(naming, unit, around, depth + 1);
	return scope ? join(naming, scope, name) : NULL;
}

/* Functions in a scope's name are by their plain name: a linkage name cannot be continued. */
static const char *scope_name( // NOLINT(misc-no-recursion): NAME_MAX_SCOPES
	struct naming *naming, struct loaded_unit *unit, uint64_t offset, unsigned depth)
{
	const struct dwarf_source *source = unit->die.unit.source;
	uint64_t key = offset * 2 + NAME_SCOPE;
	const struct name_entry *entry = recall(naming->memo, source, key);
	struct declaration scope = {.unit = unit, .offset = offset};

	if (!entry) {
		if (follow(naming->cache, NAME_SCOPE, &scope) < 0)
			return NULL;
		entry = remember(naming->memo, source, key, qualify(naming, &scope, depth));
	}
	return entry ? entry->name : NULL;
}

struct name_entry *name_of_function(struct name_memo *memo, struct unit_cache *cache,
				    struct loaded_unit *near, const struct dwarf_source *source,
				    uint64_t offset)
{
	struct naming naming = {.memo = memo, .cache = cache};
	uint64_t key = offset * 2 + NAME_FUNCTION;
	struct name_entry *entry = recall(memo, source, key);
	struct declaration function = {.offset = offset};
	const char *name = "";
	int r;

	if (entry)
		return entry;
	r = unit_cache_around(cache, near, source, offset, &function.unit);
	if (r == 0)
		r = follow(cache, NAME_FUNCTION, &function);
	if (r == -ENOMEM)
		return NULL;
	if (r == 0)
		name = function.linkage ? truncate_name(memo, function.linkage)
					: qualify(&naming, &function, 0);
	return remember(memo, source, key, name);
}

bool name_memo_full(const struct name_memo *memo)
{
	return memo->n_entries > NAME_MEMO_MAX || memo->n_bytes > NAME_MEMO_MAX_BYTES;
}

void name_memo_release(struct name_memo *memo)
{
	free(memo->entries);
	intern_release(&memo->strings);
	*memo = (struct name_memo){.entries = NULL};
}
