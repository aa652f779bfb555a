/*
 * visits.h - the connections of a server, and which of them only sit there
 *
 * Whoever has not yet sent a whole request costs a place and nothing else; when places get scarce
 * the oldest of those have to go, so that one who does ask is always heard.
 */
#ifndef SERVE_VISITS_H
#define SERVE_VISITS_H

#include <stddef.h>
#include <stdint.h>

enum {
	VISITS_HEAD_S = 20,    /* for a request to arrive as a whole */
	VISITS_ANSWER_S = 900, /* for an answer to be taken */
};

struct visit;
struct visits;

/**
 * visits_new - nobody is there
 * @n_places: how many can stay
 *
 * Return:  NULL when memory is short.
 * Owns:    the caller, to visits_free().
 * Context: any thread.
 */
struct visits *visits_new(size_t n_places);

/**
 * visits_come - a connection has been accepted
 *
 * Return:  NULL when memory is short.
 * Owns:    the visits, until visits_go().
 * Context: any thread.
 */
struct visit *visits_come(struct visits *visits, int fd);

/**
 * visits_go - a connection will be closed now
 *
 * Context: any thread.  NULL is fine.
 */
void visits_go(struct visits *visits, struct visit *visit);

/**
 * visits_asked - a request is whole, and is being answered
 *
 * Context: any thread.  NULL is fine.
 */
void visits_asked(struct visits *visits, struct visit *visit);

/**
 * visits_answered - it has been: the next request may come
 *
 * Context: any thread.  NULL is fine.
 */
void visits_answered(struct visits *visits, struct visit *visit);

/**
 * visits_hurry - end those that take too long
 *
 * Context: any thread.
 */
void visits_hurry(struct visits *visits);

/**
 * visits_free - forget them
 *
 * Context: any thread.  NULL is fine.
 */
void visits_free(struct visits *visits);

#endif
