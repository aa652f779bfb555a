/* load_profile.c - loads a recording once: wall and CPU time, memory, and what was in it */
#include "base/io.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"
#include "flamescope/load/load_way.h"
#include "flamescope/pack/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double cpu_s(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static int load(const struct load_options *options, const char *way, struct profile **ret_profile,
		struct err *err)
{
	struct load_by by = {.way = strcmp(way, "one") == 0 ? LOAD_ONE : LOAD_SLOW};

	if (by.way == LOAD_ONE || strcmp(way, "slow") == 0)
		return load_profile_by(options, &by, ret_profile, err);
	return load_profile(options, ret_profile, err);
}

static void write_pack(const struct profile *profile, const char *path)
{
	struct err err = {0};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	uint64_t start = io_now_ns();

	if (fd < 0 || pack_write(profile, fd, &err) < 0)
		printf("pack: %s\n", err.text);
	else
		printf("pack %.1f ms\n", (double)(io_now_ns() - start) / 1e6);
	if (fd >= 0)
		(void)close(fd);
}

static double ms_since(uint64_t start)
{
	return (double)(io_now_ns() - start) / 1e6;
}

/* The pictures of what QUERY takes, and what each of them took. */
static int draw(const struct profile *profile, const struct query *query, const char *what)
{
	static const struct heat_options options;
	struct selection *selection = NULL;
	struct flame *flame = NULL;
	struct heat *heat = NULL;
	struct err err = {0};
	uint64_t start = io_now_ns();
	double select_ms;
	double heat_ms;
	int r = selection_make(profile, query, &selection, &err);

	select_ms = ms_since(start);
	start = io_now_ns();
	if (r == 0)
		r = heat_make(selection, &options, &heat, &err);
	heat_ms = ms_since(start);
	start = io_now_ns();
	if (r == 0)
		r = flame_make(selection, FLAME_CALLS, UINT32_MAX, &flame);
	if (r == 0)
		printf("%s: %zu samples selected %.1f ms, heatmap %.1f ms, flame graph of %zu "
		       "%.1f ms\n",
		       what, selection->n, select_ms, heat_ms, flame->n_nodes, ms_since(start));
	else
		printf("%s: %s\n", what, err.text);
	flame_free(flame);
	heat_free(heat);
	selection_free(selection);
	return r;
}

/* load_profile FILE [all|one|slow|index] [THREADS] [PACK] */
int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "all";
	struct load_options options = {.paths = (const char *const *)&argv[1],
				       .n_paths = 1,
				       .n_threads = argc > 3 ? (unsigned)atoi(argv[3]) : 0,
				       .no_index = strcmp(way, "index") != 0};
	struct profile *profile = NULL;
	struct err err = {0};
	struct rusage usage;
	uint64_t start = io_now_ns();

	if (argc < 2 || load(&options, way, &profile, &err) < 0) {
		(void)fprintf(stderr, "load_profile: %s\n", argc < 2 ? "no file" : err.text);
		return 1;
	}
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("wall_ms %.1f cpu_ms %.1f maxrss_kib %ld\n", (double)(io_now_ns() - start) / 1e6,
	       cpu_s() * 1e3, usage.ru_maxrss);
	printf("samples %zu frames %zu nodes %zu threads %zu strings %zu tags %zu metrics %zu "
	       "bad_lines %llu\n",
	       profile->n_samples, profile->n_frames, profile->n_nodes, profile->n_threads,
	       profile->n_strings, profile->n_tags, profile->n_metrics,
	       (unsigned long long)profile->files[0].bad_lines);
	(void)draw(profile, &(struct query){0}, "all of it");
	(void)draw(profile,
		   &(struct query){.n_ranges = 1,
				   .ranges = {{.from_ns = profile->length_ns / 2,
					       .to_ns = profile->length_ns / 2 + 1000000000}}},
		   "a second");
	if (argc > 4)
		write_pack(profile, argv[4]);
	profile_free(profile);
	return 0;
}
