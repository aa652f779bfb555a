/*
 * inject.c - brings the agent into a running process, or wakes the one that is there
 *
 * The process may be in namespaces of its own, where no path of ours leads: what it needs comes by
 * descriptor.  A pair of sockets is made in it, one end is taken over here, and the agent and
 * its rings are passed through.
 */
#include "sampler/attach/inject.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/attach/image.h"
#include "sampler/attach/peer.h"
#include "sampler/wire/join.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
	MAX_FDS = 2, /* the rings, and the agent */
	PATH_BYTES = 64,
	ERROR_BYTES = 200,
};

/* What calls are given, at the foot of our memory in the process. */
struct scratch {
	int32_t pair[2];
	char byte[8];
	struct iovec part;
	struct msghdr message;
	_Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(MAX_FDS * sizeof(int))];
	char path[PATH_BYTES];
	struct join join;
};

/* One injection under way. */
struct injection {
	const struct inject *inject;
	struct tracee tracee;
	struct scratch scratch;
	uint64_t errno_at; /* 0: not known */
	int32_t errno_was;
	uint64_t join;
	int n_fds;
};

static uint64_t scratch_at(const struct injection *in, size_t offset)
{
	return in->tracee.stack + offset;
}

static int remote_syscall(struct injection *in, long nr, uint64_t a, uint64_t b, uint64_t c,
			  uint64_t d)
{
	const uint64_t args[6] = {a, b, c, d};
	long answer = 0;
	int r = tracee_syscall(&in->tracee, nr, args, &answer);

	return r < 0 ? r : (int)answer;
}

static int make_pair(struct injection *in)
{
	int r = remote_syscall(in, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			       scratch_at(in, offsetof(struct scratch, pair)));

	if (r < 0)
		return r;
	if (!peer_read(in->inject->pid, scratch_at(in, offsetof(struct scratch, pair)),
		       in->scratch.pair, sizeof(in->scratch.pair)))
		return -EFAULT;
	in->scratch.join.other_fds[0] = in->scratch.pair[0];
	in->scratch.join.other_fds[1] = in->scratch.pair[1];
	return 0;
}

/* Our end of the pair, with the descriptors in it. */
static int send_fds(struct injection *in)
{
	const int fds[MAX_FDS] = {in->inject->ring_fd, in->inject->image_fd};
	_cleanup_fd_ int end =
		(int)syscall(SYS_pidfd_getfd, in->inject->pidfd, in->scratch.pair[1], 0);
	struct iovec part = {.iov_base = in->scratch.byte, .iov_len = 1};
	_Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(fds))] = {0};
	size_t bytes = (size_t)in->n_fds * sizeof(int);
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE(bytes)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	if (end < 0)
		return -errno;
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(rights), fds, bytes);
	return sendmsg(end, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void describe_message(struct injection *in)
{
	struct scratch *scratch = &in->scratch;

	scratch->part.iov_base = (void *)scratch_at(in, offsetof(struct scratch, byte));
	scratch->part.iov_len = 1;
	scratch->message.msg_iov = (void *)scratch_at(in, offsetof(struct scratch, part));
	scratch->message.msg_iovlen = 1;
	scratch->message.msg_control = (void *)scratch_at(in, offsetof(struct scratch, control));
	scratch->message.msg_controllen = CMSG_SPACE((size_t)in->n_fds * sizeof(int));
}

static int receive_fds(struct injection *in)
{
	struct cmsghdr head;
	int fds[MAX_FDS] = {-1, -1};
	uint64_t at = scratch_at(in, offsetof(struct scratch, control));
	int r = remote_syscall(in, SYS_recvmsg, (uint64_t)in->scratch.pair[0],
			       scratch_at(in, offsetof(struct scratch, message)),
			       MSG_CMSG_CLOEXEC | MSG_DONTWAIT, 0);

	if (r < 0)
		return r;
	if (!peer_read(in->inject->pid, at, &head, sizeof(head)) ||
	    !peer_read(in->inject->pid, at + CMSG_LEN(0), fds, sizeof(fds)))
		return -EFAULT;
	/* With no room for them the kernel has passed fewer. */
	if (head.cmsg_len != CMSG_LEN((size_t)in->n_fds * sizeof(int)))
		return -EMFILE;
	in->scratch.join.ring_fd = fds[0];
	in->scratch.join.other_fds[2] = in->n_fds > 1 ? fds[1] : -1;
	return 0;
}

static int pass_fds(struct injection *in)
{
	int r;

	in->n_fds = in->join ? 1 : MAX_FDS;
	describe_message(in);
	if (!peer_write(in->inject->pid, in->tracee.stack, &in->scratch, sizeof(in->scratch)))
		return -EFAULT;
	r = make_pair(in);
	if (r == 0)
		r = send_fds(in);
	return r == 0 ? receive_fds(in) : r;
}

/* The agent closes what it was handed; without it that is ours to do. */
static void close_fds(struct injection *in)
{
	const int32_t fds[] = {in->scratch.join.ring_fd, in->scratch.join.other_fds[0],
			       in->scratch.join.other_fds[1], in->scratch.join.other_fds[2]};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0 && !in->tracee.gone)
			(void)remote_syscall(in, SYS_close, (uint64_t)fds[i], 0, 0, 0);
}

/* What its loader says, and with that said it is forgotten there. */
static int explain_dlopen(struct injection *in, struct err *err)
{
	char text[ERROR_BYTES] = "";
	long at = 0;

	if (in->inject->place.dlerror &&
	    tracee_call(&in->tracee, in->inject->place.dlerror, 0, 0, &at) == 0 && at)
		for (size_t i = 0; i + 1 < sizeof(text); i++)
			if (!peer_read(in->inject->pid, (uint64_t)at + i, &text[i], 1) || !text[i])
				break;
	text[sizeof(text) - 1] = '\0';
	return err_set(err, text[0] ? 0 : ELIBACC, "load the agent into process %d%s%s",
		       (int)in->inject->pid, text[0] ? ": " : "", text);
}

/*
 * A debugger opens what a module is called, and the path that we gave leads to a descriptor of the
 * debugger's own: a pipe there would hold it for ever.  The name that stays is no path.
 */
static void rename_agent(struct injection *in, uint64_t handle)
{
	char name[PATH_BYTES] = "";
	size_t len = strlen(in->scratch.path) + 1;
	uint64_t at = 0;

	/* In both libcs: where it was loaded, then its name. */
	if (peer_read(in->inject->pid, handle + sizeof(at), &at, sizeof(at)) &&
	    peer_read(in->inject->pid, at, name, len) && memcmp(name, in->scratch.path, len) == 0 &&
	    len >= sizeof(IMAGE_NAME))
		(void)peer_write(in->inject->pid, at, IMAGE_NAME, sizeof(IMAGE_NAME));
}

/* Both libcs give the module's own entry, which begins with where it was loaded. */
static int load_agent(struct injection *in, struct err *err)
{
	uint32_t version = 0;
	uint32_t signal = 0;
	uint64_t base = 0;
	long handle = 0;
	int r;

	/* A path that no program would think of, or its dlopen() would be given ours. */
	(void)snprintf(in->scratch.path, sizeof(in->scratch.path), "/proc/./self/fd/%d",
		       in->scratch.join.other_fds[2]);
	if (!peer_write(in->inject->pid, scratch_at(in, offsetof(struct scratch, path)),
			in->scratch.path, sizeof(in->scratch.path)))
		return err_set(err, EFAULT, "write to process %d", (int)in->inject->pid);
	r = tracee_call(&in->tracee, in->inject->place.dlopen,
			scratch_at(in, offsetof(struct scratch, path)), RTLD_NOW, &handle);
	if (r < 0)
		return err_set(err, -r, "call dlopen in process %d", (int)in->inject->pid);
	if (!handle)
		return explain_dlopen(in, err);
	rename_agent(in, (uint64_t)handle);
	if (peer_read(in->inject->pid, (uint64_t)handle, &base, sizeof(base)))
		in->join = peer_join_note(in->inject->pid, base, &version, &signal);
	if (!in->join || version != WIRE_VERSION)
		return err_set(err, ELIBBAD, "find the agent in process %d", (int)in->inject->pid);
	return 0;
}

static int call_join(struct injection *in, struct err *err)
{
	long answer = 0;
	int r;

	if (!peer_write(in->inject->pid, scratch_at(in, offsetof(struct scratch, join)),
			&in->scratch.join, sizeof(in->scratch.join)))
		return err_set(err, EFAULT, "write to process %d", (int)in->inject->pid);
	r = tracee_call(&in->tracee, in->join, scratch_at(in, offsetof(struct scratch, join)), 0,
			&answer);
	if (r == 0) {
		r = (int)answer;
		in->scratch.join.ring_fd = -1;
		memset(in->scratch.join.other_fds, -1, sizeof(in->scratch.join.other_fds));
	}
	if (r == -EBUSY)
		return err_set(err, r == -EBUSY ? EBUSY : -r,
			       "process %d is being recorded by another wick",
			       (int)in->inject->pid);
	return r < 0 ? err_set(err, -r, "start sampling in process %d", (int)in->inject->pid) : 0;
}

static void note_errno(struct injection *in)
{
	long at = 0;

	if (in->inject->place.errno_location &&
	    tracee_call(&in->tracee, in->inject->place.errno_location, 0, 0, &at) == 0 &&
	    peer_read(in->inject->pid, (uint64_t)at, &in->errno_was, sizeof(in->errno_was)))
		in->errno_at = (uint64_t)at;
}

static int run_calls(struct injection *in, struct err *err)
{
	int r = tracee_hold(&in->tracee);

	if (r == 0)
		r = tracee_map_stack(&in->tracee);
	if (r < 0)
		return err_set(err, -r, "borrow a thread of process %d", (int)in->inject->pid);
	if (!in->join)
		note_errno(in);
	r = pass_fds(in);
	if (r < 0)
		(void)err_set(err, -r, "pass descriptors to process %d", (int)in->inject->pid);
	if (r == 0 && !in->join)
		r = load_agent(in, err);
	if (r == 0)
		r = call_join(in, err);
	close_fds(in);
	if (in->errno_at)
		(void)peer_write(in->inject->pid, in->errno_at, &in->errno_was,
				 sizeof(in->errno_was));
	return r;
}

static void describe_join(struct injection *in)
{
	struct join *join = &in->scratch.join;

	join->magic = WIRE_MAGIC;
	join->version = WIRE_VERSION;
	join->ring_fd = -1;
	memset(join->other_fds, -1, sizeof(join->other_fds));
	(void)snprintf(join->socket, sizeof(join->socket), "%s", in->inject->socket);
}

static int explain_stop(const struct inject *inject, int r, struct err *err)
{
	if (r == -ESRCH)
		return err_set(err, ESRCH, "process %d", (int)inject->pid);
	if (r == -EPERM)
		return err_set(err, EPERM, "trace process %d", (int)inject->pid);
	(void)err_set(err, -r, "stop a thread of process %d", (int)inject->pid);
	return -EAGAIN;
}

/* While the thread stands nothing of ours waits for a processor, where that is allowed. */
struct hurry {
	int policy;
	struct sched_param param;
	bool begun;
};

static void hurry_begin(struct hurry *ret_hurry)
{
	const struct sched_param first = {.sched_priority = 1};

	*ret_hurry = (struct hurry){.policy = sched_getscheduler(0)};
	ret_hurry->begun = ret_hurry->policy >= 0 && sched_getparam(0, &ret_hurry->param) == 0 &&
			   sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0;
}

static void hurry_end(const struct hurry *hurry)
{
	if (hurry->begun)
		(void)sched_setscheduler(0, hurry->policy, &hurry->param);
}

int inject_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err)
{
	_cleanup_free_ struct injection *in = calloc(1, sizeof(*in));
	struct hurry hurry;
	int r;

	*ret_stopped_ns = 0;
	if (!in)
		return err_set(err, ENOMEM, "join process %d", (int)inject->pid);
	in->inject = inject;
	in->join = inject->place.join;
	describe_join(in);
	r = tracee_seize(&in->tracee, inject->pid, inject->tid, inject->place.enter);
	if (r < 0)
		return explain_stop(inject, r, err);
	hurry_begin(&hurry);
	r = tracee_stop(&in->tracee);
	if (r < 0)
		r = explain_stop(inject, r, err);
	else
		r = inject->fits(inject->context, &in->tracee, err) ? run_calls(in, err) : -EAGAIN;
	tracee_leave(&in->tracee);
	*ret_stopped_ns = io_now_ns() - in->tracee.stopped_ns;
	hurry_end(&hurry);
	return r;
}
