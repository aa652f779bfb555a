/* pack_read.c - sections to a profile, none of them believed */
#include "flamescope/pack/pack.h"

#include <errno.h>

int pack_read(const void *bytes, size_t n_bytes, struct profile **ret_profile, struct err *err)
{
	(void)bytes;
	(void)n_bytes;
	(void)ret_profile;
	return err_set(err, EBADMSG, "read the profile");
}
