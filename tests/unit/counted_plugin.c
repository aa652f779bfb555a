/* counted_plugin.c - a library that counts by wick.h, with a state of its own */
#include "sampler/include/wick.h"

void plugin_count(unsigned n);

__attribute__((visibility("default"))) void plugin_count(unsigned n)
{
	struct wick_request request;

	while (n--) {
		wick_request_begin(&request, "GET /plugin");
		wick_request_end(&request);
	}
}
