/* view_output.h - where a picture or table goes: a file made whole, or stdout */
#ifndef TOOLS_VIEW_OUTPUT_H
#define TOOLS_VIEW_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "tools/view_input.h"

/* What the end of a name says. */
enum view_format {
	VIEW_NONE, /* no -o and no --format: the terminal */
	VIEW_TXT,
	VIEW_CSV,
	VIEW_JSON,
	VIEW_MD,
	VIEW_SVG,
	VIEW_HTML,
	VIEW_FOLDED,
	VIEW_PPROF,      /* .pb.gz, .pprof */
	VIEW_SPEEDSCOPE, /* .speedscope.json */
	VIEW_FIREFOX,    /* .firefox.json.gz, .firefox.json */
	VIEW_PERF,       /* .perf, .perf.gz */
};

/**
 * view_format_of - the format of a file's name
 *
 * Return:  VIEW_NONE when the end says nothing.
 * Context: any thread.
 */
enum view_format view_format_of(const char *path);

/**
 * view_format_named - the format by its name: "md", "json", "csv", "txt", "svg", "html"...
 *
 * Return:  VIEW_NONE: there is none of that name.
 * Context: any thread.
 */
enum view_format view_format_named(const char *name);

/* A file that is not there until it is whole. */
struct view_file {
	int fd;
	char *path;
	char *temporary; /* NULL: nameless, or PATH is no regular file and is written as it is */
	bool nameless;   /* until it is whole */
};

/**
 * view_file_open - begin to write PATH
 * @input: files that must not be written over
 *
 * Return:  0; -EEXIST when PATH is one of INPUT's files; -errno of open, with the reason.
 * Owns:    the caller: view_file_close() or view_file_drop().
 * Context: main thread.
 */
int view_file_open(struct view_file *file, const char *path, const struct view_input *input,
		   struct err *err);

/**
 * view_file_close - the file is whole: let it appear
 *
 * Return:  0; -errno, with the reason, and nothing appears.
 * Context: main thread.
 */
int view_file_close(struct view_file *file, struct err *err);

/**
 * view_file_drop - it never was
 *
 * Context: main thread.
 */
void view_file_drop(struct view_file *file);

/* Writes all there is into FD: 0, or -errno and the reason. */
typedef int view_writer(void *context, int fd, struct err *err);

/**
 * view_output_make - let WRITE fill a file that is not there until it is whole, or stdout
 * @path:  NULL or "-": stdout, whose reader may go away
 * @input: files that must not be written over
 *
 * Return:  0; as view_file_open() and view_file_close(); what WRITE said.
 * Context: main thread.
 */
int view_output_make(const char *path, const struct view_input *input, view_writer *write,
		     void *context, struct err *err);

/**
 * view_output_write - TEXT to a file, or to stdout
 *
 * Return:  0; -EFBIG when TEXT had outgrown its limit; as view_output_make().
 * Context: main thread.
 */
int view_output_write(const char *path, struct buf *text, const struct view_input *input,
		      struct err *err);

#endif
