/* target_maps.h - modules of a stopped program, from /proc/PID/maps and its ELF headers */
#ifndef ORACLE_TARGET_MAPS_H
#define ORACLE_TARGET_MAPS_H

#include "tests/oracle/target.h"

/**
 * target_maps_read - set the target's modules
 *
 * Return:  false when /proc/PID/maps cannot be read.
 * Context: main thread.
 */
bool target_maps_read(struct target *target);

/**
 * target_maps_end - the end of the mapping that holds an address
 *
 * Return:  0 when none does.
 * Context: main thread.
 */
uint64_t target_maps_end(const struct target *target, uint64_t address);

#endif
