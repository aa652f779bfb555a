/*
 * oracle.c - every stack of ours against libunwind's, on a real program
 *
 * oracle [-n SAMPLES] [-s SEED] [-r PERCENT] [-u PERCENT] [-l MODULE] [-m] [-v] NAME CMD [ARGS...]
 *
 * One line of a table; exit status 1 when a frame differs, more than 0.2 % of the stacks end
 * early, too few samples could be taken, fewer than -r PERCENT (99) of them are rooted, or more
 * than -u PERCENT (1) pass through code that no FDE covers and are compared up to there.  -l
 * wants 10 % of the samples' innermost frames in a module ([vdso]); -m expects an unwinder with a
 * wrong rule: it has to be noticed.
 */
#include "tests/oracle/walks.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	DEFAULT_SAMPLES = 1000,
	N_ENTRIES = 16384,
	MAX_STARTS = 1000,
	MAX_MISSES = 20000,
	EARLY_PER_MILLE = 2,
	ROOTED_LEAST_PCT = 99,
	NO_FDE_MOST_PCT = 1,
	LEAF_LEAST_PCT = 10,
	SLEEP_LEAST_US = 200,
	SLEEP_MORE_US = 1800,
	TELL_AT_MOST = 10,
};

struct options {
	size_t wanted;
	unsigned seed;
	double rooted_pct; /* at least */
	double no_fde_pct; /* at most */
	const char *leaf;  /* a module that samples have to be taken in */
	bool mutant;
	bool verbose;
	const char *name;
	char **command;
};

struct tally {
	size_t samples;
	size_t frames;
	size_t differing;
	size_t early;       /* ours is shorter */
	size_t compared;    /* addresses that are the same */
	size_t no_fde;      /* stacks with a frame that no FDE covers: compared up to it */
	size_t no_fde_same; /* of these the same to the end */
	size_t no_code;     /* ours went where no code is */
	size_t rooted;
	size_t in_leaf;  /* the innermost frame is in options.leaf */
	size_t with_jit; /* a frame is in no module */
	size_t jit_rooted;
	size_t stops[UNWIND_N_STOPS];
	size_t depths[WALK_MAX + 1];
	size_t told;
};

/* One stack, walked twice. */
struct pair {
	const uint64_t *ours;
	struct unwind_result result;
	const uint64_t *theirs;
	size_t n_theirs;
	size_t n_vouched; /* as walk_theirs() gives it */
};

static struct unwind_cache_entry entries[N_ENTRIES];
static struct unwind_cache cache = {.entries = entries, .n = N_ENTRIES};

static const char *const stop_names[UNWIND_N_STOPS] = {
	"end", "no-cfi", "bad-cfa", "bounds", "depth", "bad-cfi",
};

static void print_frame(const struct target *target, uint64_t pc)
{
	const struct target_module *module = target_module_at(target, pc & ~UNWIND_EXACT);

	if (module)
		printf(" %s+%" PRIx64, module->name, (pc & ~UNWIND_EXACT) - module->module.start);
	else
		printf(" %" PRIx64, pc & ~UNWIND_EXACT);
}

static void print_stack(const struct target *target, const char *whose, const uint64_t *pcs,
			size_t n)
{
	printf("    %s (%zu):", whose, n);
	for (size_t i = 0; i < n && i < 24; i++)
		print_frame(target, pcs[i]);
	printf("\n");
}

static void tell(struct tally *tally, const struct target *target, const char *what,
		 const struct pair *pair)
{
	if (tally->told++ >= TELL_AT_MOST)
		return;
	printf("  %s, ours stopped by %s; sp %llx bp %llx\n", what, stop_names[pair->result.stop],
	       target->regs.rsp, target->regs.rbp);
	print_stack(target, "ours", pair->ours, pair->result.n_pcs);
	print_stack(target, "theirs", pair->theirs, pair->n_theirs);
}

/* Address by address; where a frame on the way has no FDE, up to that frame. */
static void compare(struct tally *tally, const struct target *target, const struct pair *pair)
{
	bool whole = pair->n_vouched == SIZE_MAX;
	size_t wanted = whole ? pair->n_theirs : pair->n_vouched;
	size_t n_ours = pair->result.n_pcs;
	size_t same = 0;

	while (same < n_ours && same < pair->n_theirs &&
	       (pair->ours[same] & ~UNWIND_EXACT) == pair->theirs[same])
		same++;
	tally->no_fde += !whole;
	tally->compared += same < wanted ? same : wanted;
	if (same < wanted && same == n_ours) {
		tally->early++;
		tell(tally, target, "ends early", pair);
	} else if (same < wanted || (whole && n_ours > wanted)) {
		tally->differing++;
		tell(tally, target, "differs", pair);
	} else if (!whole) {
		tally->no_fde_same += same == n_ours && same == pair->n_theirs;
	}
}

static void count(struct tally *tally, const struct target *target, const struct pair *pair)
{
	const struct unwind_result *result = &pair->result;
	const uint64_t *ours = pair->ours;
	bool jit = false;
	bool code = true;

	for (size_t i = 0; i < result->n_pcs; i++) {
		jit = jit || !target_module_at(target, ours[i] & ~UNWIND_EXACT);
		code = code && target_is_code(target, ours[i] & ~UNWIND_EXACT);
	}
	tally->no_code += !code;
	if (!code)
		tell(tally, target, "goes where no code is", pair);
	tally->samples++;
	tally->frames += result->n_pcs;
	tally->depths[result->n_pcs]++;
	tally->stops[result->stop]++;
	tally->with_jit += jit;
	if (result->stop == UNWIND_END) {
		tally->rooted++;
		tally->jit_rooted += jit;
	}
}

static void take_sample(const struct options *options, struct tally *tally, struct target *target,
			struct theirs *theirs)
{
	static uint64_t their_pcs[WALK_MAX];
	static uint64_t pcs[WALK_MAX];
	struct pair pair = {.ours = pcs, .theirs = their_pcs};
	const struct target_module *leaf;

	pair.result = walk_ours(target, &cache, pcs);
	pair.n_theirs = walk_theirs(theirs, target, their_pcs, &pair.n_vouched);
	count(tally, target, &pair);
	leaf = target_module_at(target, target->regs.rip);
	tally->in_leaf += options->leaf && leaf && strcmp(leaf->name, options->leaf) == 0;
	compare(tally, target, &pair);
	if (options->verbose && pair.result.stop != UNWIND_END)
		tell(tally, target, "not rooted", &pair);
}

static int sample(const struct options *options, struct tally *tally, struct target *target,
		  struct theirs *theirs)
{
	size_t misses = 0;
	size_t starts = 0;

	while (tally->samples < options->wanted && misses < MAX_MISSES) {
		if (target_ended(target)) {
			int r = starts++ < MAX_STARTS ? target_start(target, options->command)
						      : -ECANCELED;

			if (r < 0)
				return r;
			/* Rules stay from sample to sample, as they do in a program. */
			unwind_cache_flush(&cache);
		}
		(void)usleep(SLEEP_LEAST_US + (unsigned)random() % SLEEP_MORE_US);
		if (!target_stop(target)) {
			misses++;
			continue;
		}
		take_sample(options, tally, target, theirs);
		target_resume(target);
	}
	return tally->samples < options->wanted ? -ETIMEDOUT : 0;
}

static size_t median_depth(const struct tally *tally)
{
	size_t below = 0;
	size_t depth = 0;

	while (depth < WALK_MAX && (below += tally->depths[depth]) * 2 < tally->samples)
		depth++;
	return depth;
}

static double percent(size_t part, size_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void report(const struct options *options, const struct tally *tally)
{
	printf("%-14s samples %5zu  frames %6zu  depth p50 %3zu  rooted %6.2f %%", options->name,
	       tally->samples, tally->frames, median_depth(tally),
	       percent(tally->rooted, tally->samples));
	if (tally->with_jit)
		printf("  with JIT %zu, of these rooted %zu", tally->with_jit, tally->jit_rooted);
	for (int i = 1; i < UNWIND_N_STOPS; i++)
		if (tally->stops[i])
			printf("  %s %zu", stop_names[i], tally->stops[i]);
	if (tally->no_code)
		printf("  with a frame that is no code %zu", tally->no_code);
	printf("  compared %zu  differing %zu  stopped early %zu", tally->compared,
	       tally->differing, tally->early);
	printf("  no FDE: %zu samples, compared up to there (%zu are the same to the end)",
	       tally->no_fde, tally->no_fde_same);
	if (options->leaf)
		printf("  leaf in %s %zu", options->leaf, tally->in_leaf);
	printf("\n");
}

static bool agrees(const struct options *options, const struct tally *tally)
{
	return tally->differing == 0 && tally->no_code == 0 &&
	       tally->early * 1000 <= tally->samples * EARLY_PER_MILLE &&
	       percent(tally->rooted, tally->samples) >= options->rooted_pct &&
	       percent(tally->no_fde, tally->samples) <= options->no_fde_pct &&
	       (!options->leaf || percent(tally->in_leaf, tally->samples) >= LEAF_LEAST_PCT);
}

static bool parse(int argc, char **argv, struct options *options)
{
	int option;

	*options = (struct options){.wanted = DEFAULT_SAMPLES,
				    .seed = 1,
				    .rooted_pct = ROOTED_LEAST_PCT,
				    .no_fde_pct = NO_FDE_MOST_PCT};
	while ((option = getopt(argc, argv, "+n:s:r:u:l:mv")) != -1) {
		if (option == 'n')
			options->wanted = strtoul(optarg, NULL, 10);
		else if (option == 's')
			options->seed = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			options->rooted_pct = strtod(optarg, NULL);
		else if (option == 'u')
			options->no_fde_pct = strtod(optarg, NULL);
		else if (option == 'l')
			options->leaf = optarg;
		else if (option == 'm')
			options->mutant = true;
		else if (option == 'v')
			options->verbose = true;
		else
			return false;
	}
	if (argc - optind < 2)
		return false;
	options->name = argv[optind];
	options->command = argv + optind + 1;
	return true;
}

int main(int argc, char **argv)
{
	static struct target target;
	static struct tally tally;
	struct options options;
	struct theirs *theirs;
	int r;

	if (!parse(argc, argv, &options)) {
		(void)fprintf(stderr, "usage: oracle [-n N] [-s SEED] [-r PERCENT] [-u PERCENT] "
				      "[-l MODULE] [-m] [-v] NAME CMD...\n");
		return 2;
	}
	srandom(options.seed);
	theirs = theirs_new();
	if (!theirs)
		return 2;
	tally.told = options.mutant ? TELL_AT_MOST : 0;
	target_init(&target);
	r = sample(&options, &tally, &target, theirs);
	target_release(&target);
	theirs_free(theirs);
	report(&options, &tally);
	if (r < 0) {
		(void)fprintf(stderr, "oracle: '%s': %s\n", options.command[0], strerror(-r));
		return r == -ENOENT ? 77 : 1;
	}
	return agrees(&options, &tally) != options.mutant ? 0 : 1;
}
