/* api.c - requests to answers; those that take time wait suspended, and cost no thread */
#include "flamescope/serve/api.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/serve/catalog.h"
#include "flamescope/serve/code.h"
#include "flamescope/serve/packs.h"
#include "flamescope/serve/serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

enum {
	LIST_BYTES = 16 * 1024 * 1024,
	PAGE_BYTES = 1024 * 1024,
	POLICY_BYTES = 1024,
	HEADER_BYTES = 64,
	MAX_WAIT_S = 25, /* that a request for a changed list is held, below what proxies allow */
	MAX_LAST_S = 366 * 24 * 3600,
};

#define NS_PER_S UINT64_C(1000000000)
/* A list is as good as new for so long; the folder is read no more often. */
#define FRESH_NS UINT64_C(400000000)
/* To read files for, of which the list tells: before the first one, and whenever it is made anew.
 */
#define FIRST_FACTS_NS UINT64_C(2000000000)
#define FACTS_NS       UINT64_C(40000000)

struct api {
	const struct guard *guard;
	char *state;
	struct catalog *catalog;
	struct packs *packs;
	struct code *code;
	int wanted;            /* eventfd */
	pthread_mutex_t mutex; /* of what is below */
	struct api_request *waiting;
	uint64_t listed_ns;
	bool is_unread; /* the list has no facts of some files yet */
	bool stopping;
};

enum stage { NEW, WAITING_FOR_LIST, WAITING_FOR_PACK, WAITING_FOR_CODE };

struct api_request {
	struct MHD_Connection *connection;
	enum stage stage;
	bool is_due; /* of WAITING_FOR_LIST */
	bool has_since;
	uint64_t since;
	uint64_t until_ns;
	struct packs_request pack;
	struct code_request code;
	int64_t from_ns;
	int64_t to_ns;
	struct api_request *next;
};

int api_new(const struct server_options *options, const struct guard *guard, struct api **ret_api,
	    struct err *err)
{
	const char *folder = options->folder;
	struct api *api = calloc(1, sizeof(*api));
	int r;

	if (!api)
		return err_set(err, ENOMEM, "serve '%s'", folder);
	(void)pthread_mutex_init(&api->mutex, NULL);
	api->guard = guard;
	api->wanted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	api->state = strdup(options->state ? options->state : "");
	r = api->wanted < 0 || !api->state ? err_set(err, ENOMEM, "serve '%s'", folder) : 0;
	if (r == 0)
		r = catalog_new(folder, &api->catalog, err);
	if (r == 0) {
		r = catalog_scan(api->catalog, FIRST_FACTS_NS);
		api->is_unread = r > 0;
		if (r < 0)
			(void)err_set(err, -r, "read '%s'", folder);
	}
	if (r >= 0)
		r = packs_new(api->catalog, PACKS_HELD_BYTES, &api->packs, err);
	if (r >= 0)
		r = code_new(api->catalog, &options->code, &api->code, err);
	if (r < 0) {
		if (api->packs)
			packs_stop(api->packs);
		api_free(api);
		return r;
	}
	api->listed_ns = io_now_ns();
	*ret_api = api;
	return 0;
}

struct api_request *api_begin(struct MHD_Connection *connection)
{
	struct api_request *request = calloc(1, sizeof(*request));

	if (request) {
		request->connection = connection;
		request->pack.fd = -1;
	}
	return request;
}

void api_end(struct api *api, struct api_request *request)
{
	if (!request)
		return;
	packs_release(api->packs, &request->pack);
	catalog_names_free(request->pack.names, request->pack.n_names);
	code_release(&request->code);
	free(request);
}

static const char *argument(const struct api_request *request, const char *name)
{
	return mhd.lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* A number from 0 to MAX in decimal (or hexadecimal) digits and nothing else. */
static bool number(const char *text, int base, uint64_t max, uint64_t *ret_number)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	const size_t len = text ? strlen(text) : 0;

	if (len == 0 || len > 19 || text[strspn(text, digits)])
		return false;
	*ret_number = strtoull(text, NULL, base);
	return *ret_number <= max;
}

static enum MHD_Result answer_page(struct api *api, struct api_request *request)
{
	const struct page page = {.title = "wick", .state = api->state, .token = api->guard->token};
	char nonce[PAGE_NONCE_TEXT];
	struct answer_header headers[] = {{"Content-Security-Policy", NULL}, {NULL, NULL}};
	enum MHD_Result result;
	struct buf policy, text;
	int r;

	buf_init(&policy, POLICY_BYTES);
	buf_init(&text, PAGE_BYTES);
	r = page_nonce(nonce, NULL);
	if (r == 0)
		r = page_served(&page, nonce, &text, NULL);
	if (r < 0) {
		buf_release(&text);
		return answer_error(request->connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				    "the page cannot be made");
	}
	page_policy(nonce, "'self'", &policy);
	buf_add(&policy, "; frame-ancestors 'none'");
	headers[0].value = buf_text(&policy);
	result = answer_text(request->connection, "text/html; charset=utf-8", &text, headers);
	buf_release(&policy);
	return result;
}

/* Whether there is something to say now; the caller has the mutex. */
static bool has_changed(struct api *api, const struct api_request *request, uint64_t now_ns)
{
	if (api->stopping || now_ns >= request->until_ns)
		return true;
	if (now_ns - api->listed_ns > FRESH_NS)
		return false;
	return !request->has_since || catalog_version(api->catalog) != request->since;
}

static enum MHD_Result answer_list(struct api *api, struct api_request *request)
{
	struct buf text;

	buf_init(&text, LIST_BYTES);
	catalog_list(api->catalog, &text);
	return answer_text(request->connection, "application/json", &text, NULL);
}

static enum MHD_Result queue_list(struct api *api, struct api_request *request)
{
	const char *since = argument(request, "since");
	const char *wait = argument(request, "wait");
	uint64_t wait_s = 0;
	bool is_due;

	if (since && !number(since, 16, UINT64_MAX, &request->since))
		return answer_error(request->connection, MHD_HTTP_BAD_REQUEST,
				    "since is no version");
	if (wait && !number(wait, 10, UINT64_MAX, &wait_s))
		return answer_error(request->connection, MHD_HTTP_BAD_REQUEST,
				    "wait is no number of seconds");
	request->has_since = since && wait_s;
	/* Without `wait` too the list has to be a new one: that takes a moment. */
	request->until_ns = io_now_ns() + (wait_s > MAX_WAIT_S ? MAX_WAIT_S
					   : wait_s            ? wait_s
							       : 5) *
						  NS_PER_S;
	request->stage = WAITING_FOR_LIST;
	(void)pthread_mutex_lock(&api->mutex);
	is_due = has_changed(api, request, io_now_ns());
	if (!is_due) {
		mhd.suspend_connection(request->connection);
		request->next = api->waiting;
		api->waiting = request;
		(void)eventfd_write(api->wanted, 1);
	}
	(void)pthread_mutex_unlock(&api->mutex);
	return is_due ? answer_list(api, request) : MHD_YES;
}

struct naming {
	char **names;
	size_t n;
	bool failed;
};

static enum MHD_Result take_name(void *context, enum MHD_ValueKind kind, const char *key,
				 size_t key_size, const char *value, size_t value_size)
{
	struct naming *naming = context;

	(void)kind;
	if (key_size != 4 || memcmp(key, "file", 4) != 0)
		return MHD_YES;
	/* A zero inside would make another name of it. */
	if (!value || strlen(value) != value_size || naming->n == PACKS_MAX_FILES) {
		naming->failed = true;
		return MHD_NO;
	}
	naming->names[naming->n] = strdup(value);
	if (!naming->names[naming->n]) {
		naming->failed = true;
		return MHD_NO;
	}
	naming->n++;
	return MHD_YES;
}

/* file=A&file=B...; false: too many, or no names at all. */
static bool take_names(struct api_request *request)
{
	struct naming naming = {.names = calloc(PACKS_MAX_FILES, sizeof(char *))};

	if (!naming.names)
		return false;
	(void)mhd.get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, take_name,
					  &naming);
	request->pack.names = naming.names;
	request->pack.n_names = naming.n;
	return !naming.failed && naming.n > 0;
}

/* last=SECONDS, host=NAME; what is wrong with them, or NULL. */
static const char *choose_names(struct api *api, struct api_request *request)
{
	struct catalog_choice choice = {.host = argument(request, "host")};
	const char *last = argument(request, "last");
	uint64_t last_s = 0;
	int r;

	if (last && !number(last, 10, MAX_LAST_S, &last_s))
		return "last is no number of seconds";
	choice.last_ns = last_s * NS_PER_S;
	r = catalog_choose(api->catalog, &choice, &request->pack.names, &request->from_ns,
			   &request->to_ns);
	if (r < 0)
		return r == -ENOENT ? "no recording is of that time and host" : "no memory";
	request->pack.n_names = (size_t)r;
	request->pack.from_ns = last_s ? request->from_ns : 0;
	if (r > PACKS_MAX_FILES)
		return "too many recordings at once: choose fewer";
	return NULL;
}

static void on_pack(void *context)
{
	struct api_request *request = context;

	mhd.resume_connection(request->connection);
}

static enum MHD_Result queue_pack(struct api *api, struct api_request *request)
{
	const char *wrong = NULL;

	if (!argument(request, "file"))
		wrong = choose_names(api, request);
	else if (!take_names(request))
		wrong = "the files are too many, or are no names";
	if (wrong)
		return answer_error(request->connection, MHD_HTTP_BAD_REQUEST, wrong);
	request->stage = WAITING_FOR_PACK;
	request->pack.done = on_pack;
	request->pack.context = request;
	mhd.suspend_connection(request->connection);
	if (packs_queue(api->packs, &request->pack) < 0) {
		request->pack.error = -EBUSY;
		mhd.resume_connection(request->connection);
	}
	return MHD_YES;
}

static enum MHD_Result answer_failure(const struct api_request *request)
{
	struct MHD_Connection *connection = request->connection;

	switch (request->pack.error) {
	case -EACCES:
	case -ENOENT:
	case -ENOTDIR:
	case -EISDIR:
	case -ENAMETOOLONG:
		/* A client does not learn that a file exists which it may not have. */
		return answer_error(connection, MHD_HTTP_NOT_FOUND, "no such recording");
	case -EBUSY:
		return answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				    "too many requests wait, try: again in a moment");
	case -ETIMEDOUT:
		return answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				    request->pack.err.text);
	case -E2BIG:
		return answer_error(connection, MHD_HTTP_CONTENT_TOO_LARGE,
				    "too much at once: choose fewer recordings");
	default:
		return answer_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				    request->pack.err.text);
	}
}

static enum MHD_Result answer_pack(struct api_request *request)
{
	char n_files[HEADER_BYTES], from[HEADER_BYTES], to[HEADER_BYTES];
	const bool has_time = request->from_ns > 0 && request->from_ns < request->to_ns;
	const struct answer_header headers[] = {
		{"X-Wick-Files", n_files},
		{has_time ? "X-Wick-From" : NULL, from},
		{has_time ? "X-Wick-To" : NULL, to},
		{NULL, NULL},
	};
	int fd;

	if (request->pack.error)
		return answer_failure(request);
	(void)snprintf(n_files, sizeof(n_files), "%zu", request->pack.n_files);
	(void)snprintf(from, sizeof(from), "%lld", (long long)request->from_ns);
	(void)snprintf(to, sizeof(to), "%lld", (long long)request->to_ns);
	fd = steal_fd(&request->pack.fd);
	return answer_fd(request->connection, fd, request->pack.bytes, headers);
}

/* file=NAME, function=NAME, and the words of a query; false: one of them is wrong. */
static enum MHD_Result take_code(void *context, enum MHD_ValueKind kind, const char *key,
				 size_t key_size, const char *value, size_t value_size)
{
	struct code_request *code = context;
	const bool is_file = strcmp(key, "file") == 0;
	const bool is_text = is_file || strcmp(key, "function") == 0;
	char **text = is_file ? &code->file : &code->function;

	(void)kind;
	if (strlen(key) != key_size || (value && strlen(value) != value_size))
		code->error = err_set(&code->err, 0, "a word has a zero inside");
	else if (is_text && (*text || !value || !(*text = strdup(value))))
		code->error = err_set(&code->err, 0, "one file and one function, please");
	/* A file of rules is for who starts the server to name. */
	else if (strcmp(key, "elide") == 0 && value && *value == '@' &&
		 strcmp(value, "@wrappers") != 0)
		code->error = err_set(&code->err, 0, "rules can only be @wrappers");
	else if (!is_text)
		code->error = query_words_take(&code->words, key, value ? value : "", &code->err);
	return code->error < 0 ? MHD_NO : MHD_YES;
}

static void on_code(void *context)
{
	struct api_request *request = context;

	mhd.resume_connection(request->connection);
}

static enum MHD_Result queue_code(struct api *api, struct api_request *request)
{
	struct code_request *code = &request->code;

	(void)mhd.get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, take_code,
					  code);
	if (code->error < 0 || !code->file || !code->function)
		return answer_error(request->connection, MHD_HTTP_BAD_REQUEST,
				    code->error < 0 ? code->err.text
						    : "one file and one function, please");
	request->stage = WAITING_FOR_CODE;
	code->done = on_code;
	code->context = request;
	mhd.suspend_connection(request->connection);
	if (code_queue(api->code, code) < 0) {
		(void)err_set(&code->err, 0, "too many requests wait, try: again in a moment");
		code->error = -EBUSY;
		mhd.resume_connection(request->connection);
	}
	return MHD_YES;
}

static enum MHD_Result answer_code(struct api_request *request)
{
	struct code_request *code = &request->code;

	if (code->error < 0)
		return answer_error(request->connection,
				    code->error == -EBUSY ? MHD_HTTP_SERVICE_UNAVAILABLE
							  : MHD_HTTP_NOT_FOUND,
				    code->err.text);
	return answer_text(request->connection, "application/json", &code->json, NULL);
}

enum MHD_Result api_answer(struct api *api, struct api_request *request, const char *path)
{
	if (request->stage == WAITING_FOR_LIST)
		return answer_list(api, request);
	if (request->stage == WAITING_FOR_PACK)
		return answer_pack(request);
	if (request->stage == WAITING_FOR_CODE)
		return answer_code(request);
	if (strcmp(path, "/") == 0)
		return answer_page(api, request);
	if (strcmp(path, "/api/list") == 0)
		return queue_list(api, request);
	if (strcmp(path, "/api/pack") == 0)
		return queue_pack(api, request);
	if (strcmp(path, "/api/code") == 0)
		return queue_code(api, request);
	return answer_error(request->connection, MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* Resumes the requests whose list has changed. */
static void resume_due(struct api *api)
{
	struct api_request **at = &api->waiting;
	const uint64_t now_ns = io_now_ns();

	while (*at) {
		struct api_request *request = *at;

		if (!has_changed(api, request, now_ns)) {
			at = &request->next;
			continue;
		}
		*at = request->next;
		mhd.resume_connection(request->connection);
	}
}

void api_scan(struct api *api)
{
	eventfd_t count;
	bool wanted;
	int r = 0;

	(void)eventfd_read(api->wanted, &count);
	(void)pthread_mutex_lock(&api->mutex);
	wanted = api->is_unread || (api->waiting && io_now_ns() - api->listed_ns > FRESH_NS);
	(void)pthread_mutex_unlock(&api->mutex);
	if (wanted)
		r = catalog_scan(api->catalog, FACTS_NS);
	(void)pthread_mutex_lock(&api->mutex);
	if (wanted) {
		api->listed_ns = io_now_ns();
		api->is_unread = r > 0;
	}
	resume_due(api);
	(void)pthread_mutex_unlock(&api->mutex);
}

int api_wanted_fd(const struct api *api)
{
	return api->wanted;
}

void api_stop(struct api *api)
{
	(void)pthread_mutex_lock(&api->mutex);
	api->stopping = true;
	resume_due(api);
	(void)pthread_mutex_unlock(&api->mutex);
	packs_stop(api->packs);
	code_stop(api->code);
}

void api_free(struct api *api)
{
	if (!api)
		return;
	packs_free(api->packs);
	code_free(api->code);
	catalog_free(api->catalog);
	if (api->wanted >= 0)
		(void)close(api->wanted);
	free(api->state);
	(void)pthread_mutex_destroy(&api->mutex);
	free(api);
}
