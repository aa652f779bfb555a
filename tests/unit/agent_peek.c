/* agent_peek.c - run a program under the agent and print what it wrote
 * usage: agent_peek AGENT HZ timer|hooks COMMAND [ARGS]
 * PEEK_CONTEXT=OFFSET,FLAGS: COMMAND has a pointer to a struct otel_record there */
#include "fake_collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_ns(const void *a, const void *b)
{
	const struct fake_cost *x = a;
	const struct fake_cost *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void print_costs(struct fake_process *p, uint16_t flag)
{
	uint32_t n = 0;
	uint32_t *ns = calloc(p->n_costs + 1, sizeof(*ns));

	qsort(p->costs, p->n_costs, sizeof(p->costs[0]), by_ns);
	for (uint32_t i = 0; i < p->n_costs; i++)
		if ((p->costs[i].flags & SAMPLE_JITTERED) == flag)
			ns[n++] = p->costs[i].ns;
	if (n)
		printf("  handler ns%s: min %u p10 %u p50 %u p90 %u of %u\n",
		       flag ? " jittered" : "", ns[0], ns[n / 10], ns[n / 2], ns[n * 9 / 10], n);
	free(ns);
}

static void print_process(struct fake_process *p)
{
	static const char *const stops[FAKE_MAX_STOPS] = {"end",    "no-cfi", "bad-cfa",
							  "bounds", "depth",  "bad-cfi"};
	const struct ring_header *h = p->header;

	printf("pid %d kind %u: ", p->pid, p->kind);
	if (!h) {
		printf("no rings\n");
		return;
	}
	printf("state %u errno %u samples %lu weight %lu threads %u chunks %u slots %u\n", h->state,
	       h->agent_errno, p->samples, p->weight, p->n_threads, h->n_chunks, h->n_slots);
	printf("  coverage %.3f of %.3f s by the agent's clock\n",
	       h->cpu_ns ? (double)(p->weight * h->period_ns) / (double)h->cpu_ns : 0,
	       (double)h->cpu_ns / 1e9);
	printf("  discovered %lu jittered %lu quiet %lu modules %lu (%s) unmaps %lu pads %lu bad "
	       "%lu\n",
	       p->discovered, p->jittered, p->quiet, p->modules, p->last_module, p->unmaps, p->pads,
	       p->bad);
	printf("  lost full %lu noslot %lu nested %lu misdirected %lu other signals %lu\n",
	       fake_sum(p, offsetof(struct ring_slot, lost_full)), h->lost_noslot, h->lost_nested,
	       h->spurious, h->n_signals);
	printf("  pcs/sample %.1f handler ns/sample %.0f stops",
	       p->samples ? (double)p->pcs / (double)p->samples : 0,
	       p->samples ? (double)fake_sum(p, offsetof(struct ring_slot, handler_ns)) /
				    (double)p->samples
			  : 0);
	for (int i = 0; i < FAKE_MAX_STOPS; i++)
		if (p->stops[i])
			printf(" %s=%lu", stops[i], p->stops[i]);
	printf("\n");
	print_costs(p, 0);
	print_costs(p, SAMPLE_JITTERED);
	for (uint32_t i = 0; i < p->n_threads && i < 8; i++)
		printf("    tid %u '%s' samples %lu weight %lu\n", p->threads[i].tid,
		       p->threads[i].comm, p->threads[i].samples, p->threads[i].weight);
}

static struct context_variable context_of(const char *text)
{
	char *flags;
	int64_t offset = text ? strtol(text, &flags, 10) : 0;

	if (!offset)
		return (struct context_variable){0};
	return (struct context_variable){.place = CONTEXT_TP,
					 .format = CONTEXT_OTEL,
					 .flags = *flags ? (uint16_t)strtoul(flags + 1, NULL, 10)
							 : 0,
					 .serial = 1,
					 .offset = offset};
}

int main(int argc, char **argv)
{
	struct fake_options options = {.jitter_pct = 10};
	struct fake_run run;
	uint64_t weight = 0;

	if (argc < 5)
		return 2;
	options.agent = argv[1];
	options.hz = (uint32_t)strtoul(argv[2], NULL, 10);
	options.discovery = !strcmp(argv[3], "hooks") ? DISCOVERY_HOOKS : DISCOVERY_TIMER;
	options.context = context_of(getenv("PEEK_CONTEXT"));
	options.post = options.discovery == DISCOVERY_HOOKS && getenv("PEEK_POST");
	if (fake_collector_run(&options, (const char *const *)argv + 4, &run) < 0)
		return 1;
	for (uint32_t i = 0; i < run.n_processes; i++) {
		print_process(run.processes[i]);
		weight += run.processes[i]->weight;
	}
	printf("status %#x, total coverage %.3f of %.3f s, wall %.3f s\n", (unsigned int)run.status,
	       (double)weight / options.hz / ((double)run.cpu_ns / 1e9), (double)run.cpu_ns / 1e9,
	       (double)run.wall_ns / 1e9);
	fake_run_release(&run);
	return 0;
}
