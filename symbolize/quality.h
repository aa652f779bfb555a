/* quality.h - how well a module's code is named, and what would name it better */
#ifndef SYMBOLIZE_QUALITY_H
#define SYMBOLIZE_QUALITY_H

#include "symbolize/module.h"

/**
 * quality_of - what a summary says of a module
 *
 * Owns:    strings are the module's, or static.
 * Context: main thread.
 */
struct symbolize_module quality_of(const struct module *module, bool loaded);

#endif
