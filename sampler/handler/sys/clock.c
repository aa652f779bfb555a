/* clock.c - time and processor number without a system call, through the vDSO */
#include "sampler/handler/sys/clock.h"

#include "sampler/handler/sys/sys.h"

#include <elf.h>
#include <stdbool.h>

#include "sampler/handler/sys/sigsafe.h"

enum {
	MONOTONIC = 1,
	PROCESS_CPUTIME = 2,
	THREAD_CPUTIME = 3,
	THREAD_PROF = -4, /* ~0 << 3 | CPUCLOCK_PERTHREAD | CPUCLOCK_PROF: of the caller */
	THREAD_VIRT = -3, /* ~0 << 3 | CPUCLOCK_PERTHREAD | CPUCLOCK_VIRT */
};

static int (*vdso_gettime)(int clock, struct sys_timespec *at);
static long (*vdso_getcpu)(unsigned int *cpu, unsigned int *node, void *unused);

/* The vDSO's dynamic section; it comes from the kernel and needs no checks. */
struct image {
	uint64_t bias;
	const Elf64_Dyn *dynamic;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool read_headers(uint64_t vdso, struct image *image)
{
	const Elf64_Ehdr *header = (const void *)vdso;
	const Elf64_Phdr *segment = (const void *)(vdso + header->e_phoff);
	uint64_t dynamic = 0;
	bool loaded = false;

	for (int i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && !loaded) {
			image->bias = vdso + segment[i].p_offset - segment[i].p_vaddr;
			loaded = true;
		} else if (segment[i].p_type == PT_DYNAMIC) {
			dynamic = vdso + segment[i].p_offset;
		}
	}
	image->dynamic = (const void *)dynamic;
	return loaded && dynamic;
}

static void read_dynamic(struct image *image)
{
	for (const Elf64_Dyn *d = image->dynamic; d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)(image->bias + d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB:
			image->symbols = at;
			break;
		case DT_STRTAB:
			image->strings = at;
			break;
		case DT_HASH:
			image->hash = at;
			break;
		case DT_GNU_HASH:
			image->gnu_hash = at;
			break;
		default:
			break;
		}
	}
}

/* DT_GNU_HASH has no count: the longest chain ends with the last symbol. */
static uint32_t count_gnu(const uint32_t *table)
{
	uint32_t n_buckets = table[0];
	uint32_t first = table[1];
	const uint32_t *buckets = table + 4 + (size_t)table[2] * 2;
	const uint32_t *chains = buckets + n_buckets;
	uint32_t last = 0;

	for (uint32_t i = 0; i < n_buckets; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < first)
		return first;
	while (!(chains[last - first] & 1))
		last++;
	return last + 1;
}

static uint64_t find_symbol(const struct image *image, const char *name)
{
	uint32_t n = image->hash       ? image->hash[1]
		     : image->gnu_hash ? count_gnu(image->gnu_hash)
				       : 0;

	for (uint32_t i = 0; i < n; i++) {
		const Elf64_Sym *s = &image->symbols[i];

		if (s->st_shndx != SHN_UNDEF && same(image->strings + s->st_name, name))
			return image->bias + s->st_value;
	}
	return 0;
}

void clock_start(uint64_t vdso)
{
	struct image image = {0};

	if (!vdso || !read_headers(vdso, &image))
		return;
	read_dynamic(&image);
	if (!image.symbols || !image.strings)
		return;
	vdso_gettime = (void *)find_symbol(&image, "__vdso_clock_gettime");
	vdso_getcpu = (void *)find_symbol(&image, "__vdso_getcpu");
}

int clock_needs_no_syscall(void)
{
	return vdso_gettime != NULL;
}

static uint64_t ns_of(const struct sys_timespec *at)
{
	return (uint64_t)at->sec * 1000000000 + (uint64_t)at->nsec;
}

static uint64_t read_clock(int clock)
{
	struct sys_timespec at = {0};

	(void)sys2(__NR_clock_gettime, clock, &at);
	return ns_of(&at);
}

uint64_t clock_now_ns(void)
{
	struct sys_timespec at = {0};

	if (!vdso_gettime || vdso_gettime(MONOTONIC, &at) != 0)
		return read_clock(MONOTONIC);
	return ns_of(&at);
}

uint32_t clock_cpu(void)
{
	unsigned int cpu = 0;

	if (vdso_getcpu)
		(void)vdso_getcpu(&cpu, NULL, NULL);
	return cpu;
}

uint64_t clock_thread_cpu_ns(void)
{
	return read_clock(THREAD_CPUTIME);
}

struct clock_ticks clock_thread_ticks(void)
{
	uint64_t user_ns = read_clock(THREAD_VIRT);

	return (struct clock_ticks){.user_ns = user_ns,
				    .kernel_ns = read_clock(THREAD_PROF) - user_ns};
}

uint64_t clock_process_cpu_ns(void)
{
	return read_clock(PROCESS_CPUTIME);
}
