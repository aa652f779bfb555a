/* debug_server.c - one deadline for all queries, however many modules there are */
#include "symbolize/debugfile/internal.h"

#include "base/io.h"
#include "symbolize/bounds/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint64_t DEFAULT_DEADLINE_NS = UINT64_C(5000000000);
static const uint64_t PROGRESS_NS = UINT64_C(1000000000);

/* The client library's interface (debuginfod_find_debuginfo(3)). */
struct debuginfod_client;
typedef int progress_function(struct debuginfod_client *client, long done, long all);

struct library {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int len,
		    char **path);
	void (*set_progress)(struct debuginfod_client *client, progress_function *progress);
};

struct debug_server {
	const struct debug_search_options *options;
	pthread_mutex_t busy; /* one thread queries, the others wait; holds client and deadline */
	pthread_mutex_t counted; /* holds told */
	bool tried;              /* to load the library */
	struct library library;
	struct debuginfod_client *client; /* NULL: none */
	uint64_t left_ns;
	struct debug_servers stats;

	/* Of the call being made. */
	const char *module;
	uint64_t started_ns;
	uint64_t shown_ns;
	bool late;
};

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Where the client keeps its files; false when that is not known. */
static bool cache_folder(char path[PATH_MAX])
{
	/* The environment is read before threads that could change it, of which there are none. */
	const char *set = getenv("DEBUGINFOD_CACHE_PATH"); /* NOLINT(concurrency-mt-unsafe) */
	const char *cache = getenv("XDG_CACHE_HOME");      /* NOLINT(concurrency-mt-unsafe) */
	const char *home = getenv("HOME");                 /* NOLINT(concurrency-mt-unsafe) */
	int len = 0;

	if (set && *set) {
		len = snprintf(path, PATH_MAX, "%s", set);
		return len < PATH_MAX;
	}
	if (home && *home) {
		len = snprintf(path, PATH_MAX, "%s/.debuginfod_client_cache", home);
		if (len < PATH_MAX && is_folder(path))
			return true;
	}
	if (cache && *cache)
		len = snprintf(path, PATH_MAX, "%s/debuginfod_client", cache);
	else if (home && *home)
		len = snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client", home);
	return len > 0 && len < PATH_MAX;
}

int debug_server_cached(const char *hex, const char *what, char **ret_path)
{
	char folder[PATH_MAX];
	char path[PATH_MAX + 2 * BUILD_ID_MAX + 16];

	if (!*hex || !cache_folder(folder))
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "%s/%s/%s", folder, hex, what);
	/* "Not there" is kept as a file of no bytes, which debug_open() does not open. */
	return debug_open(0, path, ret_path);
}

int debug_server_new(const struct debug_search_options *options, struct debug_server **ret_server)
{
	struct debug_server *server = calloc(1, sizeof(*server));

	if (!server)
		return -ENOMEM;
	server->options = options;
	server->left_ns = options->deadline_ns ? options->deadline_ns : DEFAULT_DEADLINE_NS;
	(void)pthread_mutex_init(&server->busy, NULL);
	(void)pthread_mutex_init(&server->counted, NULL);
	*ret_server = server;
	return 0;
}

void debug_server_free(struct debug_server *server)
{
	if (!server)
		return;
	if (server->client)
		server->library.end(server->client);
	/* The library stays: its HTTP has handlers at exit. */
	(void)pthread_mutex_destroy(&server->busy);
	(void)pthread_mutex_destroy(&server->counted);
	free(server);
}

static void say_why(struct debug_server *server, const char *what, const char *more)
{
	(void)pthread_mutex_lock(&server->counted);
	if (!server->stats.why[0])
		(void)snprintf(server->stats.why, sizeof(server->stats.why), "%s%s", what, more);
	(void)pthread_mutex_unlock(&server->counted);
}

static uint64_t left_ns(const struct debug_server *server)
{
	uint64_t spent_ns = io_now_ns() - server->started_ns;

	return spent_ns < server->left_ns ? server->left_ns - spent_ns : 0;
}

/* The server of this thread's call: the client's callback only gets the client. */
static _Thread_local struct debug_server *current;

/* Called about once a second; anything but 0 gives up. */
static int on_progress(struct debuginfod_client *client, long done, long all)
{
	struct debug_server *server = current;
	const struct debug_search_options *options = server->options;
	uint64_t now_ns = io_now_ns();
	uint64_t left = left_ns(server);

	(void)client;
	if (options->progress && now_ns - server->shown_ns >= PROGRESS_NS) {
		server->shown_ns = now_ns;
		options->progress(server->module, all > 0 && done > 0 ? (uint64_t)done : 0, left);
	}
	server->late = left == 0;
	return server->late || loader_is_stopping();
}

#define LOAD(handle, name, to) (*(void **)&(to) = dlsym(handle, name))

static bool load(struct library *library)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	return handle && LOAD(handle, "debuginfod_begin", library->begin) &&
	       LOAD(handle, "debuginfod_end", library->end) &&
	       LOAD(handle, "debuginfod_find_debuginfo", library->find) &&
	       LOAD(handle, "debuginfod_set_progressfn", library->set_progress);
}

static bool start(struct debug_server *server)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): as above */
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (server->tried)
		return server->client != NULL;
	server->tried = true;
	if (!urls || !urls[strspn(urls, " \t\n")]) {
		say_why(server, "DEBUGINFOD_URLS names no server", "");
		return false;
	}
	if (!load(&server->library)) {
		say_why(server, "libdebuginfod.so.1 cannot be loaded", " (Debian: libdebuginfod1)");
		return false;
	}
	server->client = server->library.begin();
	if (!server->client) {
		say_why(server, "the debuginfod client does not start", "");
		return false;
	}
	server->library.set_progress(server->client, on_progress);
	return true;
}

static void count(struct debug_server *server, int result, uint64_t spent_ns)
{
	(void)pthread_mutex_lock(&server->counted);
	server->stats.n_asked++;
	server->stats.spent_ns += spent_ns;
	server->stats.n_found += result >= 0;
	server->stats.n_late += result == -ETIMEDOUT;
	server->stats.n_failed += result < 0 && result != -ENOENT && result != -ETIMEDOUT;
	(void)pthread_mutex_unlock(&server->counted);
	if (result == -ETIMEDOUT)
		say_why(server, "the deadline passed", "");
	else if (result < 0 && result != -ENOENT)
		say_why(server, "servers: ", strerrordesc_np(-result));
}

static int fetch(struct debug_server *server, const uint8_t *build_id, size_t len, char **ret_path)
{
	uint64_t spent_ns;
	int fd;

	server->started_ns = io_now_ns();
	server->shown_ns = server->started_ns;
	server->late = false;
	current = server;
	fd = server->library.find(server->client, build_id, (int)len, ret_path);
	current = NULL;
	spent_ns = io_now_ns() - server->started_ns;
	if (fd < 0 && server->late)
		fd = -ETIMEDOUT;
	server->left_ns -= spent_ns < server->left_ns ? spent_ns : server->left_ns;
	count(server, fd, spent_ns);
	return fd;
}

int debug_server_fetch(struct debug_server *server, const char *module, const uint8_t *build_id,
		       size_t len, char **ret_path)
{
	int r = -ENOSYS;

	if (!server || len == 0)
		return -ENOENT;
	(void)pthread_mutex_lock(&server->busy);
	if (start(server)) {
		server->module = module;
		if (loader_is_stopping()) {
			r = -ECANCELED;
		} else if (server->left_ns) {
			r = fetch(server, build_id, len, ret_path);
		} else {
			r = -ETIMEDOUT;
			(void)pthread_mutex_lock(&server->counted);
			server->stats.n_late++;
			(void)pthread_mutex_unlock(&server->counted);
		}
	}
	(void)pthread_mutex_unlock(&server->busy);
	return r;
}

void debug_server_stats(struct debug_server *server, struct debug_servers *ret_servers)
{
	(void)pthread_mutex_lock(&server->counted);
	*ret_servers = server->stats;
	(void)pthread_mutex_unlock(&server->counted);
}
