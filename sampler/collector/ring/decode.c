/* decode.c - records out of a slot that its writer may be lying in */
#include "sampler/collector/ring/decode.h"

#include "sampler/collector/event/lock_event.h"
#include "sampler/procfs/proc_maps.h"

#include <string.h>

static bool pcs_hold(const uint64_t *pcs, uint32_t n_pcs)
{
	for (uint32_t i = 0; i < n_pcs; i++)
		if ((pcs[i] & ~PC_EXACT) >= USER_ADDRESS_END)
			return false;
	return true;
}

static bool sample_holds(const struct record_sample *sample)
{
	if (sample->n_pcs < 1 || sample->n_pcs > RECORD_MAX_PCS)
		return false;
	if (sample->head.bytes != sizeof(*sample) + sample->n_pcs * sizeof(sample->pcs[0]))
		return false;
	if (sample->tid == 0 || sample->tid > INT32_MAX || sample->weight == 0 ||
	    sample->period_ns == 0 || sample->period_ns > RECORD_MAX_PERIOD_NS ||
	    sample->weight > RECORD_MAX_AMOUNT / sample->period_ns ||
	    sample->vcsw > RECORD_MAX_AMOUNT || sample->ivcsw > RECORD_MAX_AMOUNT)
		return false;
	return pcs_hold(sample->pcs, sample->n_pcs);
}

static bool event_holds(const struct record_event *event)
{
	if (event->n_pcs < 1 || event->n_pcs > RECORD_MAX_PCS)
		return false;
	if (event->head.bytes != sizeof(*event) + event->n_pcs * sizeof(event->pcs[0]))
		return false;
	if (event->kind < HOOK_ALLOC || event->kind > HOOK_LOCK)
		return false;
	if (event->tid == 0 || event->tid > INT32_MAX || event->amount > RECORD_MAX_AMOUNT ||
	    event->object >= USER_ADDRESS_END)
		return false;
	if (event->kind == HOOK_LOCK && !lock_event_holds(event))
		return false;
	return pcs_hold(event->pcs, event->n_pcs);
}

static bool thread_holds(struct record_thread *thread)
{
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	return thread->head.bytes == sizeof(*thread) && thread->tid != 0 &&
	       thread->tid <= INT32_MAX;
}

static bool module_holds(struct record_module *module)
{
	module->path[sizeof(module->path) - 1] = '\0';
	return module->head.bytes == sizeof(*module) && module->start < module->end &&
	       module->end <= USER_ADDRESS_END;
}

/* What the type promises, checked on our copy. */
static bool record_holds(union record_copy *record)
{
	switch (record->head.type) {
	case RECORD_SAMPLE:
		return record->head.bytes >= sizeof(record->sample) &&
		       sample_holds(&record->sample);
	case RECORD_THREAD:
		return thread_holds(&record->thread);
	case RECORD_MODULE:
		return module_holds(&record->module);
	case RECORD_UNMAP:
		return record->head.bytes == sizeof(record->unmap);
	case RECORD_EVENT:
		return record->head.bytes >= sizeof(record->event) && event_holds(&record->event);
	default:
		return false;
	}
}

static bool same_head(const struct record *a, const struct record *b)
{
	return a->bytes == b->bytes && a->type == b->type && a->flags == b->flags;
}

/* One record, padding included. */
static enum decode_result decode_one(const unsigned char *data, uint64_t data_bytes, uint64_t head,
				     uint64_t *position, union record_copy *ret_record)
{
	uint64_t offset = *position % data_bytes;
	uint64_t left = head - *position;
	uint64_t whole = data_bytes - offset;
	struct record copy;

	if (left < sizeof(copy) || whole < sizeof(copy))
		return DECODE_CORRUPT;
	memcpy(&copy, data + offset, sizeof(copy));
	if (copy.bytes < sizeof(copy) || copy.bytes % 8 != 0 || copy.bytes > left ||
	    copy.bytes > whole)
		return DECODE_CORRUPT;
	*position += copy.bytes;
	if (copy.type == RECORD_PAD) {
		ret_record->head = copy;
		return DECODE_RECORD;
	}
	if (copy.bytes > sizeof(*ret_record))
		return DECODE_CORRUPT;
	memcpy(ret_record->bytes, data + offset, copy.bytes);
	if (!same_head(&ret_record->head, &copy) || !record_holds(ret_record))
		return DECODE_CORRUPT;
	return DECODE_RECORD;
}

enum decode_result decode_next(const unsigned char *data, uint64_t data_bytes, uint64_t head,
			       uint64_t *position, union record_copy *ret_record)
{
	if (head == *position)
		return DECODE_EMPTY;
	if (head - *position > data_bytes || *position % 8 != 0 || head % 8 != 0) {
		*position = head;
		return DECODE_CORRUPT;
	}
	while (*position != head) {
		uint64_t before = *position;
		enum decode_result result =
			decode_one(data, data_bytes, head, position, ret_record);

		/* Only a length that holds says where the next record starts. */
		if (*position == before)
			*position = head;
		if (result == DECODE_CORRUPT || ret_record->head.type != RECORD_PAD)
			return result;
	}
	return DECODE_EMPTY;
}
