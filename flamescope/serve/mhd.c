/* mhd.c - libmicrohttpd, loaded when there is something to serve */
#include "flamescope/serve/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

struct mhd mhd;

static void *find(void *library, const char *name, bool *complete)
{
	void *call = library ? dlsym(library, name) : NULL;

	*complete = *complete && call;
	return call;
}

int mhd_load(struct err *err)
{
	/* For good: its threads may still be in it when a server has stopped. */
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool complete = true;

#define LOAD(name) *(void **)&mhd.name = find(library, "MHD_" #name, &complete);
	MHD_CALLS(LOAD)
#undef LOAD
	if (complete)
		return 0;
	(void)err_set(err, ENOENT, "load libmicrohttpd.so.12");
	err_hint(err, "install libmicrohttpd12");
	return -ENOENT;
}
