/* answers.c - a map from addresses to answers, and the list of those that want one */
#include "symbolize/answers.h"

#include <errno.h>
#include <stdlib.h>

/* Stands in the map for an address that is on the list, or being looked up. */
static struct answer wanted;

const struct answer *answers_find(const struct answers *answers, uint64_t vaddr, bool *ret_wanted)
{
	const struct answer *answer = map_get(&answers->by_vaddr, vaddr);

	*ret_wanted = answer == &wanted;
	return *ret_wanted ? NULL : answer;
}

int answers_want(struct answers *answers, uint64_t vaddr)
{
	int r;

	if (map_count(&answers->by_vaddr) >= ANSWERS_MAX)
		return -E2BIG;
	if (answers->n_wanted == answers->room) {
		size_t room = answers->room ? 2 * answers->room : 64;
		uint64_t *grown = realloc(answers->wanted, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		answers->wanted = grown;
		answers->room = room;
	}
	r = map_put(&answers->by_vaddr, vaddr, &wanted);
	if (r == 0)
		answers->wanted[answers->n_wanted++] = vaddr;
	return r;
}

size_t answers_take(struct answers *answers, uint64_t **ret_wanted)
{
	size_t n = answers->n_wanted;

	*ret_wanted = answers->wanted;
	answers->wanted = NULL;
	answers->n_wanted = 0;
	answers->room = 0;
	return n;
}

struct answer *answers_new(size_t n_inlined)
{
	struct answer *answer = calloc(1, sizeof(*answer) + n_inlined * sizeof(answer->inlined[0]));

	if (answer)
		answer->n_inlined = n_inlined;
	return answer;
}

int answers_put(struct answers *answers, uint64_t vaddr, struct answer *answer)
{
	struct answer *old = map_get(&answers->by_vaddr, vaddr);
	int r;

	if (!old && map_count(&answers->by_vaddr) >= ANSWERS_MAX)
		return -E2BIG;
	r = map_put(&answers->by_vaddr, vaddr, answer);
	if (r == 0 && old != &wanted)
		free(old);
	return r;
}

static void free_answer(void *context, uint64_t vaddr, void *value)
{
	(void)context;
	(void)vaddr;
	if (value != &wanted)
		free(value);
}

void answers_release(struct answers *answers)
{
	map_each(&answers->by_vaddr, free_answer, NULL);
	map_release(&answers->by_vaddr);
	free(answers->wanted);
	*answers = (struct answers){0};
}
