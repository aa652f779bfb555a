/* state.h - struct collector: which thread uses what */
#ifndef DRAIN_STATE_H
#define DRAIN_STATE_H

#include "base/map.h"
#include "sampler/collector/control/overhead.h"
#include "sampler/collector/control/poll_interval.h"
#include "sampler/collector/control/rate.h"
#include "sampler/collector/drain/due.h"
#include "sampler/collector/drain/follow.h"
#include "sampler/collector/drain/rate_change.h"
#include "sampler/collector/drain/recording_totals.h"
#include "sampler/collector/drain/request.h"
#include "sampler/collector/event/event.h"
#include "sampler/collector/launch/directory.h"
#include "sampler/collector/launch/launch.h"
#include "sampler/collector/metrics/usage.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/weights.h"
#include "sampler/collector/stream/filter.h"
#include "sampler/collector/stream/stream.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"
#include "sampler/program/program.h"
#include "sampler/wire/handshake.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	MAX_CONNECTIONS = 64,
	EXTERNAL_EXPECTED = 64, /* processes that are about to become external ones, at once */
};

/* A client that has connected and not yet sent its handshake. */
struct connection {
	int fd; /* -1: free */
	uint64_t deadline_ns;
};

/* Another user who connects. */
struct caller {
	uid_t uid;
	uint32_t n;        /* connections since SINCE_NS that were none of ours */
	uint32_t n_closed; /* how often it has been turned away */
	uint64_t since_ns;
	uint64_t closed_ns; /* it is turned away until then; 0: it is not */
};

/* Turns of wall mode: NS long and numbered from FIRST since SINCE_NS. */
struct turns {
	uint64_t first;
	uint64_t since_ns;
	uint64_t ns;
};

/* What the drain thread keeps of the processes that are sampled externally. */
/* A process that is about to become a program that cannot load the agent. */
struct external_expected {
	pid_t pid; /* 0: none */
	enum program_kind kind;
	struct external_image before; /* what it ran when it said so: perhaps the new one already */
	struct external_image after;  /* zero: not known */
	uint64_t until_ns;
	char path[WIRE_PATH_BYTES];
};

struct external_state {
	uint32_t n;       /* processes that were sampled so in the last turn, and new ones */
	uint64_t next_ns; /* when the next turn is due, */
	uint64_t list_ns; /* and when their children are listed next */
	uint64_t random;
	uint32_t n_expected; /* ever */
	struct external_expected expected[EXTERNAL_EXPECTED];
};

/* The drain thread's own; no other thread reads it while that thread runs. */
struct drain {
	int epoll_fd;
	int child_pidfd;
	int spare_fd;      /* closed to refuse a client when no descriptor is left */
	int event_fd;      /* of nothing that runs; -1: there is none; see open_first_event() */
	struct event *end; /* its last word; NULL: it has been said */
	struct process *processes;
	struct map by_pid; /* the living ones, by pid and by number */
	pthread_mutex_t pids_lock;
	struct map by_number;
	uint32_t next_number;
	struct connection connections[MAX_CONNECTIONS];
	struct caller callers[DIRECTORY_MOST_CLOSED];
	uint64_t all_closed_ns; /* until when there are too many of these; 0: there are not */
	struct stream stream;
	struct filter filter;
	struct usage usage;
	struct sock_table sockets;
	struct weights weights;
	struct child_cpu_totals child_cpu;
	struct recording_totals totals;
	struct rate rate;
	enum ring_engine engine; /* of images that begin */
	struct external_state external;
	uint64_t barrier_ns; /* the newest barrier in the stream; 0: it has been given */
	struct poll_interval poll_interval;
	struct due due;
	struct overhead overhead;
	struct lag lag;
	struct turns turns;    /* of wall mode */
	uint64_t wall_next_ns; /* when the next is due */
	struct collector_stats stats;
	struct unsupported_list unsupported;
	uint64_t ended_charged_ns; /* of processes that are gone */
	uint32_t n_attached;       /* attached processes that live, without followed children */
	uint64_t replaced_ns;      /* when they are checked for another image */
	bool ending;
	bool child_ended;
	int child_status;
	uint64_t child_rusage_ns; /* CMD and what it waited for */
	bool still_running;       /* something outlived the recording */
};

/* What the drain thread publishes. */
struct published {
	pthread_mutex_t lock;
	struct collector_stats stats;
	struct collector_usage usage;
	struct unsupported_list unsupported;
	bool child_ended;
	int child_status;
};

struct collector {
	/* Constant once the drain thread runs. */
	struct collector_options options;
	struct directory directory;
	struct launch_limits limits;
	pid_t child;
	bool launched_external; /* it is sampled externally */
	pthread_t thread;
	bool running;
	int wake_fd;

	atomic_bool detach; /* set by any thread, which writes to wake_fd */
	atomic_bool nudge;  /* the same: collector_next() is to return */

	struct rate_request rate_request;
	int image_fd; /* the agent to inject; -1: not needed yet */
	uint64_t image_attach_offset;
	struct request request;
	struct follow follow; /* the main thread's */
	struct drain drain;
	struct published published;
	struct queue queue;

	/* The main thread's: what the views of the last calls point to. */
	struct event *current;
	struct frame frames[SAMPLE_MAX_FRAMES];
	struct sample_label labels[SAMPLE_MAX_LABELS];
	struct unsupported_list unsupported;
	struct collector_unsupported unsupported_views[MAX_UNSUPPORTED];
};

/* What a descriptor is: the upper half of an epoll event's u64; the lower is an id. */
enum source {
	SOURCE_LISTEN,
	SOURCE_CONNECTION, /* index */
	SOURCE_PROCESS,    /* number */
	SOURCE_CHILD,
	SOURCE_WAKE,
	SOURCE_CALLER, /* collector_watch() */
};

#endif
