/*
 * key_map.h - the names of OpenTelemetry's thread attributes, from the process context (OTEP 4719)
 *
 * It is the target's word: lengths are checked, and all of it is bounded.
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_KEY_MAP_H
#define CONTEXT_KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	KEY_MAP_KEYS = 256,
	KEY_MAP_PAYLOAD = 64 * 1024, /* bytes; a larger process context is not read */
	KEY_MAP_KEY_BYTES = 128,     /* a longer name is cut */
};

struct key_map {
	uint64_t mapping;      /* address of the process context; 0: none is known */
	uint64_t published_ns; /* its time stamp when the keys were read */
	size_t n;
	char *keys[KEY_MAP_KEYS]; /* NULL: no text */
};

/**
 * key_map_read - read the names again if the process has published others
 *
 * Return:  whether there are names.
 * Owns:    the caller, to key_map_release().
 */
bool key_map_read(struct key_map *map, pid_t pid, int mem_fd);

/**
 * key_map_parse - the names in a message ProcessContext
 *
 * Return:  whether it has threadlocal.attribute_key_map.
 * Owns:    as key_map_read(); what was there is released.
 */
bool key_map_parse(struct key_map *map, const unsigned char *message, size_t len);

/** key_map_release - forget the names */
void key_map_release(struct key_map *map);

#endif
