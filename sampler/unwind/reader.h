/* reader.h - reads words of the stack, from the window if possible */
#ifndef UNWIND_READER_H
#define UNWIND_READER_H

#include "sampler/unwind/unwind.h"

#pragma GCC visibility push(hidden)

/**
 * unwind_read_word - the word at an address
 *
 * Return:  false when it cannot be read.
 * Context: handler.
 */
static inline bool unwind_read_word(struct unwind_reader *reader, uint64_t address,
				    uint64_t *ret_word)
{
	if (address >= reader->lo && address < reader->hi &&
	    reader->hi - address >= sizeof(*ret_word)) {
		__builtin_memcpy(ret_word, reader->bytes + (address - reader->lo),
				 sizeof(*ret_word));
		return true;
	}
	if (address > UINT64_MAX - sizeof(*ret_word))
		return false;
	return reader->read(reader, address, ret_word, sizeof(*ret_word));
}

#pragma GCC visibility pop

#endif
