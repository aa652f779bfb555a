/* blocked_bp.c - a register that a frame is left by and that nobody has told */
#include "sampler/collector/blocked_bp.h"

bool blocked_recover(struct remote *remote, const struct blocked_frame *frame, uint64_t *ret_value)
{
	(void)remote;
	(void)frame;
	(void)ret_value;
	return false;
}
