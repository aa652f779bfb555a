/* hooks_exec.c - every way to start a program; prints what each one sees: the same with a profiler
 * usage: hooks_exec in DIR | hooks_exec show WORDS... | hooks_exec again N */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char self[512];
static char *few[] = {(char *)"A=1", (char *)"LD_PRELOAD=", (char *)"PATH=/bin", NULL};
static char *show[] = {(char *)"hooks_exec", (char *)"show", (char *)"v", NULL};

static int show_all(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("[%s]", argv[i]);
	for (char **e = environ; *e; e++)
		printf(" {%s}", *e);
	printf("\n");
	return argc > 3 ? atoi(argv[3]) : 0;
}

static void by_execve(void)
{
	execve(self, show, few);
}

static void by_execv(void)
{
	execv(self, show);
}

static void by_execvp(void)
{
	setenv("PATH", "/nonexistent::/bin", 1);
	execvp("hooks_exec", show);
}

static void by_execvpe(void)
{
	execvpe("./hooks_exec", show, few);
}

static void by_execl(void)
{
	execl(self, "zero", "show", "one", "2", "three", "4", "five", "6", "seven", NULL);
}

static void by_execlp(void)
{
	execlp("hooks_exec", "zero", "show", "one", NULL);
}

static void by_execle(void)
{
	execle(self, "zero", "show", "one", "7", NULL, few);
}

static void by_fexecve(void)
{
	fexecve(open(self, O_RDONLY | O_CLOEXEC), show, few);
}

static void by_execveat(void)
{
	execveat(open(".", O_PATH | O_CLOEXEC), "hooks_exec", show, few, 0);
}

static void by_execveat_empty(void)
{
	execveat(open(self, O_PATH | O_CLOEXEC), "", show, few, AT_EMPTY_PATH);
}

static void by_number(void)
{
	syscall(SYS_execve, self, show, few);
}

static void by_number_at(void)
{
	syscall(SYS_execveat, AT_FDCWD, self, show, environ, 0);
}

static void by_script(void)
{
	execve("./script", show, few);
}

/* No #!: execvp() lets a shell run it, execve() does not. */
static void by_text(void)
{
	execvp("./text", show);
}

static void text_fails(void)
{
	execve("./text", show, few);
}

static void missing_fails(void)
{
	execvp("no-such-program", show);
}

static void directory_fails(void)
{
	execv("/", show);
}

static void null_environment(void)
{
	execve(self, show, NULL);
}

static void huge_environment(void)
{
	static char names[3000][8];
	static char *huge[3001];

	for (int i = 0; i < 3000; i++) {
		snprintf(names[i], sizeof(names[i]), "V%d=x", i);
		huge[i] = names[i];
	}
	execve(self, show, huge);
}

/* environ itself, changed since the start. */
static void changed_environment(void)
{
	clearenv();
	setenv("LATER", "yes", 1);
	execv(self, show);
}

static const struct {
	const char *name;
	void (*exec)(void);
} ways[] = {
	{"execve", by_execve},
	{"execv", by_execv},
	{"execvp", by_execvp},
	{"execvpe", by_execvpe},
	{"execl", by_execl},
	{"execlp", by_execlp},
	{"execle", by_execle},
	{"fexecve", by_fexecve},
	{"execveat", by_execveat},
	{"execveat, empty", by_execveat_empty},
	{"SYS_execve", by_number},
	{"SYS_execveat", by_number_at},
	{"script", by_script},
	{"text", by_text},
	{"text fails", text_fails},
	{"missing fails", missing_fails},
	{"directory fails", directory_fails},
	{"null environment", null_environment},
	{"huge environment", huge_environment},
	{"changed environment", changed_environment},
};

enum { N_WAYS = sizeof(ways) / sizeof(ways[0]) };

static void finished(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) < 0)
		perror("waitpid");
	printf("  status %x\n", (unsigned int)status);
	fflush(stdout);
}

static void run_execs(void)
{
	for (int i = 0; i < N_WAYS; i++) {
		pid_t pid;

		printf("%s:\n", ways[i].name);
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			ways[i].exec();
			printf("failed: %d\n", errno);
			fflush(stdout);
			_exit(3);
		}
		finished(pid);
	}
	/* By vfork too, where a changed environ would be the parent's. */
	for (int i = 0; i < 2; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			if (i == 0)
				execve(self, show, few);
			execvp("no-such-program", show);
			_exit(errno);
		}
		finished(pid);
	}
}

static void run_spawns(void)
{
	pid_t pid = -5;
	int r;

	fflush(stdout);
	r = posix_spawn(&pid, self, NULL, NULL, show, few);
	finished(pid);
	printf("posix_spawn %d\n", r);
	fflush(stdout);
	r = posix_spawnp(&pid, "hooks_exec", NULL, NULL, show, environ);
	finished(pid);
	printf("posix_spawnp %d\n", r);
	fflush(stdout);
	pid = -5;
	printf("missing %d", posix_spawn(&pid, "/nonexistent", NULL, NULL, show, few));
	printf(" %d", posix_spawnp(&pid, "no-such-program", NULL, NULL, show, few));
	printf(" %d\n", (int)pid);
	fflush(stdout);
	r = posix_spawn(NULL, self, NULL, NULL, show, few);
	finished(-1);
	printf("null pid %d\n", r);
}

static void show_file(FILE *stream)
{
	char line[8192];

	while (fgets(line, sizeof(line), stream))
		printf("| %s", line);
}

static void run_shells(void)
{
	struct sigaction before, after;
	FILE *stream;

	sigaction(SIGINT, NULL, &before);
	fflush(stdout);
	printf("system %x\n", (unsigned int)system("./hooks_exec show system 5"));
	printf("system %x\n", (unsigned int)system("kill -9 $$"));
	printf("system %x\n", (unsigned int)system("no-such-command 2>&1"));
	printf("system %d\n", system(NULL));
	fflush(stdout);
	printf("system %x\n",
	       (unsigned int)system("trap; grep -E '^Sig(Blk|Ign)' /proc/self/status"));
	sigaction(SIGINT, NULL, &after);
	printf("same %d\n", before.sa_handler == after.sa_handler);
	fflush(stdout);
	stream = popen("./hooks_exec show popen", "r");
	show_file(stream);
	printf("pclose %x\n", (unsigned int)pclose(stream));
	fflush(stdout);
	stream = popen("cat; exit 4", "w");
	fprintf(stream, "written\n");
	printf("pclose %x\n", (unsigned int)pclose(stream));
	printf("environ %d\n", getenv("WICK_SOCKET") != NULL);
	fflush(stdout);
}

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(name);
	close(fd);
}

/* Executes itself N times, using CPU between: a timer's signal must not meet a fresh image. */
static int again(int n)
{
	char count[16];
	clock_t until = clock() + CLOCKS_PER_SEC / 500;

	while (clock() < until)
		;
	if (n == 0)
		return 0;
	snprintf(count, sizeof(count), "%d", n - 1);
	execl(self, "hooks_exec", "again", count, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char text[600];

	if (n < 0)
		return 1;
	if (argc > 2 && strcmp(argv[1], "again") == 0)
		return again(atoi(argv[2]));
	if (argc != 3 || strcmp(argv[1], "in") != 0)
		return show_all(argc, argv);
	if (chdir(argv[2]) < 0 || symlink(self, "hooks_exec") < 0)
		return 1;
	snprintf(text, sizeof(text), "#!%s show\n", self);
	write_file("script", text);
	write_file("text", "./hooks_exec show text\n");
	setenv("PATH", "/bin:.", 1);
	unsetenv("OLDPWD");
	run_execs();
	run_spawns();
	run_shells();
	unlink("script");
	unlink("text");
	unlink("hooks_exec");
	return 0;
}
