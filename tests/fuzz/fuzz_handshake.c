/* fuzz_handshake.c - any message to the collector's socket: taken or not, it goes on and answers */
#include "sampler/collector/collector.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/handshake.h"
#include "sampler/collector/drain/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static struct collector *make(void)
{
	const struct collector_options options = {
		.agent_path = "/proc/self/exe", .hz = 99, .discovery = DISCOVERY_TIMER};
	struct collector *collector;

	if (collector_new(&options, &collector, NULL) < 0)
		abort();
	return collector;
}

static int reach(const struct collector *collector)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, collector->directory.socket, strlen(collector->directory.socket));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		abort();
	return fd;
}

/* What was sent is gone again, with everything that it made. */
static void forget(struct collector *collector)
{
	struct drain *drain = &collector->drain;

	while (drain->processes)
		drain_detach(collector, drain->processes);
	stream_flush(&drain->stream, UINT64_MAX);
	for (struct event *node; (node = queue_take(&collector->queue, 0));)
		queue_forget(&collector->queue, node);
	drain->ending = false;
}

/* Seeds outlive versions: all ones stand for ours. */
static void send_all(int fd, const uint8_t *input, size_t size)
{
	struct handshake_request request;
	uint8_t *bytes = malloc(size + 1);

	if (!bytes)
		abort();
	memcpy(bytes, input, size);
	if (size >= sizeof(request)) {
		memcpy(&request, bytes, sizeof(request));
		if (request.version == UINT16_MAX)
			request.version = WIRE_VERSION;
		memcpy(bytes, &request, sizeof(request));
	}
	(void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct collector *collector;
	struct handshake_reply welcome;
	ssize_t n;
	int fd;

	if (!collector)
		collector = make();
	fd = reach(collector);
	send_all(fd, input, size);
	handshake_accept(collector);
	n = recv(fd, &welcome, sizeof(welcome), MSG_DONTWAIT);
	if (n > 0 && (n != (ssize_t)sizeof(welcome) || welcome.magic != WIRE_MAGIC))
		abort();
	(void)close(fd);
	handshake_expire(collector, UINT64_MAX);
	forget(collector);
	return 0;
}
