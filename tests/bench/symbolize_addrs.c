/*
 * symbolize_addrs.c - the chains of addresses of a file, through the symbolizer that wick has
 *
 * Addresses are the ELF's own, in hexadecimal, one a line; one with a '-' behind it is a return
 * address.  Printed are the address, a line "NAME TAB FILE TAB LINE" for every level, the
 * innermost first, and an empty line; with -t, what it took, on stderr.
 *
 * The file is mapped here as a loader would map it, so that it is found as in any process.
 */
#include "symbolize/symbolize.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/elf/elf_head.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DIRS = 8, PAGE = 4096 };

struct asked {
	uint64_t addr;
	bool exact;
};

struct program {
	struct symbolize_options options;
	const char *dirs[MAX_DIRS];
	struct symbolizer *symbolizer;
	const char *path;
	struct elf_head head;
	uint64_t bias; /* from the ELF's addresses to those here */
	struct asked *asked;
	size_t n_asked;
	bool timed;
};

static int usage(void)
{
	(void)fprintf(stderr, "usage: symbolize_addrs [-ft] [-c CACHE | -n] [-d DEBUG_ROOT] "
			      "[-s SYMBOL_DIR]... FILE <ADDRESSES\n");
	return 2;
}

static int read_options(struct program *program, int argc, char **argv)
{
	int option;

	program->options.symbol_dirs = program->dirs;
	while ((option = getopt(argc, argv, "fntc:d:s:")) >= 0) {
		if (option == 'f')
			program->options.full_names = true;
		else if (option == 'n')
			program->options.no_cache = true;
		else if (option == 't')
			program->timed = true;
		else if (option == 'c')
			program->options.cache_folder = optarg;
		else if (option == 'd')
			program->options.debug_root = optarg;
		else if (option == 's' && program->options.n_symbol_dirs < MAX_DIRS)
			program->dirs[program->options.n_symbol_dirs++] = optarg;
		else
			return usage();
	}
	if (optind != argc - 1)
		return usage();
	program->path = argv[optind];
	return 0;
}

static int read_addresses(struct program *program)
{
	size_t room = 0;
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		char *end;
		struct asked asked = {.addr = strtoull(line, &end, 16)};

		asked.exact = *end != '-';
		if (end == line)
			return -EINVAL;
		if (program->n_asked == room) {
			struct asked *more;

			room = room ? 2 * room : 1024;
			more = realloc(program->asked, room * sizeof(*more));
			if (!more)
				return -ENOMEM;
			program->asked = more;
		}
		program->asked[program->n_asked++] = asked;
	}
	return 0;
}

/* One segment where it belongs, and the symbolizer told of it. */
static int map_segment(struct program *program, int fd, const struct stat *st,
		       const struct elf_segment *load)
{
	uint64_t skew = load->vaddr % PAGE;
	uint64_t start = program->bias + load->vaddr - skew;
	uint64_t bytes = (load->filesz + skew + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	int protection = PROT_READ | (load->executable ? PROT_EXEC : 0);
	struct mapping mapping = {
		.process = 1,
		.pid = getpid(),
		.start = start,
		.end = start + bytes,
		.pgoff = load->offset - skew,
		.dev = st->st_dev,
		.inode = st->st_ino,
		.path = program->path,
	};

	if (!load->filesz)
		return 0;
	/* Headers that lie are not to put the file in the place of this program. */
	if (load->vaddr < elf_head_start(&program->head) || load->offset < skew ||
	    start - program->bias - elf_head_start(&program->head) >
		    elf_head_span(&program->head) ||
	    bytes > program->bias + elf_head_start(&program->head) + elf_head_span(&program->head) -
			    start)
		return -EINVAL;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): an address is chosen here */
	if (mmap((void *)(uintptr_t)start, bytes, protection, MAP_PRIVATE | MAP_FIXED, fd,
		 (off_t)(load->offset - skew)) == MAP_FAILED)
		return -errno;
	if (load->executable)
		symbolizer_add(program->symbolizer, &mapping);
	return 0;
}

static int map_file(struct program *program)
{
	_cleanup_fd_ int fd = open(program->path, O_RDONLY | O_CLOEXEC);
	struct elf_source source = {.fd = fd};
	struct stat st;
	void *room;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = elf_head_read(&source, &program->head);
	if (r < 0)
		return r;
	room = mmap(NULL, elf_head_span(&program->head), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (room == MAP_FAILED)
		return -errno;
	program->bias = (uint64_t)(uintptr_t)room - elf_head_start(&program->head);
	for (size_t i = 0; i < program->head.n_loads && r == 0; i++)
		r = map_segment(program, fd, &st, &program->head.loads[i]);
	return r;
}

/* A sample of one frame. */
static struct sample sample_of(const struct program *program, size_t i, struct frame *frame)
{
	*frame = (struct frame){.addr = program->bias + program->asked[i].addr,
				.exact = program->asked[i].exact};
	return (struct sample){
		.process = 1, .pid = getpid(), .time_ns = 1, .n_frames = 1, .frames = frame};
}

static void print_frames(const struct sample *sample)
{
	for (size_t i = 0; i < sample->n_frames; i++) {
		const struct frame *frame = &sample->frames[i];

		printf("%s\t%s\t%" PRIu32 "\n", frame->symbol ? frame->symbol : "",
		       frame->file ? frame->file : "", frame->line);
	}
}

/* Looked up together: all but the first, which waits for the file's symbols. */
static void ask_all(struct program *program)
{
	for (size_t i = 0; i < program->n_asked; i++) {
		struct frame frame;
		struct sample sample = sample_of(program, i, &frame);

		while (i == 0 && symbolizer_resolve(program->symbolizer, &sample, false) == -EAGAIN)
			symbolizer_wait(program->symbolizer, UINT64_C(1000000000));
		if (i > 0)
			symbolizer_request(program->symbolizer, &sample);
	}
}

static void print_all(struct program *program)
{
	for (size_t i = 0; i < program->n_asked; i++) {
		struct frame frame;
		struct sample sample = sample_of(program, i, &frame);

		while (symbolizer_resolve(program->symbolizer, &sample, false) == -EAGAIN)
			symbolizer_wait(program->symbolizer, UINT64_C(1000000000));
		printf("0x%" PRIx64 "\n", program->asked[i].addr);
		print_frames(&sample);
		printf("\n");
	}
}

static void print_cost(uint64_t wall_ns)
{
	struct rusage used;

	(void)getrusage(RUSAGE_SELF, &used);
	(void)fprintf(stderr, "wall_s %.4f cpu_s %.4f peak_kib %ld\n", (double)wall_ns / 1e9,
		      (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
		      used.ru_maxrss);
}

int main(int argc, char **argv)
{
	struct program program = {.timed = false};
	struct err err = {.code = 0};
	uint64_t began_ns = io_now_ns();
	int r = read_options(&program, argc, argv);

	if (r != 0)
		return r;
	r = read_addresses(&program);
	if (r == 0)
		r = symbolizer_new(&program.options, &program.symbolizer, &err);
	if (r == 0)
		r = map_file(&program);
	if (r == 0) {
		ask_all(&program);
		print_all(&program);
	} else {
		(void)fprintf(stderr, "symbolize_addrs: '%s': %s\n", program.path, strerror(-r));
	}
	symbolizer_free(program.symbolizer);
	free(program.asked);
	if (program.timed)
		print_cost(io_now_ns() - began_ns);
	return r == 0 ? 0 : 1;
}
