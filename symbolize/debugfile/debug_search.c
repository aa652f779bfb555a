/* debug_search.c - where debug files are, and the order of the search */
#include "symbolize/debugfile/debug_search.h"

#include "base/cleanup.h"
#include "symbolize/debugfile/internal.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A walk over one --symbol-dir, made when it is first needed. */
struct symbol_dir {
	char *path; /* absolute: owned */
	bool walked;
	struct debug_walk *walk; /* NULL: not walked, or it could not be */
};

struct debug_search {
	struct debug_search_options options;
	const char *root;
	pthread_mutex_t lock; /* holds the walks while they are made */
	struct symbol_dir *dirs;
	struct debug_server *server; /* NULL: no server is used */
};

/* From where we are now, wherever we go.  A folder that is not there stays as it was given. */
static int set_dir(struct symbol_dir *dir, const char *path)
{
	dir->path = realpath(path, NULL);
	if (!dir->path)
		dir->path = strdup(path);
	return dir->path ? 0 : -ENOMEM;
}

int debug_search_new(const struct debug_search_options *options, struct debug_search **ret_search)
{
	struct debug_search *search = calloc(1, sizeof(*search));
	int r = 0;

	if (!search)
		return -ENOMEM;
	search->options = *options;
	search->root = options->debug_root ? options->debug_root : "/usr/lib/debug";
	(void)pthread_mutex_init(&search->lock, NULL);
	search->dirs = calloc(options->n_symbol_dirs + 1, sizeof(*search->dirs));
	if (!search->dirs)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < options->n_symbol_dirs; i++)
		r = set_dir(&search->dirs[i], options->symbol_dirs[i]);
	if (r == 0 && options->debuginfod)
		r = debug_server_new(&search->options, &search->server);
	if (r < 0) {
		debug_search_free(search);
		return r;
	}
	*ret_search = search;
	return 0;
}

void debug_search_free(struct debug_search *search)
{
	if (!search)
		return;
	for (size_t i = 0; search->dirs && i < search->options.n_symbol_dirs; i++) {
		debug_walk_free(search->dirs[i].walk);
		free(search->dirs[i].path);
	}
	free(search->dirs);
	debug_server_free(search->server);
	(void)pthread_mutex_destroy(&search->lock);
	free(search);
}

void debug_search_servers(struct debug_search *search, struct debug_servers *ret_servers)
{
	*ret_servers = (struct debug_servers){0};
	if (search->server)
		debug_server_stats(search->server, ret_servers);
}

/* Try a path that is put together; true: the match is over. */
static bool try_path(struct debug_match *match, pid_t pid, enum debug_found found,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

static bool try_path(struct debug_match *match, pid_t pid, enum debug_found found,
		     const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return len > 0 && (size_t)len < sizeof(path) && debug_match_try(match, pid, path, found);
}

/* Try a path in the root of the process, then in ours. */
static bool try_both(struct debug_match *match, enum debug_found found, const char *folder,
		     const char *middle, const char *name)
{
	return (match->pid > 0 &&
		try_path(match, match->pid, found, "%s%s/%s", folder, middle, name)) ||
	       try_path(match, 0, found, "%s%s/%s", folder, middle, name);
}

static bool try_symbol_dirs(const struct debug_search *search, struct debug_match *match)
{
	for (size_t i = 0; i < search->options.n_symbol_dirs; i++)
		if (try_path(match, 0, DEBUG_SYMBOL_DIR, "%s/.build-id/%.2s/%s.debug",
			     search->dirs[i].path, match->hex, match->hex + 2))
			return true;
	return false;
}

static bool try_perf_cache(struct debug_match *match)
{
	/* Nothing here changes the environment. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	const char *home = getenv("HOME");

	return home && *home &&
	       (try_path(match, 0, DEBUG_PERF_CACHE, "%s/.debug/.build-id/%.2s/%s/debug", home,
			 match->hex, match->hex + 2) ||
		try_path(match, 0, DEBUG_PERF_CACHE, "%s/.debug/.build-id/%.2s/%s/elf", home,
			 match->hex, match->hex + 2));
}

static bool try_build_id(const struct debug_search *search, struct debug_match *match)
{
	char name[2 * BUILD_ID_MAX + 32];

	if (match->build_id_len < 2)
		return false;
	(void)snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug", match->hex, match->hex + 2);
	return try_both(match, DEBUG_BUILD_ID, search->root, "", name) ||
	       try_symbol_dirs(search, match) || try_perf_cache(match);
}

/* On systems with one /usr a file has two paths, and its debug file may be below the other. */
static bool try_below_root(const struct debug_search *search, struct debug_match *match,
			   const char *folder, const char *link)
{
	char other[PATH_MAX];
	int len;

	if (try_both(match, DEBUG_LINK, search->root, folder, link))
		return true;
	if (strncmp(folder, "/usr/", 5) == 0)
		return try_both(match, DEBUG_LINK, search->root, folder + 4, link);
	len = snprintf(other, sizeof(other), "/usr%s", folder);
	return len > 0 && (size_t)len < sizeof(other) &&
	       try_both(match, DEBUG_LINK, search->root, other, link);
}

/* The link is a bare file name; anything else would lead out of the folder. */
static bool try_link(const struct debug_search *search, struct debug_match *match, const char *path,
		     const char *link)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	if (path[0] != '/' || !*link || strchr(link, '/'))
		return false;
	if ((size_t)(slash - path) >= sizeof(folder))
		return false;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	if (try_both(match, DEBUG_LINK, folder, "", link) ||
	    try_both(match, DEBUG_LINK, folder, "/.debug", link) ||
	    try_below_root(search, match, folder, link))
		return true;
	for (size_t i = 0; i < search->options.n_symbol_dirs; i++)
		if (try_path(match, 0, DEBUG_SYMBOL_DIR, "%s/%s", search->dirs[i].path, link) ||
		    try_path(match, 0, DEBUG_SYMBOL_DIR, "%s%s/%s", search->dirs[i].path, folder,
			     link))
			return true;
	return false;
}

static const struct debug_walk *walk_of(struct debug_search *search, struct symbol_dir *dir)
{
	(void)pthread_mutex_lock(&search->lock);
	if (!dir->walked && debug_walk_new(dir->path, &dir->walk) < 0)
		dir->walk = NULL;
	dir->walked = true;
	(void)pthread_mutex_unlock(&search->lock);
	return dir->walk;
}

static bool try_walks(struct debug_search *search, struct debug_match *match)
{
	for (size_t i = 0; match->build_id_len && i < search->options.n_symbol_dirs; i++) {
		const struct debug_walk *walk = walk_of(search, &search->dirs[i]);
		const char *path;

		for (size_t nth = 0; walk; nth++) {
			path = debug_walk_find(walk, match->build_id, match->build_id_len, nth);
			if (!path)
				break;
			if (debug_match_try(match, 0, path, DEBUG_SYMBOL_DIR))
				return true;
		}
	}
	return false;
}

static bool try_client_cache(struct debug_match *match)
{
	static const char *const WHAT[] = {"debuginfo", "executable"};

	for (size_t i = 0; i < sizeof(WHAT) / sizeof(WHAT[0]); i++) {
		char *path = NULL;
		int fd = debug_server_cached(match->hex, WHAT[i], &path);

		if (fd >= 0 && debug_match_take(match, fd, path, DEBUG_DEBUGINFOD))
			return true;
	}
	return false;
}

static bool try_servers(struct debug_search *search, struct debug_match *match, const char *module)
{
	char *path = NULL;
	int fd;

	if (!search->server)
		return false;
	fd = debug_server_fetch(search->server, module, match->build_id, match->build_id_len,
				&path);
	return fd >= 0 && debug_match_take(match, fd, path, DEBUG_DEBUGINFOD);
}

static void set_build_id(struct debug_match *match, const uint8_t *id, size_t len)
{
	match->build_id_len = len;
	memcpy(match->build_id, id, len);
	for (size_t i = 0; i < len; i++)
		(void)snprintf(match->hex + 2 * i, 3, "%02x", id[i]);
}

int debug_search_module(struct debug_search *search, const struct debug_module *module, Elf *elf,
			struct debug_file *ret_file)
{
	struct debug_match match = {
		.pid = module->pid,
		.dev = module->dev,
		.inode = module->inode,
		.code = module->head->n_loads ? module->head : NULL,
		.file = {.fd = -1},
	};
	GElf_Word crc = 0;
	const char *link = elf ? dwelf_elf_gnu_debuglink(elf, &crc) : NULL;

	set_build_id(&match, module->head->build_id, module->head->build_id_len);
	match.has_crc = link != NULL;
	match.crc = crc;
	(void)(try_build_id(search, &match) ||
	       (link && try_link(search, &match, module->path, link)) ||
	       try_walks(search, &match) || try_client_cache(&match) ||
	       try_servers(search, &match, module->path));
	*ret_file = match.file;
	return match.file.fd >= 0 ? 0 : -ENOENT;
}

/* The folder of a path, without its last slash. */
static int folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

static bool try_alt_name(struct debug_search *search, struct debug_match *match, const char *beside,
			 const char *name)
{
	const char *slash = strrchr(name, '/');
	_cleanup_free_ char *real = NULL;
	char folder[PATH_MAX];

	if (name[0] == '/') {
		if (try_both(match, DEBUG_LINK, "", "", name + 1))
			return true;
	} else if (*name && beside[0] == '/') {
		(void)snprintf(folder, sizeof(folder), "%.*s", folder_len(beside), beside);
		if (try_both(match, DEBUG_LINK, folder, "", name))
			return true;
		/* A build-id folder may hold links to where the files are. */
		real = realpath(beside, NULL);
		if (real && try_path(match, 0, DEBUG_LINK, "%.*s/%s", folder_len(real), real, name))
			return true;
	}
	name = slash ? slash + 1 : name;
	return *name && try_both(match, DEBUG_LINK, search->root, "/.dwz", name);
}

int debug_search_alt(struct debug_search *search, const struct debug_module *module,
		     const char *beside, const char *name, const uint8_t *build_id, size_t len)
{
	struct debug_match match = {.pid = module->pid, .file = {.fd = -1}};
	int fd;

	/* Nothing but the build-id proves that it belongs. */
	if (len == 0 || len > BUILD_ID_MAX)
		return -ENOENT;
	set_build_id(&match, build_id, len);
	(void)(try_alt_name(search, &match, beside ? beside : "", name ? name : "") ||
	       try_build_id(search, &match) || try_walks(search, &match) ||
	       try_client_cache(&match) || try_servers(search, &match, module->path));
	fd = match.file.fd;
	match.file.fd = -1;
	debug_match_release(&match);
	return fd >= 0 ? fd : -ENOENT;
}

/* Candidates for a unit's file: after SKIP others one is taken. */
struct dwo_match {
	pid_t pid; /* as in debug_match */
	size_t skip;
	int fd;
};

static bool open_one(struct dwo_match *match, pid_t pid, const char *path)
{
	_cleanup_fd_ int fd = debug_open(pid, path, NULL);

	if (fd < 0 || match->skip--)
		return false;
	match->fd = steal_fd(&fd);
	return true;
}

/* Open FOLDER[:len]/NAME SUFFIX, where either of the two may be empty. */
static bool open_in(struct dwo_match *match, const char *folder, size_t folder_len,
		    const char *name, const char *suffix)
{
	char path[PATH_MAX];
	int len;

	if (folder_len >= sizeof(path))
		return false;
	len = snprintf(path, sizeof(path), "%.*s%s%s%s", (int)folder_len, folder,
		       folder_len && *name ? "/" : "", name, suffix);
	return len > 0 && (size_t)len < sizeof(path) &&
	       ((match->pid > 0 && open_one(match, match->pid, path)) || open_one(match, 0, path));
}

static bool open_in_dirs(const struct debug_search *search, struct dwo_match *match,
			 const char *name, const char *suffix)
{
	pid_t pid = match->pid;
	bool found = false;

	match->pid = 0; /* these are ours alone */
	for (size_t i = 0; i < search->options.n_symbol_dirs && !found; i++)
		found = open_in(match, search->dirs[i].path, strlen(search->dirs[i].path), name,
				suffix);
	match->pid = pid;
	return found;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* FILE.dwp, and of FILE.debug also FILE.dwp; the same of the module. */
static bool find_package(const struct debug_search *search, const struct debug_module *module,
			 const char *beside, struct dwo_match *match)
{
	static const char SUFFIX[] = ".debug";
	const char *files[] = {beside, module->path};

	for (size_t i = 0; i < 2; i++) {
		const char *file = files[i] ? files[i] : "";
		size_t len = strlen(file);
		size_t cut = len > strlen(SUFFIX) ? len - strlen(SUFFIX) : len;

		if (len &&
		    (open_in(match, "", 0, file, ".dwp") ||
		     (strcmp(file + cut, SUFFIX) == 0 && open_in(match, file, cut, "", ".dwp")) ||
		     open_in_dirs(search, match, last_part(file), ".dwp")))
			return true;
	}
	return false;
}

static bool find_unit_file(const struct debug_search *search, const char *beside,
			   const char *comp_dir, const char *name, struct dwo_match *match)
{
	bool whole = name[0] == '/';
	size_t len = beside && beside[0] == '/' ? (size_t)folder_len(beside) : 0;

	return (whole && open_in(match, "", 0, name, "")) ||
	       (!whole && comp_dir && comp_dir[0] == '/' &&
		open_in(match, comp_dir, strlen(comp_dir), name, "")) ||
	       (!whole && open_in_dirs(search, match, name, "")) ||
	       open_in_dirs(search, match, last_part(name), "") ||
	       (!whole && len && open_in(match, beside, len, name, "")) ||
	       (len && open_in(match, beside, len, last_part(name), ""));
}

int debug_search_dwo(struct debug_search *search, const struct debug_module *module,
		     const char *beside, const char *comp_dir, const char *name, size_t nth)
{
	struct dwo_match match = {.pid = module->pid, .skip = nth};
	bool found = name ? *name && find_unit_file(search, beside, comp_dir, name, &match)
			  : find_package(search, module, beside, &match);

	return found ? match.fd : -ENOENT;
}
