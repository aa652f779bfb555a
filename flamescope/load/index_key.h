/* index_key.h - what tells the content of files from any other */
#ifndef LOAD_INDEX_KEY_H
#define LOAD_INDEX_KEY_H

#include "flamescope/load/load.h"

enum {
	INDEX_KEY_SIZE = 33, /* 32 digits and a NUL */
	INDEX_FORMAT = 6, /* one more when other profiles are made of the same text (index_test) */
};

/**
 * index_key - a name for what the paths hold now
 *
 * Made of each file's device, inode, size, time of change and some of its bytes (head, tail and
 * pages between), whatever name it was found by.
 *
 * Return:  true; false: there is none, since a path is no regular file, or one is not large
 *          enough or so new that it may change unseen.
 * Context: any thread.
 */
bool index_key(const struct load_options *options, char ret_key[INDEX_KEY_SIZE]);

#endif
