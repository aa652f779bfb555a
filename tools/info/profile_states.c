/* profile_states.c - what the threads of a recording were doing, and what they waited for */
#include "tools/info/internal.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/saturated.h"
#include "base/words.h"
#include "tools/cli/terminal.h"
#include "tools/summary/module_list.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 256 };

void profile_triggers_take(struct profile_triggers *triggers, struct intern *names,
			   const char *json)
{
	struct json_scan scan = {.at = json};
	struct profile_trigger trigger = {0};
	struct json_pair pair;
	char text[TEXT_BYTES];

	while (json_scan_next(&scan, &pair)) {
		if (pair.depth != 1)
			continue;
		if (json_scan_is(&pair, "time_ns"))
			(void)json_scan_number(&pair, &trigger.time_ns);
		if (!pair.is_string)
			continue;
		module_list_text(&pair, text, sizeof(text));
		if (json_scan_is(&pair, "why"))
			trigger.why = intern_string(names, text);
		else if (json_scan_is(&pair, "value"))
			trigger.value = intern_string(names, text);
	}
	if (!trigger.why)
		return;
	if (triggers->n < PROFILE_MOST_TRIGGERS)
		triggers->at[triggers->n] = trigger;
	triggers->n++;
}

static size_t n_kept(const struct profile_triggers *triggers)
{
	return triggers->n < PROFILE_MOST_TRIGGERS ? triggers->n : PROFILE_MOST_TRIGGERS;
}

void profile_triggers_print(const struct profile_triggers *triggers, uint64_t first_ns,
			    struct buf *buf)
{
	for (size_t i = 0; i < n_kept(triggers); i++) {
		const struct profile_trigger *trigger = &triggers->at[i];
		uint64_t after_ns = trigger->time_ns > first_ns ? trigger->time_ns - first_ns : 0;

		buf_printf(buf, "  %-10s at %.2f s: ", i ? "" : "trigger", (double)after_ns / 1e9);
		words_plain(buf, trigger->why);
		if (trigger->value) {
			buf_add(buf, " (");
			words_plain(buf, trigger->value);
			buf_add_char(buf, ')');
		}
		buf_add_char(buf, '\n');
	}
	if (triggers->n > PROFILE_MOST_TRIGGERS)
		buf_printf(buf, "  %-10s and %zu more\n", "", triggers->n - PROFILE_MOST_TRIGGERS);
}

void profile_triggers_print_json(const struct profile_triggers *triggers, struct buf *buf)
{
	if (triggers->n)
		buf_add(buf, ",\"triggers\":[");
	for (size_t i = 0; i < n_kept(triggers); i++) {
		const struct profile_trigger *trigger = &triggers->at[i];

		buf_add(buf, i ? ",{" : "{");
		json_add_number(buf, "time_ns", trigger->time_ns);
		json_add_text(buf, "why", trigger->why);
		if (trigger->value)
			json_add_text(buf, "value", trigger->value);
		buf_add_char(buf, '}');
	}
	if (triggers->n)
		buf_add_char(buf, ']');
}

enum { TOP_WAITS = 8, FIRST_ROOM = 64 };

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

/* Room for one more; false when memory ran out. */
static bool make_room(struct profile_states *states)
{
	size_t room = states->room ? states->room * 2 : FIRST_ROOM;
	void *items;

	if (states->n < states->room)
		return true;
	items = realloc(states->items, room * sizeof(*states->items));
	if (!items)
		return false;
	states->items = items;
	states->room = room;
	return true;
}

static const char *intern_or_null(struct intern *names, const char *text)
{
	return text && *text ? intern_string(names, text) : NULL;
}

static struct profile_share *new_share(struct profile_states *states, struct intern *names,
				       uint64_t key, const struct perf_facts *facts)
{
	struct profile_share *share;

	if (states->n == PROFILE_MAX_SHARES || !make_room(states) ||
	    map_put(&states->index, key, (void *)(uintptr_t)(states->n + 1)) < 0)
		return NULL;
	share = &states->items[states->n++];
	*share = (struct profile_share){
		.state = intern_or_null(names, facts->state),
		.wait = intern_or_null(names, facts->wait),
		.object = intern_or_null(names, facts->object),
	};
	return share;
}

/* FNV-1a of a word and its NUL; two shares of one key would be counted as one. */
static uint64_t add_to_key(uint64_t key, const char *text)
{
	do {
		key ^= (unsigned char)*text;
		key *= UINT64_C(0x100000001b3);
	} while (*text++);
	return key;
}

static struct profile_share *find_share(struct profile_states *states, struct intern *names,
					const struct perf_facts *facts)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);
	size_t at;

	key = add_to_key(key, facts->state);
	key = add_to_key(key, or_nothing(facts->wait));
	key = add_to_key(key, or_nothing(facts->object));
	at = (size_t)(uintptr_t)map_get(&states->index, key);
	return at ? &states->items[at - 1] : new_share(states, names, key, facts);
}

void profile_states_add(struct profile_states *states, struct intern *names,
			const struct perf_text_sample *sample)
{
	struct perf_facts facts = {
		.state = sample->facts.state,
		.wait = sample->facts.wait,
		.object = sample->facts.object,
	};
	struct profile_share *share;

	if (!facts.state || !*facts.state)
		return;
	states->weight = saturated_add(states->weight, sample->head.period);
	/* Half of the room is for shares without an object: words are few, objects are not. */
	if (states->n >= PROFILE_MAX_SHARES / 2)
		facts.object = NULL;
	share = find_share(states, names, &facts);
	if (!share) {
		states->uncounted++;
		return;
	}
	share->samples++;
	share->weight = saturated_add(share->weight, sample->head.period);
}

void profile_states_release(struct profile_states *states)
{
	map_release(&states->index);
	free(states->items);
	*states = (struct profile_states){0};
}

/* ---- printing: the same shares, folded by what is requested */

enum fold {
	BY_STATE,
	BY_WAIT,
	BY_OBJECT, /* wait and object */
};

struct folded {
	struct profile_share *items;
	size_t n;
};

static void folded_release(struct folded *folded)
{
	free(folded->items);
}

#define _cleanup_folded_ __attribute__((cleanup(folded_release)))

static int compare_words(const char *a, const char *b)
{
	return strcmp(or_nothing(a), or_nothing(b));
}

static int compare_names(const void *a, const void *b)
{
	const struct profile_share *left = a;
	const struct profile_share *right = b;
	int r = compare_words(left->state, right->state);

	if (r == 0)
		r = compare_words(left->wait, right->wait);
	return r ? r : compare_words(left->object, right->object);
}

/* Largest first; ties by name. */
static int compare_weights(const void *a, const void *b)
{
	const struct profile_share *left = a;
	const struct profile_share *right = b;

	if (left->weight != right->weight)
		return left->weight < right->weight ? 1 : -1;
	return compare_names(a, b);
}

/* What the fold does not ask for is left out; false: the share has nothing to give. */
static bool reduce(struct profile_share *share, enum fold by)
{
	if (by == BY_STATE)
		share->wait = NULL;
	else
		share->state = NULL;
	if (by != BY_OBJECT)
		share->object = NULL;
	return by == BY_STATE || (by == BY_WAIT ? share->wait : share->object) != NULL;
}

/* Empty when memory ran out. */
static struct folded fold(const struct profile_states *states, enum fold by)
{
	struct folded folded = {.items = calloc(states->n + 1, sizeof(*states->items))};
	size_t n = 0;

	if (!folded.items)
		return folded;
	for (size_t i = 0; i < states->n; i++) {
		folded.items[n] = states->items[i];
		n += reduce(&folded.items[n], by);
	}
	qsort(folded.items, n, sizeof(*folded.items), compare_names);
	for (size_t i = 0; i < n; i++) {
		struct profile_share *last = &folded.items[folded.n - (folded.n > 0)];

		if (folded.n && compare_names(last, &folded.items[i]) == 0) {
			last->samples += folded.items[i].samples;
			last->weight = saturated_add(last->weight, folded.items[i].weight);
		} else {
			folded.items[folded.n++] = folded.items[i];
		}
	}
	qsort(folded.items, folded.n, sizeof(*folded.items), compare_weights);
	return folded;
}

static void print_folded(const struct profile_states *states, enum fold by, const char *topic,
			 struct buf *buf)
{
	_cleanup_folded_ struct folded folded = fold(states, by);

	for (size_t i = 0; i < folded.n && i < TOP_WAITS; i++) {
		const struct profile_share *share = &folded.items[i];

		buf_printf(buf, "  %-10s ", i ? "" : topic);
		text_share(buf, (double)share->weight, (double)states->weight);
		buf_add(buf, "  ");
		words_plain(buf, or_nothing(by == BY_STATE ? share->state : share->wait));
		if (by == BY_OBJECT) {
			buf_add(buf, "  ");
			words_plain(buf, or_nothing(share->object));
		}
		buf_add_char(buf, '\n');
	}
	if (folded.n > TOP_WAITS) {
		buf_printf(buf, "  %-10s ", "");
		text_of(buf, folded.n - TOP_WAITS, by == BY_STATE ? "other state" : "other");
		buf_add_char(buf, '\n');
	}
}

static bool has_two_states(const struct profile_states *states)
{
	for (size_t i = 1; i < states->n; i++)
		if (states->items[i].state != states->items[0].state)
			return true;
	return false;
}

void profile_states_print(const struct profile_states *states, struct buf *buf)
{
	if (!has_two_states(states))
		return;
	print_folded(states, BY_STATE, "states", buf);
	print_folded(states, BY_WAIT, "waits", buf);
	print_folded(states, BY_OBJECT, "waits on", buf);
}

static void add_name(struct buf *buf, const char *name, const char *text)
{
	buf_printf(buf, "\"%s\":", name);
	json_add_string(buf, or_nothing(text));
	buf_add_char(buf, ',');
}

static void add_folded(const struct profile_states *states, enum fold by, struct buf *buf)
{
	_cleanup_folded_ struct folded folded = fold(states, by);

	for (size_t i = 0; i < folded.n; i++) {
		const struct profile_share *share = &folded.items[i];

		buf_add(buf, i ? ",{" : "{");
		add_name(buf, by == BY_STATE ? "state" : "wait",
			 by == BY_STATE ? share->state : share->wait);
		if (by == BY_OBJECT)
			add_name(buf, "on", share->object);
		buf_printf(buf, "\"samples\":%llu,\"weight\":%llu}",
			   (unsigned long long)share->samples, (unsigned long long)share->weight);
	}
}

void profile_states_print_json(const struct profile_states *states, struct buf *buf)
{
	buf_add(buf, ",\"states\":[");
	add_folded(states, BY_STATE, buf);
	buf_add(buf, "],\"waits\":[");
	add_folded(states, BY_WAIT, buf);
	buf_add(buf, "],\"objects\":[");
	add_folded(states, BY_OBJECT, buf);
	buf_add_char(buf, ']');
}
