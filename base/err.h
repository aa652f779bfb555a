/* err.h - errors: -errno, and a message that is made once, where the failure is */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* A message for a person.  Zero it (or err_clear()) before the first use. */
struct err {
	int code; /* positive errno, 0 when nothing failed */
	char text[512];
};

/**
 * err_set - make the message of a failure
 * @err:  where to put it; NULL is fine
 * @code: positive errno; its text is appended after a colon; 0 appends nothing
 *
 * The format names the thing in quotes: err_set(err, errno, "open '%s'", path).
 *
 * Return:  -CODE, or -EINVAL when CODE is 0.
 * Context: any thread.
 */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * err_hint - append ", try: HINT" to a message
 *
 * Context: any thread.
 */
void err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
