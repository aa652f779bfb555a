/* address_cache.c - a table of answers by address, and the list of those that want one */
#include "symbolize/address_cache.h"

#include <errno.h>
#include <stdlib.h>

/* Stands in the map for an address that is on the list, or being looked up. */
static struct answer wanted;

enum {
	FIRST_BITS = 6,
	MAX_FAR = 256, /* slots from its own; only addresses that were chosen for it get there */
};

/*
 * Where an address is, or the free slot where it would be.  What shares the upper bits of its hash
 * stays in order when the table grows, so no run becomes longer then.
 */
static struct answer_slot *slot_of(const struct answers *answers, uint64_t vaddr, size_t *ret_far)
{
	size_t mask = ((size_t)1 << answers->bits) - 1;
	size_t at = (size_t)(vaddr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - answers->bits));

	for (*ret_far = 0;; ++*ret_far, at = (at + 1) & mask) {
		struct answer_slot *slot = &answers->slots[at];

		if (!slot->answer || slot->vaddr == vaddr)
			return slot;
	}
}

static struct answer *find(const struct answers *answers, uint64_t vaddr)
{
	size_t far;

	return answers->slots ? slot_of(answers, vaddr, &far)->answer : NULL;
}

static int grow(struct answers *answers)
{
	struct answers grown = *answers;
	size_t far;

	grown.bits = answers->slots ? answers->bits + 1 : FIRST_BITS;
	grown.slots = calloc((size_t)1 << grown.bits, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; answers->slots && i >> answers->bits == 0; i++)
		if (answers->slots[i].answer)
			*slot_of(&grown, answers->slots[i].vaddr, &far) = answers->slots[i];
	free(answers->slots);
	*answers = grown;
	return 0;
}

/* For an address that is not there yet. */
static int add(struct answers *answers, uint64_t vaddr, struct answer *answer)
{
	struct answer_slot *slot;
	size_t far;
	int r;

	if (answers->n >= ANSWERS_MAX)
		return -E2BIG;
	if (!answers->slots || 2 * answers->n >= (size_t)1 << answers->bits) {
		r = grow(answers);
		if (r < 0)
			return r;
	}
	slot = slot_of(answers, vaddr, &far);
	if (far > MAX_FAR)
		return -E2BIG;
	*slot = (struct answer_slot){.vaddr = vaddr, .answer = answer};
	answers->n++;
	return 0;
}

const struct answer *answers_find(const struct answers *answers, uint64_t vaddr, bool *ret_wanted)
{
	const struct answer *answer = find(answers, vaddr);

	*ret_wanted = answer == &wanted;
	return *ret_wanted ? NULL : answer;
}

int answers_want(struct answers *answers, uint64_t vaddr)
{
	int r;

	if (answers->n_wanted == answers->room) {
		size_t room = answers->room ? 2 * answers->room : 64;
		uint64_t *grown = realloc(answers->wanted, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		answers->wanted = grown;
		answers->room = room;
	}
	r = add(answers, vaddr, &wanted);
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
		answer->n_inlined = (uint32_t)n_inlined;
	return answer;
}

int answers_put(struct answers *answers, uint64_t vaddr, struct answer *answer)
{
	struct answer *old = find(answers, vaddr);
	size_t far;

	if (!old)
		return add(answers, vaddr, answer);
	slot_of(answers, vaddr, &far)->answer = answer;
	if (old != &wanted)
		free(old);
	return 0;
}

void answers_release(struct answers *answers)
{
	for (size_t i = 0; answers->slots && i >> answers->bits == 0; i++)
		if (answers->slots[i].answer != &wanted)
			free(answers->slots[i].answer);
	free(answers->slots);
	free(answers->wanted);
	*answers = (struct answers){0};
}
