/* attach_storm.c - does without pause what holds the locks that loading a library needs: memory is
 * taken and given back, a library comes and goes, children are made; until SIGTERM, then says "ok"
 * and how often each was done
 * usage: attach_storm LIBRARY */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_bool ending;
static atomic_long taken, loaded, born, slept;
static atomic_int bad;

static void on_term(int sig)
{
	(void)sig;
	atomic_store(&ending, true);
}

static void *take(void *unused)
{
	void *kept[64] = {NULL};

	for (unsigned i = 0; !atomic_load(&ending); i++) {
		unsigned at = i * 7919U % 64;

		free(kept[at]);
		kept[at] = malloc(16 + i * 104729U % 5000);
		if (!kept[at])
			atomic_store(&bad, 1);
		else
			memset(kept[at], 1, 16);
		atomic_fetch_add(&taken, 1);
	}
	for (int i = 0; i < 64; i++)
		free(kept[i]);
	return unused;
}

static void *load(void *name)
{
	while (!atomic_load(&ending)) {
		void *library = dlopen(name, RTLD_NOW);

		if (!library || !dlsym(library, "plugin_burn") || dlclose(library) != 0)
			atomic_store(&bad, 2);
		atomic_fetch_add(&loaded, 1);
	}
	return NULL;
}

static void *bear(void *unused)
{
	while (!atomic_load(&ending)) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			free(malloc(100));
			_exit(7);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7)
			atomic_store(&bad, 3);
		atomic_fetch_add(&born, 1);
	}
	return unused;
}

/* A sleep that ends early is seen. */
static void *sleep_well(void *unused)
{
	const struct timespec rest = {.tv_nsec = 3000000};

	while (!atomic_load(&ending)) {
		errno = EXDEV;
		if (nanosleep(&rest, NULL) != 0 || errno != EXDEV)
			atomic_store(&bad, 4);
		atomic_fetch_add(&slept, 1);
	}
	return unused;
}

int main(int argc, char **argv)
{
	static void *(*const does[])(void *) = {take, load, bear, sleep_well};
	pthread_t threads[4];
	sigset_t term;

	if (argc != 2)
		return 2;
	(void)signal(SIGTERM, on_term);
	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &term, NULL);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, does[i], argv[1]) != 0)
			return 1;
	(void)pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	while (!atomic_load(&ending))
		(void)pause();
	for (int i = 0; i < 4; i++)
		(void)pthread_join(threads[i], NULL);
	printf("%s %d taken %ld loaded %ld born %ld slept %ld\n", bad ? "bad" : "ok", (int)bad,
	       (long)taken, (long)loaded, (long)born, (long)slept);
	return bad ? 1 : 0;
}
