/* page.c - writes the page of --listen with made-up counts: tasks, tiers, functions, odd bytes */
#include "tests/unit/totals_fixture.h"
#include "tools/export/export.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MS = 1000000 };

static void fill(struct totals_fixture *fixture)
{
	struct total_task *task =
		fixture_task(fixture, "odd \xff\"\\\n\xc3\xa4", UINT64_C(1500) * MS, 250 * MS, 2);

	task->stalls = 1;
	(void)fixture_task(fixture, "second", 900 * MS, 0, 3);
	(void)fixture_task(fixture, "third", 300 * MS, 0, 7);
	fixture_task(fixture, "profiled", 10 * MS, 0, 5)->kind = TOTAL_FUNCTION;
	(void)fixture_tier(fixture, "request", "_total", 6, 5 * MS);
	(void)fixture_tier(fixture, "request", "GET /\xe2\x82", 6, 5 * MS);
	(void)fixture_tier(fixture, "db", "_total", 4, 20 * MS);
	(void)fixture_tier(fixture, "db", "other", 4, 20 * MS);
	(void)fixture_tier(fixture, "db", "-", 1, 9000 * (uint64_t)MS);
	fixture->totals.misuse[0] = 1;
	fixture->totals.lost_names = 2;
}

static int make(bool open_metrics, struct buf *page)
{
	static const struct collector_stats stats = {.samples = 7,
						     .threads = 2,
						     .processes = 1,
						     .lost_full = 3,
						     .stood_ns = 70 * MS,
						     .charged_ns = 80 * MS,
						     .program_ns = MS};
	static const struct frame frame = {.symbol = "run<\"a\">", .module = "/bin/prog"};
	const struct page_self self = {
		.stats = &stats, .hz = 99, .effective_hz = 50, .collector_ns = 2 * MS};
	struct totals_fixture fixture = {0};
	struct functions *functions;
	struct page_maker *maker;
	int r;

	fill(&fixture);
	if (functions_new(&functions) < 0 || page_maker_new(2, &maker) < 0)
		abort();
	functions_add(functions, &frame, 70 * MS);
	r = page_make(maker, &fixture.totals, functions, &self, open_metrics, page);
	page_maker_free(maker);
	functions_free(functions);
	return r;
}

int main(int argc, char **argv)
{
	struct buf page;

	buf_init(&page, PAGE_BYTES);
	if (make(argc > 1 && strcmp(argv[1], "open") == 0, &page) < 0)
		return 1;
	return write(STDOUT_FILENO, page.data, page.len) == (ssize_t)page.len ? 0 : 1;
}
