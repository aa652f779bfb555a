/* held.c - the stack of a thread that runs: it is held while its stack is copied, walked after */
#include "sampler/external/held.h"

#include "base/io.h"
#include "sampler/external/limits.h"
#include "sampler/external/stop.h"
#include "sampler/procfs/task.h"

#include <errno.h>

int held_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t max, int schedstat_fd,
	      struct held *ret_held)
{
	struct held held = {.result = {.n_pcs = 1, .stop = UNWIND_BOUNDS}};
	struct stop stop;
	int r;

	/* What was mapped since is looked up now, not while the thread is held. */
	(void)remote_begin(remote, 0);
	r = stop_begin(remote_pid(remote), tid, &stop);
	if (r < 0)
		return r;
	r = stop.narrow ? -ENOTSUP : remote_begin(remote, stop.regs.sp);
	if (r == 0)
		remote_hold(remote, STOP_STACK_BYTES);
	held.at_ns = io_now_ns();
	if (schedstat_fd >= 0 && task_read_schedstat(schedstat_fd, &held.at) < 0)
		held.at = (struct schedstat){0};
	held.stopped_ns = stop_end(&stop);
	held.sp = stop.regs.sp;
	held.in_call = stop.in_call;
	pcs[0] = stop.regs.pc | UNWIND_EXACT;
	if (r == 0)
		held.result = unwind_walk(remote_reader(remote), remote_rules(remote), &stop.regs,
					  pcs, max);
	*ret_held = held;
	return 0;
}
