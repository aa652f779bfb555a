/* metric_list.c - the metrics of --metrics */
#include "tools/options/options.h"

#include "base/buf.h"
#include "tools/cli/cmd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *name, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(name, word, len) == 0;
}

static bool take_known(const char *name, size_t len, struct metric_list *list)
{
	const struct metric *metrics = metrics_columns();

	if (is_word(name, len, "auto")) {
		list->mask |= metrics_auto();
		return true;
	}
	if (is_word(name, len, "all")) {
		list->mask |= (UINT32_C(1) << METRIC_BUILTIN) - 1;
		return true;
	}
	for (size_t i = 0; i < METRIC_BUILTIN; i++) {
		if (is_word(name, len, metrics[i].name)) {
			list->mask |= UINT32_C(1) << i;
			list->named |= UINT32_C(1) << i;
			return true;
		}
	}
	return false;
}

static int take_gauge(const char *name, size_t len, enum metric_kind kind, struct metric_list *list,
		      struct err *err)
{
	for (size_t i = 0; i < list->n_gauges; i++)
		if (is_word(name, len, list->gauges[i]))
			return 0;
	if (list->n_gauges == METRIC_MAX_GAUGES)
		return err_set(err, 0, "'%.*s' is one gauge too many: at most %d can be recorded",
			       (int)len, name, METRIC_MAX_GAUGES);
	memcpy(list->gauges[list->n_gauges], name, len);
	list->kinds[list->n_gauges] = kind;
	list->mask |= UINT32_C(1) << (METRIC_BUILTIN + list->n_gauges);
	list->n_gauges++;
	return 0;
}

static int refuse(const char *name, size_t len, struct err *err)
{
	struct buf known;
	int r;

	buf_init(&known, 1024);
	for (size_t i = 0; i < METRIC_BUILTIN; i++)
		buf_printf(&known, ", %s", metrics_columns()[i].name);
	r = err_set(err, 0,
		    "'%.*s' is not a metric; there are auto, all, none%s, and gauges of the "
		    "program ([a-z0-9_], at most %d of them)",
		    len > 64 ? 64 : (int)len, name, buf_text(&known), METRIC_NAME_SIZE - 1);
	buf_release(&known);
	return r;
}

static int take_name(const char *name, size_t len, struct metric_list *list, struct err *err)
{
	static const char counter[] = ":counter";
	enum metric_kind kind = METRIC_GAUGE;

	if (take_known(name, len, list))
		return 0;
	if (len > sizeof(counter) - 1 &&
	    is_word(name + len - (sizeof(counter) - 1), sizeof(counter) - 1, counter)) {
		len -= sizeof(counter) - 1;
		kind = METRIC_COUNTER;
	}
	if (is_word(name, len, "none") || len == 0 || len >= METRIC_NAME_SIZE ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") < len)
		return refuse(name, len, err);
	return take_gauge(name, len, kind, list, err);
}

int metric_list_parse(const char *text, struct metric_list *ret_list, struct err *err)
{
	struct metric_list list = {0};
	int r = 0;

	if (strcmp(text, "none") == 0) {
		*ret_list = list;
		return 0;
	}
	for (const char *at = text; r == 0; at++) {
		size_t len = strcspn(at, ",");

		r = take_name(at, len, &list, err);
		at += len;
		if (!*at)
			break;
	}
	if (r == 0)
		*ret_list = list;
	return r;
}

const char *metric_list_nearest(const char *gauge)
{
	const struct metric *metrics = metrics_columns();
	const char *words[METRIC_BUILTIN + 1] = {NULL};

	for (size_t i = 0; i < METRIC_BUILTIN; i++)
		words[i] = metrics[i].name;
	return option_nearest(gauge, words);
}

void metric_list_columns(const struct metric_list *list, struct metric_columns *ret_columns)
{
	memcpy(ret_columns->metrics, metrics_columns(),
	       METRIC_BUILTIN * sizeof(ret_columns->metrics[0]));
	for (size_t i = 0; i < list->n_gauges; i++) {
		ret_columns->gauges[i] = list->gauges[i];
		ret_columns->metrics[METRIC_BUILTIN + i] = (struct metric){
			.name = list->gauges[i], .unit = "1", .kind = list->kinds[i]};
	}
	ret_columns->n = METRIC_BUILTIN + list->n_gauges;
}
