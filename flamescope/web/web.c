/* web.c - the files of the page, found by number and by name */

#include "flamescope/web/web.h"

#include <string.h>

struct web_row {
	const char *name;
	const unsigned char *bytes;
	const size_t *n_bytes;
};

#include "flamescope/web/web_table.h"

bool web_file_at(size_t i, struct web_file *ret_file)
{
	if (i >= sizeof(web_rows) / sizeof(web_rows[0]))
		return false;
	ret_file->name = web_rows[i].name;
	ret_file->bytes = web_rows[i].bytes;
	ret_file->n_bytes = *web_rows[i].n_bytes;
	return true;
}

bool web_file(const char *name, struct web_file *ret_file)
{
	for (size_t i = 0; web_file_at(i, ret_file); i++)
		if (strcmp(ret_file->name, name) == 0)
			return true;
	return false;
}
