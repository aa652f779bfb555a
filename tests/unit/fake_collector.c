/* fake_collector.c - just enough of a collector to see what the agent does; for its tests */
#include "fake_collector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20 };

struct fake {
	const struct fake_options *options;
	struct fake_run *run;
	char dir[64];
	char socket[96];
	char link[96];
	int listener;
	int silent[FAKE_MAX_PROCESSES]; /* kept open and never answered */
	uint32_t n_silent;
	pid_t child;
};

static uint64_t now_ns(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static int open_listener(struct fake *fake)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)snprintf(fake->dir, sizeof(fake->dir), "/tmp/wick-test.XXXXXX");
	if (!mkdtemp(fake->dir))
		return -errno;
	(void)snprintf(fake->socket, sizeof(fake->socket), "%s/socket", fake->dir);
	(void)snprintf(fake->link, sizeof(fake->link), "%s/libwick-agent.so", fake->dir);
	if (symlink(fake->options->agent, fake->link) < 0)
		return -errno;
	fake->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	(void)strcpy(at.sun_path, fake->socket);
	if (!fake->options->absent &&
	    (bind(fake->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	     listen(fake->listener, 64) < 0))
		return -errno;
	return 0;
}

static int make_rings(struct fake *fake, struct fake_process *process)
{
	const struct fake_options *o = fake->options;
	int fd = memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ring_header *h;

	process->bytes = ring_chunk_offset(RING_MAX_CHUNKS);
	if (fd < 0 || ftruncate(fd, (off_t)process->bytes) < 0)
		return -1;
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	h = mmap(NULL, process->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (h == MAP_FAILED)
		return -1;
	h->magic = WIRE_MAGIC;
	h->version = WIRE_VERSION;
	h->hz = o->hz;
	h->signal = SIGPROF;
	h->period_ns = UINT64_C(1000000000) / o->hz;
	h->discovery = o->discovery;
	h->max_slots = o->max_slots ? o->max_slots : RING_MAX_SLOTS;
	h->jitter_pct = o->jitter_pct;
	h->drained_ns = now_ns();
	h->counts = o->counts;
	h->contexts[0] = o->context;
	process->header = h;
	return fd;
}

static void send_welcome(int to, uint16_t status, int ring)
{
	struct handshake_reply welcome = {WIRE_MAGIC, WIRE_VERSION, status};
	_Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec body = {&welcome, sizeof(welcome)};
	struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};

	if (ring >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		(void)memcpy(CMSG_DATA(c), &ring, sizeof(int));
	}
	(void)sendmsg(to, &message, MSG_NOSIGNAL);
}

static void answer(struct fake *fake, int from)
{
	struct fake_process *process;
	struct handshake_request request;
	int ring;

	if (recv(from, &request, sizeof(request), 0) != sizeof(request) ||
	    request.magic != WIRE_MAGIC || fake->run->n_processes == FAKE_MAX_PROCESSES)
		return;
	process = calloc(1, sizeof(*process));
	if (!process)
		return;
	process->pid = request.pid;
	process->kind = request.kind;
	fake->run->processes[fake->run->n_processes++] = process;
	if (request.kind == HANDSHAKE_UNSUPPORTED)
		return;
	if (fake->options->refuse) {
		send_welcome(from, HANDSHAKE_REFUSED, -1);
		return;
	}
	ring = make_rings(fake, process);
	if (ring < 0)
		return;
	send_welcome(from, HANDSHAKE_ACCEPTED, ring);
	(void)close(ring);
}

/* Return: whether it was a process that is about to end; it is answered, or kept waiting. */
static bool let_leave(struct fake *fake, int from)
{
	struct handshake_request request;

	if (recv(from, &request, sizeof(request), MSG_PEEK) != sizeof(request) ||
	    request.kind != HANDSHAKE_LEAVING)
		return false;
	fake->run->n_leaving++;
	if (fake->options->lets_wait && fake->n_silent < FAKE_MAX_PROCESSES) {
		fake->silent[fake->n_silent++] = from;
		return true;
	}
	send_welcome(from, HANDSHAKE_ACCEPTED, -1);
	(void)close(from);
	return true;
}

/* Return: whether a client has connected. */
static bool serve(struct fake *fake)
{
	struct pollfd poll_fd = {.fd = fake->listener, .events = POLLIN};
	int from;

	if (poll(&poll_fd, 1, POLL_MS) != 1)
		return false;
	from = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
	if (from < 0)
		return false;
	if (fake->options->silent && fake->n_silent < FAKE_MAX_PROCESSES) {
		fake->silent[fake->n_silent++] = from;
		return true;
	}
	if (let_leave(fake, from))
		return true;
	answer(fake, from);
	(void)close(from);
	return true;
}

static struct fake_thread *thread_of(struct fake_process *process, uint32_t tid)
{
	for (uint32_t i = 0; i < process->n_threads; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	if (process->n_threads == FAKE_MAX_THREADS)
		return &process->threads[0];
	process->threads[process->n_threads].tid = tid;
	return &process->threads[process->n_threads++];
}

static void decode_sample(struct fake_process *process, const struct record_sample *s)
{
	struct fake_thread *thread = thread_of(process, s->tid);

	if (!s->n_pcs || s->n_pcs > RECORD_MAX_PCS || s->stop >= FAKE_MAX_STOPS || !s->weight ||
	    s->head.bytes < sizeof(*s) + s->n_pcs * 8U || !(s->pcs[0] & PC_EXACT)) {
		process->bad++;
		return;
	}
	thread->weight += s->weight;
	thread->samples++;
	process->samples++;
	process->weight += s->weight;
	process->pcs += s->n_pcs;
	process->stops[s->stop]++;
	process->last = (struct fake_cost){.flags = s->head.flags, .n_pcs = s->n_pcs};
	process->discovered += !!(s->head.flags & SAMPLE_DISCOVERY);
	process->jittered += !!(s->head.flags & SAMPLE_JITTERED);
	process->quiet += !!(s->head.flags & SAMPLE_NO_METRICS);
}

static void decode(struct fake_process *process, const struct record *record)
{
	const struct record_thread *name = (const void *)record;
	const struct record_module *module = (const void *)record;

	switch (record->type) {
	case RECORD_PAD:
		process->pads++;
		break;
	case RECORD_SAMPLE:
		decode_sample(process, (const void *)record);
		break;
	case RECORD_THREAD:
		(void)memcpy(thread_of(process, name->tid)->comm, name->comm, 16);
		break;
	case RECORD_MODULE:
		process->modules++;
		(void)memcpy(process->last_module, module->path, RECORD_PATH_BYTES);
		break;
	case RECORD_UNMAP:
		process->unmaps++;
		break;
	default:
		process->bad++;
		break;
	}
}

static struct ring_slot *slot_of(const struct fake_process *process, uint32_t i)
{
	uint32_t chunk = i / RING_CHUNK_SLOTS;

	return (void *)((unsigned char *)process->header + ring_chunk_offset(chunk) +
			i % RING_CHUNK_SLOTS * ring_slot_bytes(chunk));
}

/* Only where exactly one sample came since the last look. */
static void note_cost(struct fake_process *process, uint32_t i, uint64_t n_samples,
		      uint64_t handler_ns)
{
	uint64_t *before = process->priced[i % FAKE_PRICED];

	if (n_samples == before[0] + 1 && process->n_costs < FAKE_MAX_COSTS) {
		process->last.ns = (uint32_t)(handler_ns - before[1]);
		process->costs[process->n_costs++] = process->last;
	}
	before[0] = n_samples;
	before[1] = handler_ns;
}

static void drain_slot(struct fake_process *process, uint32_t i)
{
	struct ring_slot *slot = slot_of(process, i);
	uint64_t size = ring_data_bytes(i / RING_CHUNK_SLOTS);
	uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
	uint64_t tail = slot->tail;
	uint64_t n_samples = slot->n_samples;
	uint64_t handler_ns = slot->handler_ns;

	while (tail != head) {
		const struct record *record = (const void *)(slot->data + tail % size);

		if (record->bytes < sizeof(*record) || record->bytes % 8 ||
		    record->bytes > size - tail % size || record->bytes > head - tail) {
			process->bad++;
			return;
		}
		decode(process, record);
		tail += record->bytes;
	}
	atomic_store_explicit(&slot->tail, tail, memory_order_release);
	note_cost(process, i, n_samples, handler_ns);
}

static bool thread_gone(const struct fake_process *process, uint32_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%u", process->pid, tid);
	return access(path, F_OK) < 0;
}

static void drain(struct fake_process *process)
{
	struct ring_header *h = process->header;

	if (!h)
		return;
	for (uint32_t i = 0; i < h->n_slots && i < RING_MAX_SLOTS; i++) {
		uint32_t tid = h->tids[i];
		bool gone = tid && tid != RING_TID_DEAD && thread_gone(process, tid);

		drain_slot(process, i);
		if (gone)
			(void)atomic_compare_exchange_strong(&h->tids[i], &tid, RING_TID_DEAD);
	}
	h->drained_ns = now_ns();
	h->wake = 0;
}

static void post_all(struct fake_process *process)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		process->header->posted[process->header->n_posted % RING_POSTED] =
			(uint32_t)strtoul(entry->d_name, NULL, 10);
		process->header->n_posted++;
	}
	if (dir)
		(void)closedir(dir);
}

static void exec_child(struct fake *fake, const char *const argv[])
{
	char preload[1024];

	for (const char *const *e = fake->options->env; e && *e; e++)
		(void)putenv(strdup(*e));
	(void)snprintf(preload, sizeof(preload), "%s%s%s",
		       fake->options->before ? fake->options->before : "",
		       fake->options->before ? ":" : "", fake->link);
	(void)setenv("LD_PRELOAD", preload, 1);
	(void)setenv(WIRE_ENV_SOCKET, fake->socket, 1);
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static void collect(struct fake *fake)
{
	bool over = false;

	while (!over) {
		/* Ended first, drained after: nothing is committed in between. */
		over = waitpid(fake->child, &fake->run->status, WNOHANG) == fake->child;
		/* Several may have called just before the end. */
		while (serve(fake) && over)
			continue;
		for (uint32_t i = 0; i < fake->run->n_processes && !fake->options->idle; i++) {
			drain(fake->run->processes[i]);
			if (fake->options->post && fake->run->processes[i]->header)
				post_all(fake->run->processes[i]);
		}
	}
}

static void remove_files(struct fake *fake)
{
	for (uint32_t i = 0; i < fake->n_silent; i++)
		(void)close(fake->silent[i]);
	(void)close(fake->listener);
	(void)unlink(fake->socket);
	(void)unlink(fake->link);
	(void)rmdir(fake->dir);
}

static uint64_t children_cpu_ns(void)
{
	struct rusage used;

	(void)getrusage(RUSAGE_CHILDREN, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

int fake_collector_run(const struct fake_options *options, const char *const argv[],
		       struct fake_run *ret_run)
{
	struct fake fake = {.options = options, .run = ret_run};
	uint64_t cpu = children_cpu_ns();
	uint64_t begin = now_ns();
	int r;

	*ret_run = (struct fake_run){0};
	r = open_listener(&fake);
	if (r < 0)
		return r;
	fake.child = fork();
	if (fake.child < 0)
		return -errno;
	if (fake.child == 0)
		exec_child(&fake, argv);
	collect(&fake);
	ret_run->wall_ns = now_ns() - begin;
	ret_run->cpu_ns = children_cpu_ns() - cpu;
	remove_files(&fake);
	return 0;
}

void fake_run_release(struct fake_run *run)
{
	for (uint32_t i = 0; i < run->n_processes; i++) {
		if (run->processes[i]->header)
			(void)munmap(run->processes[i]->header, run->processes[i]->bytes);
		free(run->processes[i]);
	}
	*run = (struct fake_run){0};
}

uint64_t fake_sum(const struct fake_process *process, size_t offset)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; process->header && i < process->header->n_slots; i++)
		sum += atomic_load((
			_Atomic uint64_t *)(void *)((unsigned char *)slot_of(process, i) + offset));
	return sum;
}
