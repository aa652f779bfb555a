/* limits.h - every limit of this room, in one place */
#ifndef EXTERNAL_LIMITS_H
#define EXTERNAL_LIMITS_H

enum {
	STOP_SPIN_US = 30,            /* how long a thread is waited for without sleeping */
	STOP_STEP_US = 1000,          /* between two checks of one that is slower */
	STOP_MOST_MS = 20,            /* and at all */
	STOP_STACK_BYTES = 256 << 10, /* of a stack, copied while its thread is held */

	STACKS_MOST_THREADS = 65536,
	STACKS_MOST_FRAMES = 1024, /* of one stack */
	STACKS_TRIES = 8,          /* at a thread that moves while its stack is read */

	ENGINE_MOST_THREADS = 4096, /* of one process; each needs two descriptors */
	ENGINE_LIST_MS = 1000,      /* between two lists of them while their number stays */
	ENGINE_NAME_MS = 1000,
	ENGINE_REST_MS = 100, /* between two checks of what stops took */
	ENGINE_DOUBT = 10,    /* periods that no sample stands for: then any place will do */
	ENGINE_LATE_MS = 20,  /* how late the scheduler may write running down, on all processors */

};

#endif
