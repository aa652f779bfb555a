/* servers.h - what came of asking debuginfod servers, in a line for people */
#ifndef SUMMARY_SERVERS_H
#define SUMMARY_SERVERS_H

#include "base/buf.h"
#include "symbolize/symbolize.h"

/**
 * servers_print - "3 modules asked for, 1 found in 0.50 s", and what went wrong first
 *
 * Context: any thread.
 */
void servers_print(const struct symbolize_servers *servers, struct buf *buf);

#endif
