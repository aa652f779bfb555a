/* start.c - the constructor of the hooks object; hooks may have run before it */
#include "sampler/hooks/countdown.h"
#include "sampler/hooks/live.h"
#include "sampler/hooks/lock_next.h"
#include "sampler/hooks/lock_wait.h"
#include "sampler/hooks/next.h"

static void __attribute__((constructor)) hooks_constructor(void)
{
	next_find();
	countdown_start();
	live_start();
	lock_next_find();
	lock_wait_start();
}
