/* profile_triggers.c - why a file was written, and what came true in it */
#include "tools/info/profile_triggers.h"

#include "base/json.h"
#include "base/words.h"
#include "tools/summary/module_list.h"

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
