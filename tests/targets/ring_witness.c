/* ring_witness.c - holds a mapping of its own of every ring that a wick has, and prints what was
 * committed there once its standard input ends
 * usage: ring_witness WICK_PID; a line a sample: PID TID TIME_NS WEIGHT PC PC ... */
#include "sampler/wire/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RINGS = 64 };

struct witness {
	ino_t inode;
	const unsigned char *map;
};

static struct witness rings[MAX_RINGS];
static int n_rings;

static void hold(const char *path)
{
	uint64_t bytes = ring_chunk_offset(RING_MAX_CHUNKS);
	struct stat status;
	void *map;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_size == bytes && n_rings < MAX_RINGS) {
		for (int i = 0; i < n_rings; i++) {
			if (rings[i].inode == status.st_ino) {
				(void)close(fd);
				return;
			}
		}
		map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED)
			rings[n_rings++] = (struct witness){status.st_ino, map};
	}
	(void)close(fd);
}

static void look(const char *directory)
{
	DIR *fds = opendir(directory);
	struct dirent *entry;
	char path[300];
	char target[64];

	if (!fds)
		return;
	while ((entry = readdir(fds))) {
		ssize_t n;

		(void)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n > 0 && !strncmp(target, "/memfd:", 7))
			hold(path);
	}
	(void)closedir(fds);
}

static void print_slot(const unsigned char *map, uint32_t slot)
{
	uint32_t chunk = slot / RING_CHUNK_SLOTS;
	const struct ring_slot *at =
		(const void *)(map + ring_chunk_offset(chunk) +
			       slot % RING_CHUNK_SLOTS * ring_slot_bytes(chunk));
	uint64_t head = atomic_load_explicit(&at->head, memory_order_acquire);
	uint64_t size = ring_data_bytes(chunk);

	if (head > size) {
		/* It went round: the test keeps its runs short enough that it does not. */
		printf("wrapped\n");
		return;
	}
	for (uint64_t position = 0; position < head;) {
		const struct record_sample *sample = (const void *)(at->data + position);

		if (sample->head.type == RECORD_SAMPLE) {
			printf("sample %u %llu %u", sample->tid,
			       (unsigned long long)sample->time_ns, sample->weight);
			for (int i = 0; i < sample->n_pcs; i++)
				printf(" %llx", (unsigned long long)(sample->pcs[i] & ~PC_EXACT));
			printf("\n");
		}
		if (!sample->head.bytes)
			return;
		position += sample->head.bytes;
	}
}

int main(int argc, char **argv)
{
	char directory[64];
	struct pollfd input = {.fd = 0, .events = POLLIN};

	if (argc < 2)
		return 2;
	(void)snprintf(directory, sizeof(directory), "/proc/%s/fd", argv[1]);
	do {
		look(directory);
	} while (poll(&input, 1, 10) == 0);
	for (int i = 0; i < n_rings; i++) {
		const struct ring_header *header = (const void *)rings[i].map;
		uint32_t n = atomic_load(&header->n_slots);

		for (uint32_t slot = 0; slot < n && slot < RING_MAX_SLOTS; slot++)
			print_slot(rings[i].map, slot);
	}
	return 0;
}
