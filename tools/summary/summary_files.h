/* summary_files.h - the lines of the summary about files */
#ifndef SUMMARY_SUMMARY_FILES_H
#define SUMMARY_SUMMARY_FILES_H

#include "base/buf.h"
#include "tools/summary/summary.h"

/**
 * summary_files - which files were written, what they lack, and the commands that show them
 *
 * Context: any thread.
 */
void summary_files(const struct summary *summary, struct buf *buf);

#endif
