/* fuzz_control.c - any message to a recording's socket is a request that holds, or dropped */
#include "base/io.h"
#include "tools/control/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static struct control_server server;
static char folder[] = "/tmp/wick-fuzz-XXXXXX";

/* Its socket is in a folder of ours. */
static void close_server(void)
{
	char path[sizeof(server.path)];

	memcpy(path, server.path, sizeof(path));
	control_server_close(&server);
	*strrchr(path, '/') = '\0';
	(void)rmdir(path);
	(void)rmdir(folder);
}

static void open_server(void)
{
	if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1) < 0 ||
	    control_server_open(&server, NULL) < 0 || atexit(close_server) != 0)
		abort();
}

static int reach(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, server.path, sizeof(address.sun_path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		abort();
	return fd;
}

static void must_hold(const struct control_request *request)
{
	if (request->magic != CONTROL_MAGIC || request->version != CONTROL_VERSION ||
	    request->verb < CONTROL_START || request->verb >= CONTROL_VERBS || request->pid <= 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct control_reply reply = {.result = CONTROL_DONE};
	struct control_client *client;
	int fd;

	if (!server.open)
		open_server();
	fd = reach();
	if (send(fd, input, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size) {
		client = control_server_take(&server, io_now_ns());
		if (client) {
			must_hold(&client->request);
			control_server_answer(client, &reply);
			if (recv(fd, &reply, sizeof(reply), MSG_DONTWAIT) != (ssize_t)sizeof(reply))
				abort();
		}
	}
	(void)close(fd);
	while (control_server_is_busy(&server))
		(void)control_server_take(&server, UINT64_MAX);
	return 0;
}
