/* api.h - what can be requested: the page, its modules, the list of recordings, their packs */
#ifndef SERVE_API_H
#define SERVE_API_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/serve/serve.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

/*
 * It brings libgnutls and eight more libraries, which take more CPU to load than everything else
 * that a recording does before its program runs.
 */
#define MHD_CALLS(_)                                                                               \
	_(add_response_header)                                                                     \
	_(create_response_from_buffer)                                                             \
	_(create_response_from_fd64)                                                               \
	_(destroy_response)                                                                        \
	_(get_connection_info)                                                                     \
	_(get_connection_values)                                                                   \
	_(get_connection_values_n)                                                                 \
	_(get_response_header)                                                                     \
	_(lookup_connection_value)                                                                 \
	_(queue_response)                                                                          \
	_(quiesce_daemon)                                                                          \
	_(resume_connection)                                                                       \
	_(start_daemon)                                                                            \
	_(stop_daemon)                                                                             \
	_(suspend_connection)

/* MHD_start_daemon() is mhd.start_daemon(), and so on. */
struct mhd {
#define MHD_MEMBER(name) __typeof__(MHD_##name) *(name);
	MHD_CALLS(MHD_MEMBER)
#undef MHD_MEMBER
};

extern struct mhd mhd;

/* answer: what the server says, with the headers that go with everything */

/* A header of its own; NULL: none. */
struct answer_header {
	const char *name;
	const char *value;
};

/**
 * answer_text - answer with what is in a buffer, and release it
 * @type: the Content-Type
 * @headers: ended by one without a name; NULL: none
 *
 * Return:  what the access handler has to return, as for all of these.
 * Context: any thread; it is the daemon's, as for all of these.
 */
enum MHD_Result answer_text(struct MHD_Connection *connection, const char *type, struct buf *text,
			    const struct answer_header *headers);

/**
 * answer_fd - answer with the first bytes of a file
 *
 * Owns:    FD is closed, also on failure.
 * Context: any thread; it is the daemon's.
 */
enum MHD_Result answer_fd(struct MHD_Connection *connection, int fd, uint64_t bytes,
			  const struct answer_header *headers);

/**
 * answer_error - answer {"error":"MESSAGE"}
 *
 * Context: any thread; it is the daemon's.
 */
enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned status,
			     const char *message);

struct api;

/* One request, from its headers to the end of its answer. */
struct api_request;

/**
 * api_new - answer for a folder
 * @options: what options.code points to has to outlive the api, and options.code itself
 * @guard: has to outlive the api
 *
 * Return:  0; -errno: the folder cannot be read, with the reason.
 * Owns:    the caller, to api_stop() and api_free().
 * Context: any thread.
 */
int api_new(const struct server_options *options, const struct guard *guard, struct api **ret_api,
	    struct err *err);

/**
 * api_begin - a request has come
 *
 * Return:  NULL when memory is short.
 * Owns:    the caller, to api_end().
 * Context: any thread; it is the daemon's.
 */
struct api_request *api_begin(struct MHD_Connection *connection);

/**
 * api_answer - answer it, or suspend its connection until there is an answer
 *
 * Called again once the connection has been resumed.
 *
 * Return:  what the access handler has to return.
 * Context: any thread; it is the daemon's.
 */
enum MHD_Result api_answer(struct api *api, struct api_request *request, const char *path);

/**
 * api_end - a request's answer is out, or never will be
 *
 * Context: any thread; it is the daemon's.  NULL is fine.
 */
void api_end(struct api *api, struct api_request *request);

/**
 * api_scan - read the folder when a request waits for changes, and answer it
 *
 * Context: any thread, one at a time; a few times a second.
 */
void api_scan(struct api *api);

/**
 * api_wanted_fd - a descriptor that can be read once api_scan() is wanted at once
 *
 * Owns:    the api.
 * Context: any thread.
 */
int api_wanted_fd(const struct api *api);

/**
 * api_stop - resume all suspended requests, and suspend no more
 *
 * Context: any thread: that of api_scan(), once.
 */
void api_stop(struct api *api);

/**
 * api_free - free it; the daemon has been stopped
 *
 * Context: any thread.  NULL is fine.
 */
void api_free(struct api *api);

#endif
