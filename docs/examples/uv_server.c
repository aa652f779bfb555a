/*
 * uv_server.c - a server of lines on libuv whose callbacks, requests and tiers wick counts
 *
 *	uv_server PORT
 *	wick record -- uv_server 7000          and, beside it: wick tasks -p $(pidof uv_server)
 *
 * Each line that a client sends is a request: it is looked up (a tier), worked on in libuv's pool,
 * and answered.  SIGTERM and Ctrl-C end it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <wick_uv.h>

struct client {
	uv_tcp_t tcp;
	uv_work_t work;
	uv_write_t write;
	struct wick_request request;
	int busy;
	char line[256];
	char answer[64];
};

static void on_close(uv_handle_t *handle)
{
	free(handle->data);
}

static void on_written(uv_write_t *write, int status)
{
	struct client *client = write->data;

	wick_request_end(&client->request);
	client->busy = 0;
	if (status < 0)
		wick_uv_close((uv_handle_t *)&client->tcp, on_close);
}

/* In a thread of the pool, in the context of the request. */
static void compute(uv_work_t *work)
{
	struct client *client = work->data;
	unsigned hash = 5381;

	WICK_TIER("compute")
	{
		for (int round = 0; round < 20000; round++)
			for (const char *c = client->line; *c; c++)
				hash = hash * 33 + (unsigned char)*c;
	}
	(void)snprintf(client->answer, sizeof(client->answer), "%08x\n", hash);
}

static void on_computed(uv_work_t *work, int status)
{
	struct client *client = work->data;
	uv_buf_t buf = uv_buf_init(client->answer, (unsigned)strlen(client->answer));

	if (status == 0)
		(void)wick_uv_write(&client->write, (uv_stream_t *)&client->tcp, &buf, 1,
				    on_written);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *client = handle->data;

	(void)suggested;
	*buf = uv_buf_init(client->line, client->busy ? 0 : sizeof(client->line) - 1);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *client = stream->data;
	uv_loop_t *loop = stream->loop;

	if (n < 0 && n != UV_ENOBUFS) {
		wick_uv_close((uv_handle_t *)stream, on_close);
		return;
	}
	if (n <= 0)
		return;
	buf->base[n] = 0;
	client->busy = 1;
	wick_request_begin(&client->request, client->line[0] == 'p' ? "put" : "get");
	WICK_TIER("lookup")
	{
		client->line[strcspn(client->line, "\r\n")] = 0;
	}
	(void)wick_uv_queue_work(loop, &client->work, compute, on_computed);
}

static void on_connection(uv_stream_t *server, int status)
{
	struct client *client = status == 0 ? calloc(1, sizeof(*client)) : NULL;

	if (!client)
		return;
	(void)uv_tcp_init(server->loop, &client->tcp);
	client->tcp.data = client->work.data = client->write.data = client;
	if (uv_accept(server, (uv_stream_t *)&client->tcp) != 0 ||
	    wick_uv_read_start((uv_stream_t *)&client->tcp, on_alloc, on_read) != 0)
		wick_uv_close((uv_handle_t *)&client->tcp, on_close);
}

static void on_end(uv_signal_t *end, int number)
{
	(void)number;
	uv_stop(end->loop);
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	struct sockaddr_in address;
	uv_signal_t ends[2];
	uv_tcp_t server;

	if (argc != 2 || uv_ip4_addr("127.0.0.1", (int)strtol(argv[1], NULL, 10), &address) != 0) {
		(void)fprintf(stderr, "usage: uv_server PORT\n");
		return 2;
	}
	(void)uv_tcp_init(loop, &server);
	if (uv_tcp_bind(&server, (const struct sockaddr *)&address, 0) != 0 ||
	    wick_uv_listen((uv_stream_t *)&server, 128, on_connection) != 0) {
		(void)fprintf(stderr, "uv_server: cannot listen on port %s\n", argv[1]);
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		(void)uv_signal_init(loop, &ends[i]);
		(void)wick_uv_signal_start(&ends[i], on_end, i ? SIGTERM : SIGINT);
	}
	(void)uv_run(loop, UV_RUN_DEFAULT);
	return 0;
}
