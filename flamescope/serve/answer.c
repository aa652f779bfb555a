/* answer.c - responses of libmicrohttpd */
#include "flamescope/serve/api.h"

#include "base/json.h"

#include <unistd.h>

enum { ERROR_BYTES = 8192 };

/* No cache keeps a response, no browser guesses its type, no foreign page reads it. */
static const struct answer_header always[] = {
	{"Cache-Control", "no-store"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Frame-Options", "DENY"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{NULL, NULL},
};

static const struct answer_header no_page[] = {
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	{NULL, NULL},
};

static void add_headers(struct MHD_Response *response, const struct answer_header *headers)
{
	for (; headers && headers->name; headers++)
		(void)mhd.add_response_header(response, headers->name, headers->value);
}

static enum MHD_Result send_it(struct MHD_Connection *connection, unsigned status, const char *type,
			       struct MHD_Response *response, const struct answer_header *headers)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(response, always);
	add_headers(response, headers);
	if (!mhd.get_response_header(response, no_page[0].name))
		add_headers(response, no_page);
	(void)mhd.add_response_header(response, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)mhd.add_response_header(response, "Allow", "GET, HEAD");
	result = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
				 const char *type, struct buf *text,
				 const struct answer_header *headers)
{
	struct MHD_Response *response = NULL;

	if (!text->failed)
		response = mhd.create_response_from_buffer(text->len, text->data,
							   MHD_RESPMEM_MUST_COPY);
	buf_release(text);
	return send_it(connection, status, type, response, headers);
}

enum MHD_Result answer_text(struct MHD_Connection *connection, const char *type, struct buf *text,
			    const struct answer_header *headers)
{
	if (text->failed) {
		buf_release(text);
		return answer_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory");
	}
	return send_text(connection, MHD_HTTP_OK, type, text, headers);
}

enum MHD_Result answer_fd(struct MHD_Connection *connection, int fd, uint64_t bytes,
			  const struct answer_header *headers)
{
	struct MHD_Response *response = mhd.create_response_from_fd64(bytes, fd);

	if (!response)
		(void)close(fd);
	return send_it(connection, MHD_HTTP_OK, "application/gzip", response, headers);
}

enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned status,
			     const char *message)
{
	struct buf text;

	buf_init(&text, ERROR_BYTES);
	buf_add(&text, "{\"error\":");
	json_add_string(&text, message);
	buf_add(&text, "}\n");
	return send_text(connection, status, "application/json", &text, NULL);
}
