/* tripwire_test.c - the agent's handler under the tripwire, and bad ones that must trip it */
#include "tests/unit/fake_collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

/* What the agent keeps free of an alternate stack besides the kernel's own frame. */
enum { STACK_LIMIT = 2048 };

static struct fake_run run;
static unsigned long n_handlers;
static unsigned long n_stack;

static void look(const char *agent, const char *const *env, const char *const argv[])
{
	struct fake_options options = {.agent = agent,
				       .hz = 199,
				       .discovery = DISCOVERY_TIMER,
				       .jitter_pct = 10,
				       .before = TRIPWIRE,
				       .env = env};
	FILE *said = tmpfile();
	int stderr_fd = dup(2);
	char line[256];

	n_handlers = 0;
	n_stack = 0;
	(void)dup2(fileno(said), 2);
	assert_return_code(fake_collector_run(&options, argv, &run), 0);
	(void)dup2(stderr_fd, 2);
	(void)close(stderr_fd);
	rewind(said);
	while (fgets(line, sizeof(line), said)) {
		if (!strstr(line, "handlers"))
			print_message("%s", line);
		(void)sscanf(line, "tripwire: %lu handlers, %lu bytes", &n_handlers, &n_stack);
	}
	(void)fclose(said);
}

#define LOOK(agent, env, ...)                                                                      \
	look((agent), (const char *const[]){"TRIPWIRE=1", env, NULL},                              \
	     (const char *const[]){__VA_ARGS__, NULL})

static int forget(void **state)
{
	(void)state;
	fake_run_release(&run);
	return 0;
}

static void assert_quiet_wire(const char *what)
{
	assert_int_equal(run.status, 0);
	print_message("%s: %lu handlers, %lu bytes of stack\n", what, n_handlers, n_stack);
	assert_true(n_handlers > 50);
	assert_in_range(n_stack, 100, STACK_LIMIT);
	assert_true(run.processes[0]->samples > 50);
}

static void lets_the_agent_work_inside_malloc(void **state)
{
	(void)state;
	LOOK(AGENT, NULL, MALLOC_LOOP, "0.8");
	assert_quiet_wire("malloc");
}

static void lets_the_agent_walk_deep_stacks(void **state)
{
	(void)state;
	LOOK(AGENT, NULL, TARGET, "deep", "300", "1");
	assert_quiet_wire("deep");
}

static void lets_the_agent_announce_modules(void **state)
{
	(void)state;
	LOOK(AGENT, NULL, TARGET, "plugin", PLUGIN, "8");
	assert_quiet_wire("plugin");
}

static void trips_on_a_handler_that_allocates(void **state)
{
	(void)state;
	LOOK(BAD_AGENT, "BAD_AGENT=malloc", MALLOC_LOOP, "0.8");
	assert_true(WIFEXITED(run.status));
	assert_int_equal(WEXITSTATUS(run.status), 99);
}

static void sees_a_handler_that_takes_4_kib_of_stack(void **state)
{
	(void)state;
	LOOK(BAD_AGENT, "BAD_AGENT=stack", MALLOC_LOOP, "0.3");
	assert_int_equal(run.status, 0);
	assert_true(n_stack >= 4096);
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lets_the_agent_work_inside_malloc),
		TEST(lets_the_agent_walk_deep_stacks),
		TEST(lets_the_agent_announce_modules),
		TEST(trips_on_a_handler_that_allocates),
		TEST(sees_a_handler_that_takes_4_kib_of_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
