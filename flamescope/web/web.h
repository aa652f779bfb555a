/* web.h - the files of the page, which are part of the program */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <stddef.h>

struct web_file {
	const unsigned char *bytes;
	size_t n_bytes;
};

extern const struct web_file web_page_html;
extern const struct web_file web_page_css;
extern const struct web_file web_views_css;
extern const struct web_file web_main_js;   /* what the page runs */
extern const struct web_file web_worker_js; /* what its worker runs */

#endif
