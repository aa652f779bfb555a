/* flight_write.h - one window of the flight recorder becomes a file */
#ifndef FLIGHT_FLIGHT_WRITE_H
#define FLIGHT_FLIGHT_WRITE_H

#include "tools/flight/flight.h"

/**
 * flight_write - write a dump, tell where it is, and mark it done
 *
 * What hooks saw goes to files of the same number beside it.
 *
 * Context: main thread.
 */
void flight_write(struct flight *flight, struct flight_dump *dump);

#endif
