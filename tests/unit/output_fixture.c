/* output_fixture.c - a directory to record into */
#include "output_fixture.h"

#include "base/io.h"

#include <dirent.h>
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

	*fixture = (struct output_fixture){.dir = "/tmp/wick-output-XXXXXX"};
	if (!mkdtemp(fixture->dir))
		abort();
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
		.tell = tell,
		.tell_context = fixture,
	};
}

static void remove_file(const struct output_fixture *fixture, const char *name)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
	(void)remove(path);
}

size_t output_files(const struct output_fixture *fixture)
{
	DIR *dir = opendir(fixture->dir);
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (dir)
		(void)closedir(dir);
	return n;
}

void output_teardown(struct output_fixture *fixture)
{
	DIR *dir = opendir(fixture->dir);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		remove_file(fixture, entry->d_name);
	if (dir)
		(void)closedir(dir);
	(void)rmdir(fixture->dir);
	buf_release(&fixture->told);
}

struct recording *output_open(const struct output_fixture *fixture)
{
	struct recording *recording = NULL;
	struct err err = {0};

	if (recording_new(&fixture->options, &recording, &err) < 0)
		fail_msg("%s", err.text);
	return recording;
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
	char path[PATH_MAX];
	struct buf buf;
	char *text;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
	buf_init(&buf, 64 * 1024 * 1024);
	(void)io_read_file(path, &buf, NULL);
	text = strdup(buf_text(&buf));
	buf_release(&buf);
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
