/* waker.c - who let go of what a thread waited for, as a word of the "# s" line */
#include "output/text/waker.h"

#include "output/text/sanitise.h"

#include <string.h>

/* ';' separates frames, and readers take a word with a ',' for a metric. */
static void add_name(struct buf *buf, const char *name)
{
	const char *end = name + strnlen(name, SANITISE_MAX_NAME);
	size_t n;

	while (name + (n = strcspn(name, ";,")) < end) {
		sanitise_word(buf, name, n);
		buf_add(buf, name[n] == ';' ? "%3B" : "%2C");
		name += n + 1;
	}
	sanitise_word(buf, name, (size_t)(end - name));
}

static void add_frame(struct buf *buf, const struct frame *frame)
{
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;
	const char *module = slash ? slash + 1 : frame->module;

	if (frame->symbol) {
		add_name(buf, frame->symbol);
		return;
	}
	if (!module || module[0] == '[') {
		add_name(buf, module ? module : "[unknown]");
		return;
	}
	buf_add_char(buf, '[');
	add_name(buf, module);
	buf_add_char(buf, ']');
}

void waker_add(struct buf *buf, const struct sample *sample)
{
	const struct frame *frames;
	size_t start = buf->len;

	if (sample->waker_tid <= 0)
		return;
	frames = sample->frames + sample->n_frames;
	buf_add(buf, " waker=");
	buf_add_dec(buf, (uint32_t)sample->waker_tid, 0, ' ');
	for (size_t i = 0; i < sample->n_waker && buf->len - start < WAKER_BYTES; i++) {
		buf_add_char(buf, i ? ';' : ':');
		add_frame(buf, &frames[i]);
	}
}
