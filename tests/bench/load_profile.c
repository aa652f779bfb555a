/* load_profile.c - loads a recording once, and draws it: what each step took, and the memory */
#include "base/io.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"
#include "flamescope/load/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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

static double s_since(uint64_t start)
{
	return (double)(io_now_ns() - start) / 1e9;
}

static int load(const struct load_options *options, const char *way, struct profile **ret_profile,
		struct err *err)
{
	struct load_by by = {.way = strcmp(way, "one") == 0 ? LOAD_ONE : LOAD_SLOW};

	if (by.way == LOAD_ONE || strcmp(way, "slow") == 0)
		return load_profile_by(options, &by, ret_profile, err);
	return load_profile(options, ret_profile, err);
}

static int draw_heat(const struct selection *selection, struct err *err)
{
	static const struct heat_options options;
	struct heat *heat = NULL;
	int r = heat_make(selection, &options, &heat, err);

	heat_free(heat);
	return r;
}

static int draw_flame(const struct selection *selection, struct err *err)
{
	struct flame *flame = NULL;
	int r = flame_make(selection, FLAME_CALLS, NULL, &flame);

	flame_free(flame);
	return r < 0 ? err_set(err, -r, "flame graph") : 0;
}

enum { HEAT = 1, FLAME = 2 };

/* The pictures of what QUERY takes, and what they took, the selection with them. */
static int draw(const struct profile *profile, const struct query *query, unsigned pictures,
		const char *name, struct err *err)
{
	struct selection *selection = NULL;
	uint64_t start = io_now_ns();
	int r = selection_make(profile, query, &selection, err);

	if (r == 0 && pictures & HEAT)
		r = draw_heat(selection, err);
	if (r == 0 && pictures & FLAME)
		r = draw_flame(selection, err);
	if (r == 0)
		printf("%s_s %.6f\n", name, s_since(start));
	selection_free(selection);
	return r;
}

static int draw_all(const struct profile *profile, uint64_t start, struct err *err)
{
	const uint64_t middle = profile->length_ns / 2;
	struct query second = {.n_ranges = 1,
			       .ranges = {{.from_ns = middle, .to_ns = middle + 1000000000}}};
	struct query threads = {.n_groups = 1, .groups = {"thread"}};
	int r = draw(profile, &(struct query){0}, HEAT, "heat", err);

	printf("to_heatmap_s %.6f\nto_heatmap_cpu_s %.6f\n", s_since(start), cpu_s());
	if (r == 0)
		r = draw(profile, &(struct query){0}, FLAME, "flame", err);
	if (r == 0)
		r = draw(profile, &second, HEAT | FLAME, "second", err);
	if (r == 0)
		r = draw(profile, &threads, FLAME, "threads", err);
	return r;
}

/* load_profile FILE [all|one|slow|index] [THREADS] */
int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "all";
	struct load_options options = {.paths = (const char *const *)&argv[1],
				       .n_paths = 1,
				       .n_threads = argc > 3 ? (unsigned)atoi(argv[3]) : 0,
				       .no_index = strcmp(way, "index") != 0};
	struct profile *profile = NULL;
	struct rusage usage;
	struct err err = {0};
	uint64_t start = io_now_ns();

	if (argc < 2 || load(&options, way, &profile, &err) < 0) {
		(void)fprintf(stderr, "load_profile: %s\n", argc < 2 ? "no file" : err.text);
		return 1;
	}
	printf("load_s %.6f\n", s_since(start));
	if (profile->files[0].problem || draw_all(profile, start, &err) < 0) {
		(void)fprintf(stderr, "load_profile: %s\n",
			      profile->files[0].problem ? profile->files[0].problem : err.text);
		profile_free(profile);
		return 1;
	}
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("maxrss_kib %ld\nsamples %zu\nfunctions %zu\nstacks %zu\nthreads %zu\n",
	       usage.ru_maxrss, profile->n_samples, profile->n_frames, profile->n_nodes,
	       profile->n_threads);
	profile_free(profile);
	return 0;
}
