/*
 * page.h - the page: the template, the style and the modules of web/ in one HTML
 *
 * Whatever a recording says (names of functions, of files, of threads) gets into it only as base64,
 * as JSON without `<` or as escaped text, and the page's policy runs nothing but what carries its
 * nonce: a name can never become markup.
 */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/profile.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PAGE_MAX_RECORDINGS = 2, /* one, and what it is compared to */
	PAGE_NONCE_TEXT = 33,    /* 16 bytes in hexadecimal, and NUL */
};

/* What is asked for.  Zero what is not wanted. */
struct page {
	const char *title;
	const char *state; /* words of the URL's hash to begin with: "time=10-20&group=state" */
	const char *token; /* of a server; NULL: it wants none */
	size_t n_recordings;
	const struct profile *recordings[PAGE_MAX_RECORDINGS];
	const char *names[PAGE_MAX_RECORDINGS];
};

/**
 * page_nonce - a word that nobody can guess
 *
 * Return:  0; -errno of getrandom.
 * Context: any thread.
 */
int page_nonce(char nonce[PAGE_NONCE_TEXT], struct err *err);

/**
 * page_write - one HTML with everything inside, that opens from a file
 *
 * Return:  0; -errno of write; what pack_write() says.
 * Context: any thread.
 */
int page_write(const struct page *page, int fd, struct err *err);

/**
 * page_served - the same without recordings: its modules come from /web/, its data from /api/
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller has made BUF and releases it.
 * Context: any thread.
 */
int page_served(const struct page *page, const char *nonce, struct buf *buf, struct err *err);

/**
 * page_policy - the Content-Security-Policy that goes with it
 * @connect: where its scripts may fetch from: "'none'" or "'self'"
 *
 * Context: any thread.
 */
void page_policy(const char *nonce, const char *connect, struct buf *buf);

#endif
