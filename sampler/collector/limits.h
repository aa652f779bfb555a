/* limits.h - every limit of the collector, in one place */
#ifndef COLLECTOR_LIMITS_H
#define COLLECTOR_LIMITS_H

#include <stdint.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* User addresses of every supported machine end here (x86-64 with five-level tables). */
#define USER_ADDRESS_END (UINT64_C(1) << 56)

#define QUEUE_DEFAULT_BYTES ((size_t)256 << 20)
#define QUEUE_LEAST_BYTES   ((size_t)64 << 10)

/* A sample claims so much at least, or the period: an event's timer in quiet mode ticks so often.
 */
#define CLAIM_LEAST_NS NS_PER_MS

enum {
	QUEUE_GATHER = 64, /* samples that the main thread is woken for at once */

	PASS_MOST_MS = 240,       /* between two passes, whatever the rings hold; */
	PASS_READING_MS = 80,     /* if they hold samples with values that are read at a pass, */
	PASS_MS = 50,             /* while mappings change, and for what cannot wake us, */
	PASS_HOOKS_MS = 5,        /* with hooks, whose events come in bursts, */
	PASS_LEAST_MS = 2,        /* and when rings fill fast */
	PASS_SAMPLE_BYTES = 1024, /* a sample with a deep stack takes so much of a ring */
	PASS_MOVING_MS = 2000,    /* mappings that changed so lately may change again */
	NEWS_BITS = 64,
	HOLD_BACK_MS = 20, /* a record may be committed this long after its time */
	HELLO_MS = 1000,   /* a connection that says nothing is closed */
	MAX_CONNECTIONS = 64,
	ACCEPT_BURST = 256,      /* connections taken before the rings are looked at again */
	STRANGERS_A_SECOND = 64, /* connections of another user that are none of ours */
	CLOSED_MS = 1000,        /* to that user, then; twice as long each time, */
	CLOSED_DOUBLINGS = 6,    /* so often */
	MAX_PROCESSES = 32768,
	MAX_ANCESTORS = 64,

	/* What samples may claim beside the CPU of the process: process_believe(). */
	CLAIM_PERIODS = 4,        /* of an image */
	CLAIM_THREAD_PERIODS = 2, /* of each thread */
	CLAIM_SIGMAS = 6,         /* of one period, times the root of their number */
	CLAIM_PART = 16,          /* of the CPU */

	MAPS_MAX_BYTES = 32 << 20,
	MAPS_MAX_RANGES = 65536,
	MAPS_REREAD_MS = 100,     /* of one process, for an address that nothing explains */
	MAPS_REREADS = 10,        /* of these at once, after as long a rest */
	MAX_NEWS = 1024,          /* module records of one process in one pass */
	UNPROVEN_A_SECOND = 1024, /* modules of one process that its maps do not show, */
	UNPROVEN_PATHS = 4096,    /* and paths that are known from such alone */
	MAX_MISSES = 64,
	HOPELESS = 64, /* pages that no mapping covers, remembered */
	HOPELESS_MS = 1000,

	HANDLER_TYPICAL_US = 20, /* before anything is known of a process's handlers */
	HANDLER_PLAIN_US = 40,   /* so long may always be believed */

	READING_FRESH_MS = 25, /* between two readings of one process's or thread's metrics */
	WATCH_PERIODS = 5,     /* unexplained CPU that starts a scan of the threads */
	WATCH_PCT = 5,
	WATCH_LEAST_MS = 100,
	WATCH_MOST_MS = 2000,
	WATCH_PART = 400,  /* a scan may take this part of the CPU that it is about */
	WATCH_CHANCE = 4,  /* standard deviations that are no reason for one */
	WATCH_SILENCE = 2, /* periods without a sample that a thread is suspect for, */
	WATCH_CROWD = 64,  /* and where there are more threads than so many */
	WATCH_CROWD_SILENCE = 8,
	WATCH_MAX_THREADS = 32768,
	PROCESS_MAX_THREADS = 65536, /* that samples of one process may name */
	TOP_MAX_THREADS = 65536,
	TOP_FIRST_MS = 250, /* from the first choice to the second */
	CHOICE_MAX_PROCESSES = 65536,
	REPOST_MS = 1000,
	UNMASK_MS = 20,            /* how long one thread may take to stop */
	SEIZED_MOST = 4096,        /* threads that have taken longer, and are let go later */
	SEIZED_MS = 10,            /* between two looks at them */
	PERF_FD_BASE = 4096,       /* descriptors of perf events are numbered from here */
	PERF_RETRY_MS = 1000,      /* after an event could not be opened */
	PERF_ADAPT_MS = 100,       /* between two looks how often a thread's event happens */
	PERF_FIRST = 16,           /* the first period of an event that software counts */
	PERF_FIRST_FAST = 1000000, /* and of one that the processor does */
	PERF_PASS_MS = 10,         /* how soon an event takes over from a thread's timer, */
	PERF_QUICK_MS = 1000,      /* so long after one has: other threads may begin, too */
	PERF_RING_PAGES = 16,      /* of a thread, for the kernel's part of its stacks */
	SWEEP_MS =
		500, /* how often all slots are looked at, and threads that are gone are found, */
	SWEEP_SOON_MS = 100,   /* and behind a look that found some, */
	SWEEP_PART = 2000,     /* what part of their CPU that may take, */
	SWEEP_SOON_PART = 250, /* and behind a look that found some, */
	SWEEP_MOST_MS = 4000,  /* but not how seldom */

	WALL_LEAST_US = 1000,  /* between two turns of wall mode */
	WALL_MOST_TICKS = 200, /* between two looks at an idle thread */
	WALL_MOST_MS = 2000,
	WALL_TURN_MS = 20,     /* a turn takes no longer, nor half of the time between turns */
	WALL_LEAST_LOOKS = 4,  /* that a process has in a turn, whatever others need */
	WALL_LENT = 4,         /* stacks that wait for their thread's next period */
	WALL_STRAYS = 1024,    /* samples that wait for their thread to be found */
	WALL_WALKS = 3,        /* in one look at a thread that outruns them */
	WALL_LIST_MS = 1000,   /* between two lists of a process's threads */
	WALL_LIST_PART = 20,   /* a list may take this part of the time */
	WALL_COMM_MS = 1000,   /* a running thread's name is read so often */
	WALL_OBJECT_MS = 1000, /* and what it waits for, in the same call */
	WALL_ENDED_MS = 1000,  /* how long an ended thread's late samples are known as such */
	WALL_CLOCK_MS = 10,    /* how coarse the start of a thread is told */
	WALL_CALM = 16,        /* ticks without a change after which one is not soon expected */
	WALL_KEPT_AT = 128,    /* threads of a process that two descriptors are kept of */
	WALL_FD_PART = 8,      /* the part of the descriptors that is for schedstat alone */
	WALL_SPARE_FILES = 512,

	USAGE_MS = 250,   /* between two looks at what all processes use */
	USAGE_PART = 200, /* a look may take this part of the time */

	OUTSIDE_AGAIN_MS = 2, /* how soon a look that said little is followed by another, at most */
	OUTSIDE_SLICE_US = 100,    /* of a processor, in one go */
	OUTSIDE_LEAST_MS = 10,     /* between two turns at those that are sampled from outside */
	OUTSIDE_CHILDREN_MS = 100, /* between two looks for their children */
	FOLLOW_MS = 50,            /* and for those of others that have joined, */
	FOLLOW_PART = 500,         /* in this part of the time; */
	FOLLOW_JOIN_PART = 10,     /* they join in this one, */
	FOLLOW_JOINS = 8,          /* so many after one look */
	FOLLOW_MOST = 4096,        /* of so many, recorded or not */
	REPLACED_MS = 100,         /* and for another image of one that has joined */
	LISTEN_MS = 200,           /* and whether it still takes our signal: */
	MUTE_MS = 500,             /* in so much CPU, */
	MUTE_PERIODS = 20,         /* and so many periods besides, one arrives */
	OUTSIDE_EXPECTED = 64,     /* processes that are about to become such, at once */
	OUTSIDE_EXPECT_MS = 1000,  /* how long that may take */

	MAX_UNSAMPLED = 256,

	EH_FRAME_MOST = 64 << 20, /* bytes of one that has no table, */
	EH_TABLE_MOST = 1 << 20,  /* and entries of the table that is made of it */

	REMOTE_PAGES = 64,             /* of one process's files, kept between walks */
	REMOTE_RULES = 4096,           /* of its code; a power of two */
	REMOTE_STACK_FIRST = 16 << 10, /* bytes of a stack that are copied at once */
	REMOTE_STACK_MOST = 4 << 20,   /* what is copied as the walk goes up */
	REMOTE_MOST_WORK = 1 << 20,    /* bytes of code and tables that one walk may read */
	REMOTE_HEADERS = 64,           /* program headers of one module */
	REMOTE_MISS_MS = 100,          /* maps are read again for an unknown address */
	REMOTE_AGE_MS = 1000,          /* and when they are this old */
	REMOTE_AGE_COST = 100,         /* but not before this many times what that takes */
};

#endif
