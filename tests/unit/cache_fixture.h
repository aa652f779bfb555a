/* cache_fixture.h - a cache in a folder of its own, and builds of functions that are told apart */
#ifndef TESTS_UNIT_CACHE_FIXTURE_H
#define TESTS_UNIT_CACHE_FIXTURE_H

#include "symbolize/cache/cache.h"
#include "tests/unit/folder_fixture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { FUNCTION_BYTES = 16 };

extern const uint8_t fixture_id[8];
extern char fixture_folder[FOLDER_BYTES];

/* A test in a folder of its own. */
#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)

/** fixture_set_up - a folder of its own for a test */
int fixture_set_up(void **state);

/** fixture_tear_down - and remove it */
int fixture_tear_down(void **state);

/** fixture_cache - the cache in it */
struct cache *fixture_cache(void);

/** fixture_key - a build of that id, with debugging information */
struct cache_key fixture_key(const uint8_t *id, size_t len);

/** fixture_module - what is kept of it */
struct cache_module *fixture_module(struct cache *cache, const struct cache_key *key);

/** fixture_cold - where the cold part of the Nth function is; every fifth has one */
uint64_t fixture_cold(uint64_t nth);

/** fixture_add - functions FROM to TO: the Nth is at N * 16, named for its number */
void fixture_add(struct cache_module *module, uint64_t from, uint64_t to);

/** fixture_has - is the Nth function there, and is it the Nth? */
bool fixture_has(struct cache_module *module, uint64_t nth);

/** fixture_count - how many of them are there */
size_t fixture_count(struct cache_module *module, uint64_t from, uint64_t to);

/** fixture_keep - add functions as a process of its own would */
void fixture_keep(const struct cache_key *key, uint64_t from, uint64_t to);

/** fixture_kept - how many of them another process would find */
size_t fixture_kept(const struct cache_key *key, uint64_t from, uint64_t to);

/** fixture_path - the file of fixture_id's build */
const char *fixture_path(void);

/** fixture_bytes - its size */
uint64_t fixture_bytes(void);

/** fixture_read - its first bytes */
void fixture_read(uint8_t *bytes, size_t len);

/** fixture_write - other bytes in its place */
void fixture_write(const uint8_t *bytes, size_t len);

/** fixture_set_used - when a file was used last */
void fixture_set_used(const char *path, time_t seconds);

#endif
