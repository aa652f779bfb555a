/* mhd.h - libmicrohttpd, loaded when there is something to serve */
#ifndef SERVE_MHD_H
#define SERVE_MHD_H

#include "base/err.h"

#include <microhttpd.h>

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

/**
 * mhd_load - before any call
 *
 * Return:  0; -ENOENT: the library is not there, or is too old.
 * Context: main thread.
 */
int mhd_load(struct err *err);

#endif
