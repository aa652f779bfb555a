/* perf_script_head.c - the comment lines at the start and the end of a file */
#include "base/json.h"
#include "output/text/perf_script.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum {
	FORMAT = 1,
	CMDLINE_MAX = 16384, /* bytes of it that are written */
};

static void add_captured(struct buf *buf, uint64_t captured_ns)
{
	time_t seconds = (time_t)(captured_ns / 1000000000U);
	struct tm utc;
	char text[40] = "";

	if (gmtime_r(&seconds, &utc))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	buf_add(buf, "# captured on    : ");
	buf_add(buf, text);
	buf_add_char(buf, '\n');
}

static void add_line(struct buf *buf, const char *label, const char *text)
{
	buf_add(buf, "# ");
	buf_add(buf, label);
	buf_add(buf, " : ");
	sanitise_line(buf, text);
	buf_add_char(buf, '\n');
}

static void add_machine(struct buf *buf, const struct perf_script_header *header)
{
	struct utsname name;
	uint32_t n_cpus = header->n_cpus;

	if (uname(&name) < 0)
		name = (struct utsname){.nodename = "?", .release = "?", .machine = "?"};
	if (n_cpus == 0) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		n_cpus = n > 0 ? (uint32_t)n : 1;
	}
	add_line(buf, "hostname", header->hostname ? header->hostname : name.nodename);
	add_line(buf, "os release", header->os_release ? header->os_release : name.release);
	add_line(buf, "arch", header->arch ? header->arch : name.machine);
	buf_add(buf, "# nrcpus online : ");
	buf_add_dec(buf, n_cpus, 0, ' ');
	buf_add_char(buf, '\n');
}

/* Text of a header line as it stood there: what is encoded stays so, and is not encoded again. */
static void add_kept(struct buf *buf, const char *label, const char *text)
{
	struct buf part;

	if (!*text)
		return;
	buf_init(&part, CMDLINE_MAX);
	buf_add(buf, label);
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, "%");

		buf_clear(&part);
		(void)buf_append(&part, at, len < CMDLINE_MAX / 2 ? len : CMDLINE_MAX / 2);
		sanitise_line(buf, buf_text(&part));
		at += len;
		if (!*at)
			break;
		buf_add_char(buf, '%');
	}
	buf_add_char(buf, '\n');
	buf_release(&part);
}

/* Only what the original says: this machine has no part in it. */
static void add_original(struct buf *buf, const struct perf_script_copy *copy)
{
	add_kept(buf, "# captured on    : ", copy->captured);
	add_kept(buf, "# hostname : ", copy->hostname);
	add_kept(buf, "# cmdline : ", copy->cmdline);
}

static void add_cmdline(struct buf *buf, const struct perf_script_header *header)
{
	size_t start = buf->len;

	if (header->argc <= 0)
		return;
	buf_add(buf, "# cmdline :");
	for (int i = 0; i < header->argc && header->argv[i]; i++) {
		buf_add_char(buf, ' ');
		if (buf->len - start + strlen(header->argv[i]) > CMDLINE_MAX) {
			buf_add(buf, "...");
			break;
		}
		sanitise_line(buf, header->argv[i]);
	}
	buf_add_char(buf, '\n');
}

static void add_metrics(struct buf *buf, const struct perf_script_options *options)
{
	const char *comma = "";

	buf_add(buf, ",\"metrics\":[");
	for (size_t i = 0; i < options->n_metrics && i < SAMPLE_MAX_METRICS; i++) {
		const struct metric *metric = &options->metrics[i];

		if (!(options->metrics_mask >> i & 1U))
			continue;
		buf_add(buf, comma);
		buf_add(buf, "{\"name\":");
		json_add_string(buf, metric->name);
		buf_add(buf, ",\"unit\":");
		json_add_string(buf, metric->unit);
		buf_add(buf, metric->kind == METRIC_GAUGE ? ",\"kind\":\"gauge\"}"
							  : ",\"kind\":\"counter\"}");
		comma = ",";
	}
	buf_add_char(buf, ']');
}

/* Which of the outermost frames are made up; nothing when none are. */
static void add_groups(struct buf *buf, const struct perf_script_options *options)
{
	const char *comma = ",\"groups\":[";

	for (size_t i = 0; i < options->groups.n; i++) {
		buf_add(buf, comma);
		json_add_string(buf, groups_name(&options->groups.at[i], options->metrics));
		comma = ",";
	}
	if (options->groups.n)
		buf_add_char(buf, ']');
}

static void add_number(struct buf *buf, const char *name, uint64_t value)
{
	buf_add_char(buf, ',');
	json_add_string(buf, name);
	buf_add_char(buf, ':');
	buf_add_dec(buf, value, 0, ' ');
}

/* The words of a "# s" line that are no metrics: what every event may have, and its own. */
static void add_keys(struct buf *buf, const char *event, const struct perf_script_copy *copy)
{
	const char *comma = ",\"keys\":[";

	if (copy) {
		for (size_t i = 0; i < copy->n_keys; i++) {
			buf_add(buf, comma);
			json_add_string(buf, copy->keys[i]);
			comma = ",";
		}
		buf_add(buf, copy->n_keys ? "]" : "");
		return;
	}
	buf_add(buf, ",\"keys\":[\"on\",");
	if (event && strcmp(event, "alloc") == 0)
		buf_add(buf, "\"op\",");
	if (event && strcmp(event, "lock") == 0)
		buf_add(buf, "\"waker\",");
	buf_add(buf, "\"comm\"]");
}

static void add_wick(struct buf *buf, const struct perf_script_options *options,
		     const struct perf_script_header *header)
{
	buf_add(buf, "# wick : {\"format\":");
	buf_add_dec(buf, FORMAT, 0, ' ');
	buf_add(buf, ",\"version\":");
	json_add_string(buf, WICK_VERSION);
	buf_add(buf, ",\"clock\":\"CLOCK_MONOTONIC\"");
	add_number(buf, "epoch_offset_ns", header->epoch_offset_ns);
	buf_add(buf, ",\"event\":");
	json_add_string(buf, header->event ? header->event : "cpu-clock");
	if (header->hz)
		add_number(buf, "hz", header->hz);
	if (header->mean_bytes)
		add_number(buf, "mean_bytes", header->mean_bytes);
	if (header->least_ns)
		add_number(buf, "least_ns", header->least_ns);
	add_number(buf, "pid", (uint32_t)header->pid);
	if (header->namespace_pid && header->namespace_pid != header->pid)
		add_number(buf, "inner_pid", (uint32_t)header->namespace_pid);
	add_metrics(buf, options);
	add_groups(buf, options);
	buf_add(buf, ",\"metrics_as\":");
	json_add_string(buf, options->metrics_as == METRICS_AS_INLINE ? "inline" : "comment");
	add_keys(buf, header->event, header->copy);
	buf_add(buf, "}\n");
}

void perf_script_header(const struct perf_script_options *options,
			const struct perf_script_header *header, struct buf *buf)
{
	if (options->bare)
		return;
	buf_add(buf, "# ========\n");
	if (header->copy) {
		add_original(buf, header->copy);
	} else {
		add_captured(buf, header->captured_ns);
		add_machine(buf, header);
		add_cmdline(buf, header);
	}
	if (!header->copy || header->copy->is_wick)
		add_wick(buf, options, header);
	buf_add(buf, "# ========\n#\n");
}

static void add_text(struct buf *buf, const char *name, const char *text)
{
	buf_add(buf, ",\"");
	buf_add(buf, name);
	buf_add(buf, "\":");
	json_add_string(buf, text);
}

void perf_script_modules(const struct perf_script_modules *modules, struct buf *buf)
{
	for (size_t i = 0; i < modules->n; i++) {
		const struct perf_script_module *module = &modules->at[i];

		buf_add(buf, i ? ",{\"path\":" : ",\"modules\":[{\"path\":");
		json_add_string(buf, module->path);
		add_text(buf, "build_id", module->build_id);
		add_text(buf, "names", module->names);
		if (*module->missing) {
			add_text(buf, "missing", module->missing);
			add_text(buf, "try", module->try);
		}
		buf_add_char(buf, '}');
	}
	if (modules->n)
		buf_add_char(buf, ']');
}

void perf_script_end(const struct perf_script_options *options, const struct perf_script_file *file,
		     const struct perf_script_count *counts, size_t n_counts, struct buf *buf)
{
	if (options->bare)
		return;
	buf_add(buf, "# wick-end : {\"samples\":");
	buf_add_dec(buf, file->n_samples, 0, ' ');
	add_number(buf, "weight", file->weight);
	add_number(buf, "late", file->n_late);
	if (file->n_releases)
		add_number(buf, "releases", file->n_releases);
	for (size_t i = 0; i < n_counts; i++)
		add_number(buf, counts[i].name, counts[i].value);
	if (options->modules)
		perf_script_modules(options->modules, buf);
	buf_add(buf, "}\n");
}
