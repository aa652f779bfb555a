/* guard.h - who may ask: the name that he calls the server by, and the token */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { GUARD_TOKEN_TEXT = 44 }; /* 32 random bytes in 43 letters, and NUL */

struct guard {
	const char *listen;       /* the address that is listened at */
	const char *const *hosts; /* further names that are ours */
	size_t n_hosts;
	const char *token; /* NULL: none is wanted */
};

/**
 * guard_token - make a token that nobody can guess, of letters that a URL takes as they are
 *
 * Return:  0; -errno of getrandom.
 * Context: any thread.
 */
int guard_token(char token[GUARD_TOKEN_TEXT]);

/**
 * guard_knows_host - whether a Host header names this server
 *
 * A page of a stranger can make its own name resolve to this machine (DNS rebinding), but cannot
 * make a browser leave that name out of the header.  Ports are not looked at: `ssh -L` changes
 * them.
 *
 * Context: any thread.
 */
bool guard_knows_host(const struct guard *guard, const char *header);

/**
 * guard_knows_token - whether the token is right, in a time that does not depend on how wrong
 * @given: NULL: none
 *
 * Context: any thread.
 */
bool guard_knows_token(const struct guard *guard, const char *given);

/**
 * guard_is_loopback - whether an address is one that only this machine reaches
 *
 * Context: any thread.
 */
bool guard_is_loopback(const char *address);

#endif
