/* err.c - messages of failures */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(struct err *err, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void append(struct err *err, const char *format, va_list args)
{
	size_t used = strlen(err->text);

	(void)vsnprintf(err->text + used, sizeof(err->text) - used, format, args);
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code ? -code : -EINVAL;
	err->code = code ? code : EINVAL;
	err->text[0] = '\0';
	va_start(args, format);
	append(err, format, args);
	va_end(args);
	if (code) {
		const int before = errno;
		size_t used = strlen(err->text);

		errno = code;
		(void)snprintf(err->text + used, sizeof(err->text) - used, ": %m");
		errno = before;
	}
	return -err->code;
}

void err_hint(struct err *err, const char *format, ...)
{
	va_list args;
	size_t used;

	if (!err)
		return;
	used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ", try: ");
	va_start(args, format);
	append(err, format, args);
	va_end(args);
}
