/* page.c - fills the places of web/page.html: `{{title}}`, `<!--wick:NAME-->` */
#include "flamescope/serve/serve.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/words.h"
#include "flamescope/serve/packs.h"
#include "flamescope/web/web.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void base64_add(struct buf *buf, const unsigned char *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4 * 256];
	size_t n = 0;

	for (size_t i = 0; i < len; i += 3) {
		const size_t left = len - i;
		const uint32_t word = (uint32_t)bytes[i] << 16 |
				      (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				      (left > 2 ? bytes[i + 2] : 0U);

		text[n++] = digits[word >> 18];
		text[n++] = digits[word >> 12 & 63];
		text[n++] = (char)(left > 1 ? digits[word >> 6 & 63] : '=');
		text[n++] = (char)(left > 2 ? digits[word & 63] : '=');
		if (n == sizeof(text)) {
			(void)buf_append(buf, text, n);
			n = 0;
		}
	}
	(void)buf_append(buf, text, n);
}

enum {
	PAGE_BYTES = 32 * 1024 * 1024, /* of all but the recordings */
	FLUSH_BYTES = 256 * 1024,      /* of what is kept of a recording */
	PIECE_BYTES = 3 * 16 * 1024,   /* that becomes base64 at once */
	ENTRY_BYTES = 128,
};

/* The page on its way out. */
struct filling {
	const struct page *page;
	const char *nonce;
	bool is_served;
	struct buf *buf;
	int fd; /* where to the recordings go; the rest waits in buf till then */
};

int page_nonce(char nonce[PAGE_NONCE_TEXT], struct err *err)
{
	unsigned char bytes[(PAGE_NONCE_TEXT - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(err, errno, "no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++) {
		nonce[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		nonce[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	nonce[PAGE_NONCE_TEXT - 1] = '\0';
	return 0;
}

void page_policy(const char *nonce, const char *connect, struct buf *buf)
{
	buf_printf(buf,
		   "default-src 'none'; script-src 'nonce-%s' 'wasm-unsafe-eval'; style-src "
		   "'nonce-%s'; "
		   "img-src data: blob:; worker-src blob:; connect-src %s; base-uri 'none'; "
		   "form-action 'none'",
		   nonce, nonce, connect);
}

static int flush(struct filling *filling)
{
	int r = filling->buf->failed ? -ENOMEM : 0;

	if (r == 0 && filling->fd >= 0) {
		r = io_write_all(filling->fd, filling->buf->data, filling->buf->len, NULL);
		buf_clear(filling->buf);
	}
	return r;
}

static void add_file(struct filling *filling, const struct web_file *file)
{
	(void)buf_append(filling->buf, file->bytes, file->n_bytes);
}

/* The worker's script is text to the page, which makes a worker of it. */
static int fill_scripts(struct filling *filling)
{
	buf_add(filling->buf, "<script type=\"application/x-wick-worker\" id=\"wick-worker\">");
	add_file(filling, &web_worker_js);
	buf_printf(filling->buf, "</script>\n<script nonce=\"%s\">", filling->nonce);
	add_file(filling, &web_main_js);
	buf_add(filling->buf, "</script>\n");
	return 0;
}

/* The policy comes first: it rules what follows it.  A server says it in a header instead. */
static int fill_css(struct filling *filling)
{
	if (!filling->is_served) {
		buf_add(filling->buf, "<meta http-equiv=\"Content-Security-Policy\" content=\"");
		page_policy(filling->nonce, "'none'", filling->buf);
		buf_add(filling->buf, "\">\n");
	}
	buf_printf(filling->buf, "<style nonce=\"%s\">\n", filling->nonce);
	add_file(filling, &web_page_css);
	add_file(filling, &web_views_css);
	buf_add(filling->buf, "</style>\n");
	return 0;
}

static int fill_start(struct filling *filling)
{
	const struct page *page = filling->page;
	struct buf *buf = filling->buf;

	buf_printf(
		buf,
		"<script type=\"application/json\" id=\"wick-start\">{\"mode\":\"%s\",\"state\":",
		filling->is_served ? "serve" : "view");
	json_add_string(buf, page->state ? page->state : "");
	buf_add(buf, ",\"token\":");
	json_add_string(buf, page->token ? page->token : "");
	buf_add(buf, ",\"api\":\"/api/\"}</script>\n");
	return 0;
}

/* What stands in a descriptor as base64, a piece at a time. */
static int add_base64(struct filling *filling, int from, uint64_t end)
{
	_cleanup_free_ unsigned char *piece = malloc(PIECE_BYTES);
	int r;

	if (!piece)
		return -ENOMEM;
	for (uint64_t at = 0; at < end; at += PIECE_BYTES) {
		const size_t len = end - at < PIECE_BYTES ? (size_t)(end - at) : PIECE_BYTES;
		ssize_t n = io_pread(from, piece, len, at);

		if (n < 0)
			return (int)n;
		base64_add(filling->buf, piece, (size_t)n);
		if (filling->buf->len < FLUSH_BYTES)
			continue;
		r = flush(filling);
		if (r < 0)
			return r;
	}
	return 0; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
}

static int add_pack(struct filling *filling, size_t i, struct err *err)
{
	_cleanup_fd_ int packed = -1;
	uint64_t n_bytes = 0;
	struct buf *buf = filling->buf;
	int r = packed_make(filling->page->recordings[i], NULL, &packed, &n_bytes, err);

	if (r < 0)
		return r;
	buf_printf(buf,
		   "<script type=\"application/x-wick-pack\" id=\"wick-pack-%zu\" data-name=\"", i);
	words_xml(buf, filling->page->names[i]);
	buf_add(buf, "\">");
	r = add_base64(filling, packed, n_bytes);
	buf_add(buf, "</script>\n");
	return r < 0 ? err_set(err, -r, "cannot write the page") : 0;
}

/* After the scripts, which run while this is still being read. */
static int fill_packs(struct filling *filling, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && !filling->is_served && i < filling->page->n_recordings; i++)
		r = add_pack(filling, i, err);
	return r;
}

enum place { PLACE_TITLE, PLACE_CSS, PLACE_START, PLACE_SCRIPTS, PLACE_PACKS, N_PLACES };

static const char *const places[N_PLACES] = {
	[PLACE_TITLE] = "{{title}}",         [PLACE_CSS] = "<!--wick:css-->",
	[PLACE_START] = "<!--wick:start-->", [PLACE_SCRIPTS] = "<!--wick:scripts-->",
	[PLACE_PACKS] = "<!--wick:packs-->",
};

static int fill_place(struct filling *filling, enum place place, struct err *err)
{
	const char *title = filling->page->title;

	switch (place) {
	case PLACE_CSS:
		return fill_css(filling);
	case PLACE_START:
		return fill_start(filling);
	case PLACE_SCRIPTS:
		return fill_scripts(filling);
	case PLACE_PACKS:
		return fill_packs(filling, err);
	default:
		words_xml(filling->buf, title ? title : "wick");
		return 0;
	}
}

/* Which place begins at TEXT; N_PLACES: none. */
static enum place place_at(const char *text, size_t len)
{
	unsigned i;

	for (i = 0; i < N_PLACES; i++)
		if (len >= strlen(places[i]) && memcmp(text, places[i], strlen(places[i])) == 0)
			break;
	return (enum place)i;
}

static int fill_template(struct filling *filling, struct err *err)
{
	size_t at = 0;
	int r;

	while (at < web_page_html.n_bytes) {
		const char *text = (const char *)web_page_html.bytes + at;
		const enum place place = place_at(text, web_page_html.n_bytes - at);

		if (place == N_PLACES) {
			buf_add_char(filling->buf, *text);
			at++;
			continue;
		}
		r = fill_place(filling, place, err);
		if (r < 0)
			return r;
		at += strlen(places[place]);
	}
	return filling->buf->failed ? err_set(err, ENOMEM, "no memory for the page") : 0;
}

int page_write(const struct page *page, int fd, struct err *err)
{
	char nonce[PAGE_NONCE_TEXT];
	struct filling filling = {.page = page, .nonce = nonce, .fd = fd};
	struct buf buf;
	int r = page_nonce(nonce, err);

	if (r < 0)
		return r;
	buf_init(&buf, PAGE_BYTES);
	filling.buf = &buf;
	r = fill_template(&filling, err);
	if (r == 0) {
		r = flush(&filling);
		if (r < 0)
			(void)err_set(err, -r, "cannot write the page");
	}
	buf_release(&buf);
	return r;
}

int page_served(const struct page *page, const char *nonce, struct buf *buf, struct err *err)
{
	struct filling filling = {
		.page = page, .nonce = nonce, .is_served = true, .buf = buf, .fd = -1};

	return fill_template(&filling, err);
}
