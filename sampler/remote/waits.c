/* waits.c - what a blocked thread waits in: words and states */
#include "sampler/remote/waits.h"

#include "sampler/remote/blocked.h"
#include "sampler/remote/waits_calls.h"

#include <fcntl.h>
#include <sys/syscall.h>

static bool locks_a_file(const struct blocked_at *at)
{
	int command = (int)at->args[1];

	return at->nr == __NR_fcntl && (command == F_SETLKW || command == F_OFD_SETLKW);
}

const char *waits_word(const struct blocked_at *at)
{
	const struct waits_call *call;

	if (!at->in_syscall)
		return "page-fault";
	if (locks_a_file(at))
		return "flock";
	call = waits_call(at->nr);
	return call ? call->word : "other";
}

static bool for_process(const struct blocked_at *at)
{
	const struct waits_call *call = at && at->in_syscall ? waits_call(at->nr) : NULL;

	return call && call->for_process;
}

enum sample_state waits_state(char stat_letter, const struct blocked_at *at)
{
	switch (stat_letter) {
	case 'R':
		return STATE_RUNNING;
	case 'W': /* being woken */
		return STATE_RUNNABLE;
	case 'D':
		return for_process(at) ? STATE_SLEEPING : STATE_DISK;
	case 'T':
	case 't':
	case 'Z':
	case 'X':
	case 'x':
		return STATE_STOPPED;
	default:
		return STATE_SLEEPING;
	}
}
