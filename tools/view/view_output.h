/* view_output.h - where a picture or table goes: a file made whole, or stdout */
#ifndef VIEW_VIEW_OUTPUT_H
#define VIEW_VIEW_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "tools/view/view_input.h"

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

enum { VIEW_OUTPUT_INPUTS = 2 };

/* Where a command writes.  Zero it. */
struct view_output {
	const char *path; /* NULL or "-": stdout, whose reader may go away */
	bool force;       /* a file that is there is replaced */
	const struct view_input *inputs[VIEW_OUTPUT_INPUTS]; /* the recordings that it is made of */
};

/* A file that is not there until it is whole. */
struct view_file {
	int fd;
	bool force;
	char *path;
	char *temporary; /* NULL: nameless */
	bool nameless;   /* until it is whole */
};

/**
 * view_output_check - whether it may be written, before there is anything to write
 *
 * Return:  0; -EEXIST: a file is there that is to stay, or a link, pipe or device; -EISDIR.
 * Context: main thread.
 */
int view_output_check(const struct view_output *output, struct err *err);

/**
 * view_file_open - begin to write a file
 *
 * Who may read it may read every recording that it is made of: rw-rw-rw-, without what the umask
 * and their modes take from it.
 *
 * Return:  0; as view_output_check(); -errno of open, with the reason.
 * Owns:    the caller: view_file_close() or view_file_drop().
 * Context: main thread.
 */
int view_file_open(struct view_file *file, const struct view_output *output, struct err *err);

/**
 * view_file_close - the file is whole: let it appear
 *
 * Return:  0; -EEXIST: another one has appeared meanwhile; -errno, with the reason.
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
 *
 * Return:  0; as view_file_open() and view_file_close(); what WRITE said.
 * Context: main thread.
 */
int view_output_make(const struct view_output *output, view_writer *write, void *context,
		     struct err *err);

/**
 * view_output_write - TEXT to a file, or to stdout
 *
 * Return:  0; -EFBIG when TEXT had outgrown its limit; as view_output_make().
 * Context: main thread.
 */
int view_output_write(const struct view_output *output, struct buf *text, struct err *err);

#endif
