/* same_files.c - files by device and inode: what is counted twice is seen nowhere else */
#include "flamescope/load/same_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	dev_t device;
	ino_t inode;
	size_t path;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a;
	const struct place *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	return (one->path > other->path) - (one->path < other->path);
}

/* Of a file or pipe: of what else there is, every opening may give something new. */
static bool find_place(const char *path, struct place *place)
{
	struct stat st;

	if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)))
		return false;
	place->device = st.st_dev;
	place->inode = st.st_ino;
	return true;
}

int same_files_find(const char *const *paths, size_t n, bool *ret_again)
{
	struct place *places = calloc(n + 1, sizeof(*places));
	size_t n_places = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ret_again[i] = false;
		places[n_places].path = i;
		n_places += find_place(paths[i], &places[n_places]);
	}
	qsort(places, n_places, sizeof(*places), compare_places);
	for (size_t i = 1; i < n_places; i++)
		if (places[i].device == places[i - 1].device &&
		    places[i].inode == places[i - 1].inode)
			ret_again[places[i].path] = true;
	free(places);
	return 0;
}
