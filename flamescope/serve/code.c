/* code.c - requests for the code of functions, and what the addresses of a function cost */
#include "flamescope/serve/code.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "flamescope/load/load.h"
#include "flamescope/text/text.h"
#include "output/text/perf_script.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
	JSON_BYTES = 8 * 1024 * 1024,
	KEY_BYTES = 8192,
	PATH_BYTES = 4096,
	BUILD_ID_BYTES = 129,
	NICE = 10,
};

#define NS_PER_S     UINT64_C(1000000000)
#define MEMORY_BYTES (UINT64_C(2) << 30)

struct code {
	struct catalog *catalog;
	const struct code_options *options;
	pthread_t thread;
	_Atomic bool ending;
	pthread_mutex_t mutex; /* of what is below */
	pthread_cond_t asked;
	struct code_request *first;
	struct code_request **last;
	size_t n_waiting;
	/* the thread's: the recording that was read last, for the next function of it */
	char key[KEY_BYTES];
	struct profile *profile;
	uint64_t until_ns;
};

static bool goes_on(void *context, uint64_t done_bytes, uint64_t of_bytes)
{
	const struct code *code = context;

	(void)done_bytes;
	(void)of_bytes;
	return io_now_ns() < code->until_ns &&
	       !atomic_load_explicit(&code->ending, memory_order_relaxed);
}

/* Each place in a function is a frame of its own; what the page has are whole functions. */
static int load(struct code *code, const char *file, const struct catalog_stamp *stamp,
		const char *path, struct err *err)
{
	const struct load_options options = {
		.paths = &path,
		.n_paths = 1,
		.memory_bytes = MEMORY_BYTES,
		.by_offset = true,
		.no_index = true,
		.progress = goes_on,
		.context = code,
	};
	char key[KEY_BYTES];
	int r;

	(void)snprintf(key, sizeof(key), "%llx:%llx:%llu:%lld/%s", (unsigned long long)stamp->dev,
		       (unsigned long long)stamp->ino, (unsigned long long)stamp->bytes,
		       (long long)stamp->mtime_ns, file);
	if (code->profile && strcmp(code->key, key) == 0)
		return 0;
	profile_free(code->profile);
	code->profile = NULL;
	r = load_profile(&options, &code->profile, err);
	if (r == -ECANCELED)
		return err_set(err, 0, "The recording takes longer than %d s to read.", CODE_S);
	if (r == 0)
		memcpy(code->key, key, sizeof(key));
	return r;
}

/* The nodes of a selection, and what is known of each. */
struct walk {
	const struct selection *selection;
	uint32_t *hit;            /* the innermost place of the function there or above; 0: none */
	uint32_t *real;           /* the frame that the machine runs: it or the next one above that
				     is not inlined */
	struct code_cost *exact;  /* of hits: of samples that were taken at this very address */
	struct code_cost *called; /* and of those in what is called there */
};

static const struct profile_frame *frame_of(const struct walk *walk, uint32_t node)
{
	const uint32_t frame = walk->selection->nodes[node].frame;

	return frame < walk->selection->profile->n_frames ? &walk->selection->profile->frames[frame]
							  : NULL;
}

static int walk_make(struct walk *walk, const struct selection *selection, const char *function)
{
	const size_t n = selection->n_nodes;

	*walk = (struct walk){
		.selection = selection,
		.hit = calloc(n, sizeof(*walk->hit)),
		.real = calloc(n, sizeof(*walk->real)),
		.exact = calloc(n, sizeof(*walk->exact)),
		.called = calloc(n, sizeof(*walk->called)),
	};
	if (!walk->hit || !walk->real || !walk->exact || !walk->called)
		return -ENOMEM;
	for (uint32_t node = 1; node < n; node++) {
		const uint32_t parent = selection->nodes[node].parent;
		const struct profile_frame *frame = frame_of(walk, node);
		const bool is_it =
			frame && strcmp(selection->profile->strings[frame->name], function) == 0;

		walk->hit[node] = is_it ? node : walk->hit[parent];
		walk->real[node] = frame && frame->inlined ? walk->real[parent] : node;
	}
	for (size_t i = 0; i < selection->n; i++) {
		const uint32_t stack = selection->stacks[i];
		const uint32_t hit = walk->hit[stack];
		const int64_t value = selection->values[i];
		const uint64_t amount = value < 0 ? -(uint64_t)value : (uint64_t)value;
		struct code_cost *cost = walk->real[stack] == walk->real[hit] ? &walk->exact[hit]
									      : &walk->called[hit];

		cost->total += amount;
		cost->self += stack == hit ? amount : 0;
	}
	return 0;
}

static void walk_release(struct walk *walk)
{
	free(walk->hit);
	free(walk->real);
	free(walk->exact);
	free(walk->called);
}

static int by_place(const void *left, const void *right)
{
	const struct code_place *a = left, *b = right;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->exact - b->exact;
}

static int by_cost(const void *left, const void *right)
{
	const struct code_place *a = left, *b = right;

	if (a->cost.total != b->cost.total)
		return a->cost.total > b->cost.total ? -1 : 1;
	return by_place(a, b);
}

static void put(struct code_place *places, size_t *n, const struct walk *walk, uint32_t node,
		bool exact)
{
	const struct code_cost cost = exact ? walk->exact[node] : walk->called[node];
	const uint32_t real = walk->real[node];
	struct code_place place = {.exact = exact, .cost = cost};

	if (!cost.total || !real || !frame_of(walk, real))
		return;
	place.frame = walk->selection->nodes[real].frame;
	for (uint32_t at = node; at != real; at = walk->selection->nodes[at].parent)
		place.depth++;
	places[(*n)++] = place;
}

/* Many nodes have one place; those of the module that has most of the function stay. */
static size_t gather(struct code_places *places, struct code_place *list, size_t n)
{
	const struct profile *profile = places->profile;
	uint64_t *modules = calloc(profile->n_strings, sizeof(*modules));
	size_t n_kept = 0, n_out = 0;

	if (!modules)
		return 0;
	qsort(list, n, sizeof(*list), by_place);
	for (size_t i = 0; i < n; i++) {
		if (n_kept && by_place(&list[n_kept - 1], &list[i]) == 0) {
			list[n_kept - 1].cost.self += list[i].cost.self;
			list[n_kept - 1].cost.total += list[i].cost.total;
		} else {
			list[n_kept++] = list[i];
		}
		modules[profile->frames[list[i].frame].module] += list[i].cost.total;
	}
	for (uint32_t i = 1; i < profile->n_strings; i++)
		if (modules[i] > modules[places->module])
			places->module = i;
	for (size_t i = 0; i < n_kept; i++) {
		if (profile->frames[list[i].frame].module != places->module)
			continue;
		places->cost.self += list[i].cost.self;
		places->cost.total += list[i].cost.total;
		list[n_out++] = list[i];
	}
	free(modules);
	qsort(list, n_out, sizeof(*list), by_cost);
	return n_out < CODE_MAX_PLACES ? n_out : CODE_MAX_PLACES;
}

/* Sets places, module and cost. */
static int find_places(const struct selection *selection, struct code_places *places)
{
	struct walk walk;
	struct code_place *list = calloc(2 * selection->n_nodes, sizeof(*list));
	int r = list ? walk_make(&walk, selection, places->function) : -ENOMEM;
	size_t n = 0;

	if (!list)
		return r;
	for (uint32_t node = 1; r == 0 && node < selection->n_nodes; node++) {
		put(list, &n, &walk, node, true);
		put(list, &n, &walk, node, false);
	}
	walk_release(&walk);
	places->places = list;
	places->n = gather(places, list, n);
	return r;
}

/* What the end of a recording says of a module. */
struct module_facts {
	const char *module; /* as frames have it */
	char path[PATH_BYTES];
	char build_id[BUILD_ID_BYTES];
	bool found;
};

static bool copy(const struct json_pair *pair, char *to, size_t size)
{
	const bool fits = pair->value_len < size && !memchr(pair->value, '\\', pair->value_len);

	(void)snprintf(to, size, "%.*s", fits ? (int)pair->value_len : 0, pair->value);
	return fits;
}

static bool is_module(const char *path, const char *module)
{
	struct buf shown;
	bool same;

	buf_init(&shown, PATH_BYTES);
	(void)sanitise_module(&shown, path);
	same = strcmp(buf_text(&shown), module) == 0;
	buf_release(&shown);
	return same;
}

static void take_end(void *context, const char *json)
{
	struct module_facts *facts = context;
	struct json_scan scan = {.at = json};
	char path[PATH_BYTES] = "";
	struct json_pair pair;

	while (!facts->found && json_scan_next(&scan, &pair)) {
		if (!pair.is_string || pair.depth != 3)
			continue;
		if (json_scan_is(&pair, "path"))
			(void)copy(&pair, path, sizeof(path));
		if (!json_scan_is(&pair, "build_id") || !is_module(path, facts->module))
			continue;
		facts->found = copy(&pair, facts->build_id, sizeof(facts->build_id));
		memcpy(facts->path, path, sizeof(path));
	}
}

/* Reads all of a recording for its end, unless there is no time left. */
static void read_end(struct code *code, const char *recording, struct module_facts *facts)
{
	const struct perf_text_visitor visitor = {.end = take_end, .context = facts};
	struct perf_text_stats stats;
	struct perf_text *text = NULL;
	struct lines *lines = NULL;
	struct line line;

	if (lines_open(recording, &lines, NULL) < 0)
		return;
	if (perf_text_new(&visitor, &text) == 0) {
		while (goes_on(code, 0, 0) && lines_next(lines, &line, NULL) > 0)
			perf_text_line(text, &line);
		perf_text_finish(text, &stats);
	}
	perf_text_free(text);
	lines_close(lines);
}

static int answer(struct code *code, struct code_request *request, const char *recording,
		  const struct catalog_stamp *stamp, struct code_places *places)
{
	struct module_facts facts = {.module = places->profile->strings[places->module]};
	_cleanup_fd_ int fd = -1;

	if (places->n == 0)
		return err_set(&request->err, 0, "No sample of this recording has it.");
	read_end(code, recording, &facts);
	if (!facts.found)
		(void)snprintf(facts.path, sizeof(facts.path), "%s", facts.module);
	fd = code_open_module(facts.path, facts.build_id, stamp->mtime_ns, &request->err);
	if (fd < 0)
		return fd;
	buf_init(&request->json, JSON_BYTES);
	code_answer(code->options, places, &(struct code_module){fd, facts.path, facts.build_id},
		    &code->ending, &request->json);
	return request->json.failed ? err_set(&request->err, 0, "It has too much code to be shown.")
				    : 0;
}

static int serve(struct code *code, struct code_request *request)
{
	struct code_places places = {.function = request->function};
	struct selection *selection = NULL;
	struct catalog_stamp stamp;
	char path[64];
	_cleanup_fd_ int fd = catalog_open(code->catalog, request->file, &stamp);
	int r;

	if (fd < 0)
		return err_set(&request->err, 0, "no such recording");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	code->until_ns = io_now_ns() + CODE_S * NS_PER_S;
	r = load(code, request->file, &stamp, path, &request->err);
	if (r == 0)
		r = selection_make(code->profile, &request->words.query, &selection, &request->err);
	if (r < 0 || !selection)
		return r;
	places.profile = code->profile;
	places.unit = selection->unit;
	r = find_places(selection, &places);
	if (r == 0)
		r = answer(code, request, path, &stamp, &places);
	free(places.places);
	selection_free(selection);
	return r;
}

static struct code_request *next_request(struct code *code)
{
	struct code_request *request;

	(void)pthread_mutex_lock(&code->mutex);
	while (!code->first && !atomic_load_explicit(&code->ending, memory_order_relaxed))
		(void)pthread_cond_wait(&code->asked, &code->mutex);
	request = code->first;
	if (request) {
		code->first = request->next;
		if (!code->first)
			code->last = &code->first;
		code->n_waiting--;
	}
	(void)pthread_mutex_unlock(&code->mutex);
	return request;
}

static void *work(void *argument)
{
	struct code *code = argument;
	struct code_request *request;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	while ((request = next_request(code))) {
		request->error = atomic_load_explicit(&code->ending, memory_order_relaxed)
					 ? err_set(&request->err, ECANCELED, "the server ends")
					 : serve(code, request);
		request->done(request->context);
	}
	return NULL;
}

int code_new(struct catalog *catalog, const struct code_options *options, struct code **ret_code,
	     struct err *err)
{
	struct code *code = calloc(1, sizeof(*code));
	int r;

	if (!code)
		return err_set(err, ENOMEM, "serve");
	code->catalog = catalog;
	code->options = options;
	code->last = &code->first;
	(void)pthread_mutex_init(&code->mutex, NULL);
	(void)pthread_cond_init(&code->asked, NULL);
	r = pthread_create(&code->thread, NULL, work, code);
	if (r) {
		code_free(code);
		return err_set(err, r, "start a thread");
	}
	*ret_code = code;
	return 0;
}

int code_queue(struct code *code, struct code_request *request)
{
	int r = 0;

	request->next = NULL;
	(void)pthread_mutex_lock(&code->mutex);
	if (code->n_waiting == CODE_MAX_QUEUE ||
	    atomic_load_explicit(&code->ending, memory_order_relaxed)) {
		r = -EBUSY;
	} else {
		*code->last = request;
		code->last = &request->next;
		code->n_waiting++;
		(void)pthread_cond_signal(&code->asked);
	}
	(void)pthread_mutex_unlock(&code->mutex);
	return r;
}

void code_release(struct code_request *request)
{
	free(request->file);
	free(request->function);
	query_words_release(&request->words);
	buf_release(&request->json);
	*request = (struct code_request){0};
}

void code_stop(struct code *code)
{
	if (!code)
		return;
	(void)pthread_mutex_lock(&code->mutex);
	atomic_store_explicit(&code->ending, true, memory_order_relaxed);
	(void)pthread_cond_signal(&code->asked);
	(void)pthread_mutex_unlock(&code->mutex);
	(void)pthread_join(code->thread, NULL);
}

void code_free(struct code *code)
{
	if (!code)
		return;
	profile_free(code->profile);
	(void)pthread_cond_destroy(&code->asked);
	(void)pthread_mutex_destroy(&code->mutex);
	free(code);
}
