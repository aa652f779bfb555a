/* output_fixture.c - a directory to record into */
#include "output_fixture.h"

#include "base/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void tell(void *context, const char *message)
{
	struct output_fixture *fixture = context;

	buf_add(&fixture->told, message);
	buf_add_char(&fixture->told, '\n');
	fixture->n_told++;
}

void output_setup(struct output_fixture *fixture, const char *name)
{
	static const char *const argv[] = {"./app", "<html>"};

	*fixture = (struct output_fixture){0};
	folder_make(fixture->dir);
	buf_init(&fixture->told, 1024 * 1024);
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->dir, name);
	fixture->now_ns = io_now_ns();
	fixture->frames[0] = (struct frame){
		.addr = 0x7f01, .symbol = "leaf", .offset = 0x1a, .module = "/lib/libc.so.6"};
	fixture->frames[1] = (struct frame){
		.addr = 0x4011, .symbol = "main", .offset = 0x2b, .module = "/opt/app"};
	fixture->options = (struct recording_options){
		.path = fixture->path,
		.comm = "app",
		.flush_ns = 1000000000U,
		.header = {.event = "cpu-clock", .hz = 99, .pid = 4000, .argc = 2, .argv = argv},
		.report = tell,
		.report_context = fixture,
	};
}

int output_begin(void **state)
{
	struct output_fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	output_setup(fixture, "x.perf");
	*state = fixture;
	return 0;
}

int output_end(void **state)
{
	output_teardown(*state);
	free(*state);
	return 0;
}

void output_close(struct output_fixture *fixture)
{
	recording_free(fixture->recording);
	fixture->recording = NULL;
}

void output_teardown(struct output_fixture *fixture)
{
	output_close(fixture);
	folder_remove(fixture->dir);
	buf_release(&fixture->told);
}

struct recording *output_open(struct output_fixture *fixture)
{
	struct err err = {0};

	output_close(fixture);
	if (recording_new(&fixture->options, &fixture->recording, &err) < 0)
		fail_msg("%s", err.text);
	return fixture->recording;
}

void output_write(struct output_fixture *fixture, struct recording *recording, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sample sample = output_sample(fixture);

		recording_write(recording, &sample);
	}
}

struct sample output_sample(struct output_fixture *fixture)
{
	struct sample sample = {
		.time_ns = fixture->now_ns,
		.pid = 4000,
		.tid = 4001,
		.weight = 1,
		.comm = "app",
		.n_frames = 2,
		.frames = fixture->frames,
	};

	fixture->now_ns += 1000000U;
	return sample;
}

char *output_text(const struct output_fixture *fixture, const char *name)
{
	char *path = folder_path(fixture->dir, name);
	char *text = file_text(path);

	free(path);
	return text;
}

size_t output_count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + strlen(word), word))
		n++;
	return n;
}

int output_exists(const struct output_fixture *fixture, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
	return lstat(path, &st) == 0;
}

int output_ends_whole(const char *text)
{
	size_t len = strlen(text);
	const char *last;

	if (len == 0)
		return 1;
	if (text[len - 1] != '\n')
		return 0;
	if (len >= 2 && text[len - 2] == '\n')
		return 1;
	for (last = text + len - 1; last > text && last[-1] != '\n'; last--)
		;
	if (strcmp(last, "#\n") == 0)
		return 1;
	return strncmp(last, "# wick-end : {", 14) == 0 && last >= text + 2 &&
	       (last[-2] == '\n' || last[-2] == '#') && strcmp(text + len - 2, "}\n") == 0;
}
