/* browser.h - shows a page to the person, or says how he can see it */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

#include <stdbool.h>

/**
 * browser_is_here - whether there is a display that a browser could open at
 *
 * Context: main thread.
 */
bool browser_is_here(void);

/**
 * browser_open - hand an address to xdg-open, and do not wait for it
 *
 * Return:  0; -ENOENT: there is no xdg-open; -errno.
 * Context: main thread.
 */
int browser_open(const char *address);

/**
 * browser_open_file - the same for a file, whatever its name: "-x" is no option, "a:b" no address
 *
 * Return:  as browser_open(); -errno when the file is not there.
 * Context: main thread.
 */
int browser_open_file(const char *path);

/**
 * browser_open_secret - the same for an address that others on this machine must not read
 *
 * What is handed over is a file that leads there, since command lines can be read by everybody.
 *
 * Return:  0, and the file; as browser_open(); -errno of making the file.
 * Owns:    the caller: unlink and free(*ret_file), once the browser has had the time to read it.
 * Context: main thread.
 */
int browser_open_secret(const char *address, char **ret_file);

/**
 * browser_say_elsewhere - the commands with which another machine sees a page of this one
 * @page: the file
 * @recording: one that `wick serve` can show instead, as a path; NULL: none
 *
 * Context: main thread.
 */
void browser_say_elsewhere(const char *page, const char *recording);

#endif
