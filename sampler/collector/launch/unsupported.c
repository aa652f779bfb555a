/* unsupported.c - the programs that were run and take no agent */
#include "sampler/collector/launch/unsupported.h"

#include <stdio.h>
#include <string.h>

void unsupported_add(struct unsupported_list *list, pid_t pid, const char *path,
		     enum program_kind kind)
{
	struct unsampled *entry;

	list->count++;
	for (size_t i = 0; i < list->n; i++) {
		entry = &list->at[i];
		if (entry->kind == kind &&
		    strncmp(entry->path, path, sizeof(entry->path) - 1) == 0) {
			entry->count++;
			return;
		}
	}
	if (list->n == MAX_UNSUPPORTED)
		return;
	entry = &list->at[list->n++];
	*entry = (struct unsampled){.pid = pid, .kind = kind, .count = 1};
	(void)snprintf(entry->path, sizeof(entry->path), "%s", path);
}

const char *unsupported_why(enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_STATIC:
		return "static";
	case PROGRAM_PRIVILEGED:
		return "setuid";
	case PROGRAM_OTHER_ARCH:
		return "32-bit";
	case PROGRAM_ATTACHED:
		return "executed by one that had joined";
	case PROGRAM_DYNAMIC:
	case PROGRAM_NOT_ELF:
	case PROGRAM_MISSING:
		break;
	}
	return NULL;
}
