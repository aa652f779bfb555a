/* sections.c - which sections a file has, and their bytes */
#include "symbolize/sections/sections.h"

#include "base/cleanup.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/elf/file_guard.h"

#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Decompressing 4 MiB takes some 4 ms: less is not worth a thread. */
static const size_t worth_a_thread = 4 * 1024 * 1024;
static const size_t max_inflated = (size_t)4 * 1024 * 1024 * 1024;
static const size_t huge_page = 2 * 1024 * 1024;
static const size_t piece = 1024 * 1024;

enum { GNU_HEAD_BYTES = 12, MAX_JOBS = 16 };

struct work {
	struct loader *loader;              /* of the calling thread; NULL: none */
	struct inflate_job *jobs[MAX_JOBS]; /* the largest first */
	size_t n_jobs;
	atomic_size_t next;
};

void inflate_job_gnu(struct inflate_job *job, const void *bytes, size_t n_bytes)
{
	uint64_t size;

	if (n_bytes <= GNU_HEAD_BYTES || memcmp(bytes, "ZLIB", 4) != 0)
		return;
	memcpy(&size, (const uint8_t *)bytes + 4, sizeof(size));
	*job = (struct inflate_job){
		.bytes = (const uint8_t *)bytes + GNU_HEAD_BYTES,
		.n_bytes = n_bytes - GNU_HEAD_BYTES,
		.way = INFLATE_ZLIB,
		.n_inflated = be64toh(size),
	};
}

/* Pages of 2 MiB save half of the page faults, which cost as much as the entropy. */
static void *allocate(size_t n_bytes)
{
	size_t rounded = (n_bytes + huge_page - 1) / huge_page * huge_page;
	void *bytes;

	if (n_bytes < huge_page)
		return malloc(n_bytes);
	bytes = aligned_alloc(huge_page, rounded);
	if (bytes)
		(void)madvise(bytes, rounded, MADV_HUGEPAGE);
	return bytes;
}

/* In and out in pieces, between which the loader may be stopped. */
static bool inflate_zlib(const struct inflate_job *job, uint8_t *to)
{
	z_stream stream = {0};
	size_t in = job->n_bytes;
	size_t out = job->n_inflated;
	int r = inflateInit(&stream);

	if (r != Z_OK)
		return false;
	stream.next_in = (Bytef *)(uintptr_t)job->bytes;
	stream.next_out = to;
	while (r == Z_OK && !loader_is_stopping()) {
		uInt fed = stream.avail_in;
		uInt given = stream.avail_out;

		if (fed == 0)
			stream.avail_in = (uInt)(in < piece ? in : piece);
		if (given == 0)
			stream.avail_out = (uInt)(out < piece ? out : piece);
		in -= fed == 0 ? stream.avail_in : 0;
		out -= given == 0 ? stream.avail_out : 0;
		r = inflate(&stream, Z_NO_FLUSH); /* Z_BUF_ERROR once it cannot go on */
	}
	out += stream.avail_out;
	(void)inflateEnd(&stream);
	return r == Z_STREAM_END && out == 0;
}

/* The section may be several frames. */
static bool inflate_zstd(const struct inflate_job *job, uint8_t *to)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {.src = job->bytes, .size = job->n_bytes};
	ZSTD_outBuffer out = {.dst = to};
	size_t left = 1; /* of the frame */

	while (stream && !loader_is_stopping() && (left || in.pos < in.size)) {
		size_t before = in.pos + out.pos;

		out.size = job->n_inflated - out.pos < piece ? job->n_inflated : out.pos + piece;
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left) || in.pos + out.pos == before)
			break;
	}
	(void)ZSTD_freeDStream(stream);
	return left == 0 && in.pos == in.size && out.pos == job->n_inflated;
}

static void run(struct inflate_job *job)
{
	uint8_t *to = allocate(job->n_inflated);
	bool done;

	if (!to)
		return;
	done = job->way == INFLATE_ZSTD ? inflate_zstd(job, to) : inflate_zlib(job, to);
	if (done)
		job->inflated = to;
	else
		free(to);
}

static void *run_some(void *context)
{
	struct work *work = (struct work *)context;
	size_t i;

	loader_set_current(work->loader);
	while ((i = atomic_fetch_add(&work->next, 1)) < work->n_jobs)
		run(work->jobs[i]);
	return NULL;
}

static bool allowed(const struct inflate_job *job, size_t *left)
{
	if (!job->bytes || job->way == INFLATE_UNKNOWN || job->n_inflated == 0 ||
	    job->n_inflated > max_inflated || job->n_inflated > *left ||
	    job->n_inflated / INFLATE_MAX_RATIO > job->n_bytes)
		return false;
	*left -= job->n_inflated;
	return true;
}

static void add(struct work *work, struct inflate_job *job)
{
	size_t i = work->n_jobs++;

	for (; i > 0 && work->jobs[i - 1]->n_inflated < job->n_inflated; i--)
		work->jobs[i] = work->jobs[i - 1];
	work->jobs[i] = job;
}

void inflate_all(struct inflate_job *jobs, size_t n_jobs, size_t file_bytes)
{
	size_t left = file_bytes > SIZE_MAX / INFLATE_MAX_RATIO ? SIZE_MAX
								: file_bytes * INFLATE_MAX_RATIO;
	struct work work = {.loader = loader_current()};
	size_t n_bytes = 0;
	pthread_t second;
	bool helped = false;

	for (size_t i = 0; i < n_jobs && work.n_jobs < MAX_JOBS; i++) {
		if (!allowed(&jobs[i], &left))
			continue;
		add(&work, &jobs[i]);
		n_bytes += jobs[i].n_inflated;
	}
	if (work.n_jobs > 1 && n_bytes >= worth_a_thread)
		helped = pthread_create(&second, NULL, run_some, &work) == 0;
	(void)run_some(&work);
	if (helped)
		(void)pthread_join(second, NULL);
}

/* A file that says that it has more is not searched. */
enum { MAX_SECTIONS = 1 << 20 };

/* Some file systems tell how many blocks a file has only after seconds. */
enum { LEAST_REAL_BYTES = 1 << 20 };

static const char *const names[N_DWARF_SECTIONS] = {
	[DWARF_INFO] = "info",
	[DWARF_TYPES] = "types",
	[DWARF_ABBREV] = "abbrev",
	[DWARF_LINE] = "line",
	[DWARF_LINE_STR] = "line_str",
	[DWARF_STR] = "str",
	[DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_ADDR] = "addr",
	[DWARF_RANGES] = "ranges",
	[DWARF_RNGLISTS] = "rnglists",
	[DWARF_ARANGES] = "aranges",
	[DWARF_CU_INDEX] = "cu_index",
};

/* The section of a name: .debug_NAME, .zdebug_NAME, and these with .dwo at the end. */
static int section_of(const char *name, bool dwo, bool *ret_gnu)
{
	size_t len;

	*ret_gnu = strncmp(name, ".zdebug_", 8) == 0;
	if (!*ret_gnu && strncmp(name, ".debug_", 7) != 0)
		return -1;
	name += *ret_gnu ? 8 : 7;
	len = strlen(name);
	if (strcmp(name, "cu_index") == 0)
		return DWARF_CU_INDEX; /* of a package; it never has .dwo in its name */
	if (dwo) {
		if (len < 4 || strcmp(name + len - 4, ".dwo") != 0)
			return -1;
		len -= 4;
	}
	for (int i = 0; i < N_DWARF_SECTIONS; i++) {
		if (strlen(names[i]) == len && memcmp(name, names[i], len) == 0)
			return i;
	}
	return -1;
}

/* The section's bytes as they lie in the file, or a job to decompress them. */
static void take(struct dwarf_sections *sections, int which, Elf_Scn *scn, bool gnu,
		 struct inflate_job *job)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	const Elf_Data *data;

	if (sections->of[which].data || job->bytes || !gelf_getshdr(scn, &header) ||
	    header.sh_type == SHT_NOBITS)
		return;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return;
	if (gnu) {
		inflate_job_gnu(job, data->d_buf, data->d_size);
	} else if (header.sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(scn, &compressed) || data->d_size < sizeof(Elf64_Chdr))
			return;
		*job = (struct inflate_job){
			.bytes = (const uint8_t *)data->d_buf + sizeof(Elf64_Chdr),
			.n_bytes = data->d_size - sizeof(Elf64_Chdr),
			.way = compressed.ch_type == ELFCOMPRESS_ZLIB   ? INFLATE_ZLIB
			       : compressed.ch_type == INFLATE_ELF_ZSTD ? INFLATE_ZSTD
									: INFLATE_UNKNOWN,
			.n_inflated = compressed.ch_size,
		};
	} else {
		sections->of[which] =
			(struct dwarf_bytes){.data = data->d_buf, .len = data->d_size};
	}
}

static int inflate_claimed(struct dwarf_sections *sections, struct inflate_job *jobs)
{
	size_t n_bytes = 0;

	for (int i = 0; i < N_DWARF_SECTIONS; i++)
		if (jobs[i].n_inflated / INFLATE_MAX_RATIO <= jobs[i].n_bytes)
			n_bytes += jobs[i].n_inflated;
	if (memory_claim(&sections->claim, n_bytes) < 0)
		return -EFBIG;
	inflate_all(jobs, N_DWARF_SECTIONS, sections->real_bytes);
	return 0;
}

static int find(struct dwarf_sections *sections, bool dwo)
{
	struct inflate_job jobs[N_DWARF_SECTIONS] = {0};
	Elf_Scn *scn = NULL;
	size_t strings;
	bool any = false;
	int r;

	if (elf_getshdrstrndx(sections->elf, &strings) < 0)
		return -ENODATA;
	for (size_t n = 0; n < MAX_SECTIONS && (scn = elf_nextscn(sections->elf, scn)); n++) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(scn, &header)
					   ? elf_strptr(sections->elf, strings, header.sh_name)
					   : NULL;
		bool gnu;
		int which = name ? section_of(name, dwo, &gnu) : -1;

		if (which >= 0)
			take(sections, which, scn, gnu, &jobs[which]);
	}
	r = inflate_claimed(sections, jobs);
	if (r < 0)
		return r;
	for (int i = 0; i < N_DWARF_SECTIONS; i++) {
		if (jobs[i].inflated) {
			sections->inflated[i] = jobs[i].inflated;
			sections->of[i] = (struct dwarf_bytes){.data = jobs[i].inflated,
							       .len = jobs[i].n_inflated};
		}
		any = any || sections->of[i].len > 0;
	}
	return any ? 0 : -ENODATA;
}

static int open_memory(void *bytes, size_t n_bytes, bool dwo, struct dwarf_sections *sections)
{
	const char *ident;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	sections->elf = elf_memory(bytes, n_bytes);
	if (!sections->elf || elf_kind(sections->elf) != ELF_K_ELF)
		return -ENOEXEC;
	ident = elf_getident(sections->elf, NULL);
	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	return find(sections, dwo);
}

/* Mapped by ourselves, so that the guard is there before libelf reads the first byte. */
static int map(int fd, struct dwarf_sections *sections)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	sections->n_mapped = (size_t)st.st_size;
	sections->real_bytes = (size_t)st.st_blocks * 512; /* stat(2) */
	if (sections->real_bytes < LEAST_REAL_BYTES)
		sections->real_bytes = LEAST_REAL_BYTES;
	if (sections->real_bytes > sections->n_mapped)
		sections->real_bytes = sections->n_mapped;
	return file_guard_map(fd, sections->n_mapped, &sections->mapped);
}

int dwarf_sections_open(int fd, bool dwo, struct dwarf_sections *ret_sections)
{
	struct dwarf_sections sections = {0};
	_cleanup_fd_ int taken = fd;
	int r = map(taken, &sections);

	if (r == 0)
		r = open_memory(sections.mapped, sections.n_mapped, dwo, &sections);
	if (r < 0) {
		dwarf_sections_close(&sections);
		return r;
	}
	*ret_sections = sections;
	return 0;
}

int dwarf_sections_memory(const void *bytes, size_t n_bytes, struct dwarf_sections *ret_sections)
{
	struct dwarf_sections sections = {.real_bytes = n_bytes};
	/* libelf does not write to what it is given to read. */
	int r = open_memory((void *)(uintptr_t)bytes, n_bytes, false, &sections);

	if (r < 0) {
		dwarf_sections_close(&sections);
		return r;
	}
	*ret_sections = sections;
	return 0;
}

void dwarf_sections_close(struct dwarf_sections *sections)
{
	if (sections->elf)
		(void)elf_end(sections->elf);
	for (int i = 0; i < N_DWARF_SECTIONS; i++)
		free(sections->inflated[i]);
	(void)memory_claim(&sections->claim, 0);
	file_guard_unmap(sections->mapped, sections->n_mapped);
	*sections = (struct dwarf_sections){0};
}
