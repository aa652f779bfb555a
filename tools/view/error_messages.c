/* error_messages.c - says what is wrong with recordings and queries */
#include "tools/view/view.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/saturated.h"
#include "base/words.h"
#include "flamescope/query/query.h"
#include "flamescope/text/text.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S 1e9

enum {
	NAMED_FILES = 8,
	NAMED_EVENTS = 8,
	MOST_VALUES = 5,
	MESSAGE_BYTES = 16 * 1024,
	MAGIC_BYTES = 8,
	FEW_NAMES_PERCENT = 50,
};

static void add_bad_lines(struct buf *text, const struct profile_file *file)
{
	size_t n =
		file->bad_lines < PROFILE_BAD_LINES ? (size_t)file->bad_lines : PROFILE_BAD_LINES;

	text_of(text, file->bad_lines, "line");
	buf_add(text, " that cannot be read, skipped (");
	for (size_t i = 0; i < n; i++)
		buf_printf(text, "%s%llu", i ? ", " : "", (unsigned long long)file->bad[i]);
	buf_add(text, file->bad_lines > n ? ", ...)" : ")");
}

/* Everything that is to say of one file, after its name. */
static void say_file(const struct profile_file *file)
{
	struct buf text;
	const char *comma = "";

	buf_init(&text, MESSAGE_BYTES);
	if (file->problem) {
		words_plain(&text, file->problem);
		comma = "; ";
		if (file->samples) {
			buf_add(&text, "; ");
			text_of(&text, file->samples, "sample");
			buf_add(&text, " before it were used");
		}
	} else if (file->samples == 0) {
		buf_add(&text, file->bytes ? "has no sample" : "is empty");
		comma = "; ";
	}
	if (file->bad_lines) {
		buf_add(&text, comma);
		add_bad_lines(&text, file);
		comma = "; ";
	}
	if (file->cut) {
		buf_printf(&text, "%sa line or stack was too long and was cut", comma);
		comma = "; ";
	}
	if (file->unended)
		buf_printf(&text, "%sthe last sample is not whole: still being written?", comma);
	if (text.len)
		say_note("'%s': %s", file->path, buf_text(&text));
	buf_release(&text);
}

static bool is_troubled(const struct profile_file *file)
{
	return file->problem || file->samples == 0 || file->bad_lines || file->cut || file->unended;
}

static void say_lost(const struct profile *profile)
{
	uint64_t lost = 0;
	struct buf text;

	for (size_t i = 0; i < profile->n_files; i++)
		lost = saturated_add(lost, profile->files[i].lost);
	if (!lost)
		return;
	if (!period_can_be((double)lost / (profile->hz ? profile->hz : NS_PER_S),
			   profile->length_ns)) {
		say_note("the recording gives more lost samples than possible: its numbers are "
			 "damaged or forged");
		return;
	}
	buf_init(&text, MESSAGE_BYTES);
	if (profile->hz) {
		buf_add(&text, "samples of ");
		words_amount(&text, (uint64_t)((double)lost * NS_PER_S / profile->hz), "ns");
	} else {
		text_of(&text, lost, "sample");
	}
	say_note("%s were lost while recording, see: wick info", buf_text(&text));
	buf_release(&text);
}

static void say_fractions(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_events && !profile->has_times; i++)
		if (strcmp(profile->strings[profile->event_names[i]], FOLDED_THOUSANDTHS) == 0)
			say_note("the counts have fractions: they are shown in thousandths");
}

void view_error_files(const struct profile *profile)
{
	size_t troubled = 0, unread = 0;

	for (size_t i = 0; i < profile->n_files; i++) {
		const struct profile_file *file = &profile->files[i];

		unread += file->samples == 0;
		if (is_troubled(file) && ++troubled <= NAMED_FILES && profile->n_samples)
			say_file(file);
	}
	if (profile->n_samples == 0)
		return;
	if (troubled > NAMED_FILES)
		say_note("and %zu more of %zu files with problems", troubled - NAMED_FILES,
			 profile->n_files);
	if (unread)
		say_note("%zu of %zu files gave no sample; the others are shown", unread,
			 profile->n_files);
	say_lost(profile);
	if (profile->has_epoch &&
	    period_is_to_come(profile->epoch_offset_ns, profile->start_ns + profile->length_ns))
		say_note("the recording's date is in the future: the clock was wrong, or the date "
			 "is forged");
	say_fractions(profile);
}

/* Whether a file is what perf record writes, and not its text; a pipe is not opened again. */
static bool is_perf_data(const char *path)
{
	char magic[MAGIC_BYTES];
	struct stat st;
	_cleanup_fd_ int fd = -EBADF;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && io_pread(fd, magic, sizeof(magic), 0) == MAGIC_BYTES &&
	       memcmp(magic, "PERFILE2", sizeof(magic)) == 0;
}

/* Whether there are files, and none of them may be read. */
static bool are_denied(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_files; i++)
		if (faccessat(AT_FDCWD, profile->files[i].path, R_OK, AT_EACCESS) == 0 ||
		    errno != EACCES)
			return false;
	return profile->n_files > 0;
}

void view_error_hint(const char *path, struct err *err)
{
	struct stat st = {0};

	if (strstr(err->text, ", try: "))
		return;
	if (strcmp(path, "-") == 0)
		err_hint(err, "perf script | wick report -");
	else if (stat(path, &st) < 0 && errno != EACCES)
		err_hint(err, "another name: ls shows what is there");
	else if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		err_hint(err, "as its owner, or as root");
	else if (S_ISDIR(st.st_mode))
		err_hint(err, "a file in it");
	else if (is_perf_data(path))
		err_hint(err, "perf script -i %s > %s.perf", path, path);
	else if (S_ISREG(st.st_mode) && st.st_size == 0)
		err_hint(err, "wick record -o %s -- CMD", path);
	else
		err_hint(err, "a file of wick record, perf script or stackcollapse");
}

int view_error_empty(const struct profile *profile, struct err *err)
{
	const struct profile_file *file = profile->files;

	if (profile->n_files != 1) {
		for (size_t i = 0; i < profile->n_files && i < NAMED_FILES; i++)
			say_file(&profile->files[i]);
		(void)err_set(err, 0, "none of the %zu files has a sample", profile->n_files);
		err_hint(err, "wick info FILE");
	} else if (!file->problem && is_perf_data(file->path)) {
		(void)err_set(err, 0, "'%s' is perf's own file, not its text", file->path);
	} else {
		profile_say_empty(profile, err);
	}
	if (profile->n_files == 1)
		view_error_hint(file->path, err);
	return are_denied(profile) ? -EACCES : -ENODATA;
}

/* "; tier is app, db": what the first filter could have selected. */
static void add_values(struct buf *text, const struct profile *profile, const struct query *query)
{
	struct dimension dimension;
	struct err none = {0};
	size_t shown = 0;

	if (!query->n_filters ||
	    dimension_init(&dimension, profile, query->filters[0].dimension, NULL, &none) < 0)
		return;
	for (size_t i = 0; i < dimension.n_values; i++) {
		if (!*dimension.labels[i] || *dimension.labels[i] == '[')
			continue;
		if (++shown > MOST_VALUES) {
			buf_add(text, "...");
			break;
		}
		buf_printf(text, shown == 1 ? "; %s is " : ", ", query->filters[0].dimension);
		buf_printf(text, "'%.60s'", dimension.labels[i]);
	}
	dimension_release(&dimension);
}

/* A word before = that --only does not know is part of a function's name. */
static const char *unknown_test(const struct query *query)
{
	for (size_t i = 0; i < query->n_include; i++) {
		const char *pattern = query->include[i];
		size_t len = strspn(pattern, "abcdefghijklmnopqrstuvwxyz_");

		if (len > 0 && pattern[len] == '=' && strncmp(pattern, "operator=", 9) != 0)
			return pattern;
	}
	return NULL;
}

static void hint_filters(const struct profile *profile, const struct query *query, struct err *err)
{
	const char *test = unknown_test(query);
	struct buf text;

	if (test) {
		err_hint(err,
			 "--where '%.60s': --only selects functions, and task, tier, "
			 "identity, req, trace, span or function=RE",
			 test);
		return;
	}
	buf_init(&text, MESSAGE_BYTES);
	buf_add(&text, "fewer filters (--time, --thread, --only and the like)");
	add_values(&text, profile, query);
	err_hint(err, "%s", buf_text(&text));
	buf_release(&text);
}

int view_error_nothing_left(const struct profile *profile, const struct selection *selection,
			    const struct query *query, struct err *err)
{
	struct buf text;

	buf_init(&text, MESSAGE_BYTES);
	if (selection->n_absent) {
		text_of(&text, selection->n_absent, "sample");
		(void)err_set(err, 0, "none of the %s has a value of '%s'", buf_text(&text),
			      query->metric ? query->metric : "the metric");
		err_hint(err, "--metric samples");
	} else {
		text_of(&text, profile->n_samples, "sample");
		buf_add(&text, " from 0 to ");
		text_seconds(&text, profile->length_ns);
		(void)err_set(err, 0, "nothing is left of %s", buf_text(&text));
		if (selection->n_idle)
			err_hint(err, "--idle: all samples are of idle CPUs");
		else if (selection->n_others)
			err_hint(err, "--event NAME: there are several events");
		else
			hint_filters(profile, query, err);
	}
	buf_release(&text);
	return -ENODATA;
}

/* Samples whose innermost frame has no name. */
static uint64_t count_unnamed(const struct selection *selection)
{
	uint64_t unnamed = 0;

	for (size_t i = 0; i < selection->n; i++) {
		const struct profile_node *node = &selection->nodes[selection->stacks[i]];
		const char *name;

		if (selection->stacks[i] == 0)
			continue;
		name = selection_frame_name(selection, node->frame);
		unnamed += strcmp(name, "[unknown]") == 0 || strncmp(name, "0x", 2) == 0;
	}
	return unnamed;
}

static bool has_stacks(const struct selection *selection)
{
	for (size_t i = 0; i < selection->n; i++)
		if (selection->profile->stacks[selection->samples[i]])
			return true;
	return false;
}

/* Events that only wick has, and a clock whose periods are too short to be perf's (period.h). */
static bool is_bare(const struct selection *selection)
{
	static const char *const events[] = {"wall-clock", "alloc", "lock", "periods"};
	const struct profile *profile = selection->profile;
	struct period period = period_of(profile, selection->event);

	if (profile->is_wick || !profile->has_times)
		return false;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(period.unit, events[i]) == 0)
			return true;
	return false;
}

/* Of several events one is shown; the others are named. */
static void say_events(const struct selection *selection)
{
	const struct profile *profile = selection->profile;
	struct buf text;

	if (selection->n_others == 0)
		return;
	buf_init(&text, MESSAGE_BYTES);
	words_plain(&text, profile->strings[profile->event_names[selection->event]]);
	buf_add(&text, " is shown; the recording also has ");
	for (size_t i = 0, n = 0; i < profile->n_events && n < NAMED_EVENTS; i++) {
		if (i == selection->event)
			continue;
		buf_add(&text, n++ ? ", " : "");
		words_plain(&text, profile->strings[profile->event_names[i]]);
	}
	buf_add(&text, profile->n_events > NAMED_EVENTS + 1 ? ", ..." : "");
	say_note("%s; choose with --event NAME", buf_text(&text));
	buf_release(&text);
}

static void say_idle(const struct selection *selection)
{
	double all = (double)(selection->n + selection->n_idle);
	struct buf text;

	if (selection->n_idle == 0)
		return;
	buf_init(&text, MESSAGE_BYTES);
	text_of(&text, selection->n_idle, "sample");
	say_note("%s of idle CPUs (%.1f %% of all) are hidden; --idle shows them", buf_text(&text),
		 100 * (double)selection->n_idle / all);
	buf_release(&text);
}

void view_error_selection(const struct selection *selection, const struct query *query)
{
	double unnamed = (double)count_unnamed(selection);
	double percent = selection->n ? 100 * unnamed / (double)selection->n : 0;

	say_events(selection);
	say_idle(selection);
	if (selection->n_absent)
		say_note("%llu samples without a value of '%s' are left out",
			 (unsigned long long)selection->n_absent,
			 query->metric ? query->metric : "the metric");
	if (selection->n && !has_stacks(selection))
		say_note("no sample has a stack, try: perf script with ip, sym and dso in -F, "
			 "after perf record -g");
	if (percent >= FEW_NAMES_PERCENT)
		say_note("%.0f %% of the samples are in functions without a name, "
			 "try: wick symbolize FILE, or the programs' debugging symbols",
			 percent);
}

void view_error_weights(const struct selection *selection, const struct query *query)
{
	if (selection->n && !query->has_measure && is_bare(selection))
		say_note("the text has no header (wick record --bare): the time of a sample is not "
			 "known, so each sample counts as one, try: --metric period");
}
