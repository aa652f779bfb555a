/*
 * debug_server.h - debuginfod: what its client has kept, and, only when asked, its servers
 *
 * The client library is loaded when servers are asked for and not before: without it wick needs
 * no HTTP of its own.
 */
#ifndef DEBUGFILE_DEBUG_SERVER_H
#define DEBUGFILE_DEBUG_SERVER_H

#include "symbolize/debugfile/debug_search.h"

#include <stddef.h>
#include <stdint.h>

struct debug_server;

/**
 * debug_server_cached - open what the client keeps of a build-id, without any network
 * @what: "debuginfo" or "executable"
 *
 * Looks where the client does: $DEBUGINFOD_CACHE_PATH, $HOME/.debuginfod_client_cache where that
 * is there, $XDG_CACHE_HOME/debuginfod_client, $HOME/.cache/debuginfod_client.  An entry that
 * only says that servers did not have it is no file.
 *
 * Return:  a descriptor; -ENOENT.
 * Owns:    the caller, to close() and free().
 * Context: any thread.
 */
int debug_server_cached(const char *hex, const char *what, char **ret_path);

/**
 * debug_server_new - no server is asked yet
 * @options: outlive it
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; debug_server_free().
 * Context: main thread.
 */
int debug_server_new(const struct debug_search_options *options, struct debug_server **ret_server);

/**
 * debug_server_free - NULL is fine
 *
 * Context: main thread.  Nobody asks.
 */
void debug_server_free(struct debug_server *server);

/**
 * debug_server_fetch - ask the servers for a build-id's debugging information
 * @module: a path, for progress
 *
 * All calls together spend the deadline and no more; once it is spent nothing is asked.
 *
 * Return:  a descriptor, and the path of the file in the client's cache; -ENOENT: they have none;
 *          -ETIMEDOUT: the deadline; -ENOSYS: no client library, or no servers named; -errno.
 * Owns:    the caller, to close() and free().
 * Context: any thread; one waits for another.
 */
int debug_server_fetch(struct debug_server *server, const char *module, const uint8_t *build_id,
		       size_t len, char **ret_path);

/**
 * debug_server_stats - what came of it until now
 *
 * Context: any thread.
 */
void debug_server_stats(struct debug_server *server, struct debug_servers *ret_servers);

#endif
