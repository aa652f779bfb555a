/* charged.c - runs a command and writes the CPU seconds that the kernel charged to it and its
 * children
 * usage: charged FILE COMMAND [ARGUMENTS] */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage used;
	FILE *file;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		(void)execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 1;
	file = fopen(argv[1], "w");
	if (!file)
		return 1;
	(void)fprintf(file, "%.6f\n",
		      (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6);
	(void)fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
