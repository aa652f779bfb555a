/* one_text.h - a buffer that all tests of a program write into, one after the other */
#ifndef TESTS_UNIT_ONE_TEXT_H
#define TESTS_UNIT_ONE_TEXT_H

#include "base/buf.h"

static struct buf text;

static int text_start(void **state)
{
	(void)state;
	buf_init(&text, 4096);
	return 0;
}

static int text_release(void **state)
{
	(void)state;
	buf_release(&text);
	return 0;
}

#endif
