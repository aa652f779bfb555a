/* record_picture.h - `wick record -o x.svg`: the picture of what was recorded */
#ifndef RECORD_RECORD_PICTURE_H
#define RECORD_RECORD_PICTURE_H

#include "tools/cli/cmd.h"
#include "tools/record/recorder.h"

/**
 * record_picture - draw the flame graph that -o has asked for beside the recording, which is whole
 *
 * What goes wrong is said, and leaves the recording as it is.
 *
 * Context: main thread, after recorder_finish().
 */
void record_picture(const struct recorder *recorder);

#endif
