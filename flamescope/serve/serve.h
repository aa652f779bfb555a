/*
 * serve.h - the page and the server that sends it
 *
 * Context: any thread, unless a function says another.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/profile.h"
#include "flamescope/serve/code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * page: the template, the style and the scripts of web/ in one HTML
 *
 * Whatever a recording says (names of functions, of files, of threads) gets into it only as
 * base64, as JSON without `<` or as escaped text, and the page's policy runs nothing but what
 * carries its nonce: a name can never become markup.
 */

enum {
	PAGE_MAX_RECORDINGS = 12, /* one, what it is compared to, and others beside them */
	PAGE_NONCE_TEXT = 33,     /* 16 bytes in hexadecimal, and NUL */
};

/* What is requested.  Zero what is not wanted. */
struct page {
	const char *title;
	const char *state; /* words of the URL's hash to begin with: "time=10-20&group=state" */
	const char *token; /* of a server; NULL: it wants none */
	size_t n_recordings;
	const struct profile *recordings[PAGE_MAX_RECORDINGS];
	const char *names[PAGE_MAX_RECORDINGS];
};

/**
 * page_nonce - a word that cannot be guessed
 *
 * Return:  0; -errno of getrandom.
 */
int page_nonce(char nonce[PAGE_NONCE_TEXT], struct err *err);

/**
 * page_write - one HTML with everything inside, that opens from a file
 *
 * Return:  0; -errno of write; what pack_write() says.
 */
int page_write(const struct page *page, int fd, struct err *err);

/**
 * page_served - the same without recordings: those come from /api/
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller has made BUF and releases it.
 */
int page_served(const struct page *page, const char *nonce, struct buf *buf, struct err *err);

/**
 * page_policy - the Content-Security-Policy that goes with it
 * @connect: where its scripts may fetch from: "'none'" or "'self'"
 */
void page_policy(const char *nonce, const char *connect, struct buf *buf);

/* base64: bytes inside a text (RFC 4648 section 4) */

/**
 * base64_add - add bytes, padded: all but the last piece of a text have to be a multiple of 3 long
 */
void base64_add(struct buf *buf, const unsigned char *bytes, size_t len);

/* guard: which requests are allowed, by the Host header and the token */

enum { GUARD_TOKEN_TEXT = 44 }; /* 32 random bytes in 43 letters, and NUL */

struct guard {
	const char *listen;       /* the address that is listened at */
	const char *const *hosts; /* further names that are ours */
	size_t n_hosts;
	const char *token; /* NULL: none is wanted */
};

/**
 * guard_token - make a token that cannot be guessed, of letters that a URL takes as they are
 *
 * Return:  0; -errno of getrandom.
 */
int guard_token(char token[GUARD_TOKEN_TEXT]);

/**
 * guard_knows_host - whether a Host header names this server
 *
 * A foreign page can make its own name resolve to this machine (DNS rebinding), but cannot
 * make a browser leave that name out of the header.  Ports are not compared: `ssh -L` changes
 * them.
 */
bool guard_knows_host(const struct guard *guard, const char *header);

/**
 * guard_knows_token - whether the token is right, in a time that does not depend on how wrong
 * @given: NULL: none
 */
bool guard_knows_token(const struct guard *guard, const char *given);

/** guard_is_loopback - whether an address is one that only this machine reaches */
bool guard_is_loopback(const char *address);

/* server: recordings of a folder over HTTP, for one person and one browser */

enum {
	SERVER_CONNECTIONS = 512, /* at most; fewer where the system allows few descriptors */
	SERVER_IDLE_S = 15,       /* without a byte either way */
};

struct server_options {
	const char *folder;
	struct guard guard; /* guard.listen: an address; what it points to has to outlive the server
			     */
	uint16_t port;      /* 0: any that is free */
	const char *state;  /* words of the page's URL to begin with; NULL: none */
	struct code_options code;
};

struct server;

/**
 * server_start - listen, and answer in a thread of its own
 *
 * Signals that are blocked now stay blocked in the server's threads.
 *
 * Return:  0; -EADDRINUSE, -EADDRNOTAVAIL, -EACCES of bind; -EINVAL: no address; -errno of the
 *          folder; with the reason.
 * Owns:    the caller, to server_stop().
 * Context: main thread.
 */
int server_start(const struct server_options *options, struct server **ret_server, struct err *err);

/** server_port - where it listens */
uint16_t server_port(const struct server *server);

/**
 * server_run - serve until a descriptor can be read
 *
 * Context: main thread.
 */
void server_run(struct server *server, int until_fd);

/**
 * server_stop - close all connections and end
 *
 * Context: main thread.  NULL is fine.
 */
void server_stop(struct server *server);

/** catalog_is_recording - whether a file's name is one of a recording */
bool catalog_is_recording(const char *name);

#endif
