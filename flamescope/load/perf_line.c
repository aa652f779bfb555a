/* perf_line.c - parses single lines of perf-script text; every one is hostile */
#include "flamescope/load/perf_line.h"

#include "output/markup.h"

#include <ctype.h>
#include <string.h>

/* perf prints "%16lx" behind at least one blank. */
enum { ADDRESS_COLUMNS = 17, MISC_LETTERS = 4 };

static const char side_band[] = "PERF_RECORD_";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Decimal digits up to END; false when there are none, or too many. */
static bool take_dec(const char *at, const char *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (at == end)
		return false;
	for (; at < end; at++)
		if (!is_digit(*at) || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return false;
	*ret_value = value;
	return true;
}

/* A number, or -1 as perf writes what it does not know. */
static bool take_id(const char *at, const char *end, int64_t *ret_value)
{
	uint64_t value;

	if (end - at == 2 && at[0] == '-' && at[1] == '1') {
		*ret_value = -1;
		return true;
	}
	if (!take_dec(at, end, &value) || value > INT32_MAX)
		return false;
	*ret_value = (int64_t)value;
	return true;
}

/* `12345.678901:` as ns; further than nanoseconds is passed over. */
static bool take_time(const char *at, const char *end, uint64_t *ret_ns)
{
	const char *dot;
	uint64_t seconds;
	uint64_t part = 0;
	uint64_t scale = 100000000;

	if (end - at < 2 || end[-1] != ':')
		return false;
	end--;
	dot = memchr(at, '.', (size_t)(end - at));
	if (!dot || dot + 1 == end || !take_dec(at, dot, &seconds))
		return false;
	for (const char *digit = dot + 1; digit < end; digit++, scale /= 10) {
		if (!is_digit(*digit))
			return false;
		part += (uint64_t)(*digit - '0') * scale;
	}
	if (__builtin_mul_overflow(seconds, UINT64_C(1000000000), &seconds) ||
	    __builtin_add_overflow(seconds, part, ret_ns))
		return false;
	return true;
}

/* A word of a line, and where the one before it ends. */
struct word {
	char *start;
	char *end;
};

/* The last word before AT; empty at the start of the line. */
static struct word word_before(char *line, char *at)
{
	struct word word;

	while (at > line && is_blank(at[-1]))
		at--;
	word.end = at;
	while (at > line && !is_blank(at[-1]))
		at--;
	word.start = at;
	return word;
}

/* `[003]`, or `[???]` */
static bool is_cpu(struct word word)
{
	return word.end - word.start >= 3 && *word.start == '[' && word.end[-1] == ']' &&
	       (is_digit(word.start[1]) || word.start[1] == '?');
}

/* `K`, `U`, `Sp`: what perf script -F misc prints before the time. */
static bool is_misc(struct word word)
{
	if (word.start == word.end || word.end - word.start > MISC_LETTERS)
		return false;
	for (; word.start < word.end; word.start++)
		if (!isalpha((unsigned char)*word.start))
			return false;
	return true;
}

/* pid/tid, tid, and the cpu before the time; what is left of them is the comm. */
static bool take_ids(char *line, char *time, struct perf_head *head, char **ret_comm_end)
{
	struct word word = word_before(line, time);
	uint64_t cpu;
	char *slash;

	head->cpu = -1;
	head->pid = -1;
	if (is_misc(word))
		word = word_before(line, word.start);
	if (is_cpu(word)) {
		if (take_dec(word.start + 1, word.end - 1, &cpu) && cpu <= INT32_MAX)
			head->cpu = (int64_t)cpu;
		word = word_before(line, word.start);
	}
	slash = memchr(word.start, '/', (size_t)(word.end - word.start));
	if (slash && !take_id(word.start, slash, &head->pid))
		return false;
	if (!take_id(slash ? slash + 1 : word.start, word.end, &head->tid))
		return false;
	/* `4000/4001  ` may have been padded after the slash: "4000/ 4001" is not perf's */
	*ret_comm_end = word.start;
	while (*ret_comm_end > line && is_blank((*ret_comm_end)[-1]))
		--*ret_comm_end;
	return *ret_comm_end > line;
}

static bool is_hex(const char *at, const char *end)
{
	if (at == end || end - at > 16)
		return false;
	for (; at < end; at++)
		if (!isxdigit((unsigned char)*at))
			return false;
	return true;
}

/* Whether an address is printed here, right-aligned as perf does. */
static bool is_address(const char *text)
{
	const char *at = text + strspn(text, " \t");
	const char *end = at + strcspn(at, " \t");

	return end - text >= ADDRESS_COLUMNS && is_hex(at, end);
}

static struct word word_after(char *text)
{
	struct word word;

	word.start = text + strspn(text, " \t");
	word.end = word.start + strcspn(word.start, " \t");
	return word;
}

/* What perf script --show-mmap-events prints looks like an event, and is none. */
static bool is_event(struct word word)
{
	return word.end - word.start >= 2 && word.end[-1] == ':' &&
	       strncmp(word.start, side_band, strlen(side_band)) != 0;
}

/* `period event:` or `event:`, or nothing (perf script -F without event); behind it the rest. */
static bool take_event(char *text, struct perf_head *head)
{
	struct word word = word_after(text);
	uint64_t period;

	head->period = 1;
	/* a period alone has a blank behind it; without one the line was cut there */
	if (take_dec(word.start, word.end, &period) && *word.end &&
	    (!is_address(text) || is_event(word_after(word.end)) || is_address(word.end))) {
		head->period = period;
		text = word.end;
		word = word_after(text);
	}
	head->event = "";
	head->rest = text;
	if (!*word.start || is_address(text))
		return true;
	if (!is_event(word))
		return false;
	head->event = word.start;
	head->rest = *word.end ? word.end + 1 : word.end;
	word.end[-1] = '\0';
	*word.end = '\0';
	return true;
}

bool perf_line_head(char *text, struct perf_head *ret_head)
{
	struct perf_head head = {0};
	char *line = text + strspn(text, " \t");
	char *at = line;
	char *comm_end;

	/* the time is the first word with that shape which has ids and a comm before it */
	for (;;) {
		char *end;

		at += strcspn(at, " \t");
		at += strspn(at, " \t");
		if (!*at)
			return false;
		end = at + strcspn(at, " \t");
		if (take_time(at, end, &head.time_ns) && take_ids(line, at, &head, &comm_end) &&
		    take_event(end, &head))
			break;
		at = end;
	}
	*comm_end = '\0';
	head.comm = line;
	*ret_head = head;
	return true;
}

static bool take_hex(const char *at, const char *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (!is_hex(at, end))
		return false;
	for (; at < end; at++) {
		char c = (char)tolower((unsigned char)*at);

		value = value << 4 | (uint64_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*ret_value = value;
	return true;
}

/* The "(" that the ")" at the end closes, with a blank before it. */
static char *find_module(char *from, char *end)
{
	int depth = 0;

	for (char *at = end; at > from; at--) {
		if (at[-1] == ')')
			depth++;
		else if (at[-1] == '(' && --depth == 0)
			return at - 1 > from && at[-2] == ' ' ? at - 1 : NULL;
	}
	return NULL;
}

/* name+0xoff: the last of them, with nothing but digits behind it. */
static void split_offset(char *name, struct perf_frame *frame)
{
	size_t len = strlen(name);
	char *plus = len > 3 ? memrchr(name, '+', len) : NULL;

	if (!plus || plus == name || plus[1] != '0' || plus[2] != 'x' ||
	    !take_hex(plus + 3, name + len, &frame->offset))
		return;
	*plus = '\0';
	frame->has_offset = true;
}

/*
 * Whether all that is opened is closed, and something is not in parentheses: a line that was cut in
 * its module is no name, nor is a module alone.
 */
static bool is_whole(const char *at, const char *end)
{
	int depth = 0;

	if (*at == '(' && memchr(at, ')', (size_t)(end - at)) == end - 1)
		return false;

	for (; at < end && depth >= 0; at++)
		depth += (*at == '(') - (*at == ')');
	return depth == 0;
}

/* perf script -F without dso writes none. */
static void cut_module(char *text, size_t len, char *module, struct perf_frame *frame)
{
	frame->module = "";
	if (!module) {
		text[len] = '\0';
		return;
	}
	text[len - 1] = '\0';
	module[-1] = '\0';
	frame->module = module + 1;
}

bool perf_line_frame(char *text, struct perf_frame *ret_frame)
{
	struct perf_frame frame = {0};
	size_t len = strlen(text);
	char *at = text + strspn(text, " \t");
	char *end = at + strcspn(at, " \t");
	char *name;
	char *module;

	while (len && is_blank(text[len - 1]))
		len--;
	if (at == text || !take_hex(at, end, &frame.addr))
		return false;
	if (text + len <= end && end - text >= ADDRESS_COLUMNS) {
		frame.name = "[unknown]";
		frame.module = "";
		*ret_frame = frame;
		return true;
	}
	if (!is_blank(*end))
		return false;
	name = end + strspn(end, " \t");
	if (text + len <= name)
		return false;
	module = text[len - 1] == ')' ? find_module(name, text + len) : NULL;
	if (module ? module - 1 <= name : !is_whole(name, text + len))
		return false;
	cut_module(text, len, module, &frame);
	frame.inlined = strcmp(frame.module, "inlined") == 0;
	split_offset(name, &frame);
	if (frame.inlined) {
		/* perf prints how far it is in the function around it, which tells nothing */
		frame.module = "";
		frame.has_offset = false;
		frame.offset = 0;
	}
	if (strpbrk(name, "<\\"))
		markup_restore(name);
	if (module && strpbrk(module, "<\\"))
		markup_restore(module);
	frame.name = name;
	*ret_frame = frame;
	return true;
}

bool perf_line_head_frame(struct perf_head *head, struct perf_frame *ret_frame)
{
	char *text = head->rest;

	if (!is_address(text))
		return false;
	/* -F addr and weight put more numbers before the address */
	for (char *next = word_after(text).end; is_address(next); next = word_after(next).end)
		text = next;
	return perf_line_frame(text, ret_frame);
}

/* `file.c:12`, `file.c:12 (inlined)`, or `module[addr]` where the line is not known */
static bool is_source_line(const char *at)
{
	static const char inlined[] = " (inlined)";
	size_t len = strlen(at);
	const char *colon = strrchr(at, ':');

	if (len > strlen(inlined) && strcmp(at + len - strlen(inlined), inlined) == 0)
		len -= strlen(inlined);
	if (at[len - 1] == ']')
		return memchr(at, '[', len) != NULL;
	return colon && colon > at && colon + 1 < at + len &&
	       colon + 1 + strspn(colon + 1, "0123456789") == at + len;
}

bool perf_line_is_aside(const char *text)
{
	if (text[0] == ' ' && text[1] == ' ' && text[2] && !is_blank(text[2]))
		return is_source_line(text + 2);
	return strstr(text, side_band) != NULL && strstr(text, ": ") != NULL;
}

static bool take_signed(const char **at, int64_t *ret_value)
{
	const char *digits = *at + (**at == '-');
	const char *end = digits;
	uint64_t value;

	while (is_digit(*end))
		end++;
	if (!take_dec(digits, end, &value) || value > INT64_MAX)
		return false;
	*ret_value = **at == '-' ? -(int64_t)value : (int64_t)value;
	*at = end;
	return true;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *perf_line_decode(char *text)
{
	char *to = text;

	for (char *at = text; *at; at++) {
		int high = *at == '%' ? hex_digit(at[1]) : -1;
		int low = high >= 0 ? hex_digit(at[2]) : -1;

		if (low >= 0 && (high || low)) {
			*to++ = (char)(high << 4 | low);
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return text;
}

static bool put_metric(struct perf_facts *facts, const struct perf_metric *metric)
{
	if (facts->n_metrics == PERF_LINE_MAX_METRICS)
		return false;
	facts->metrics[facts->n_metrics++] = *metric;
	return true;
}

/* NAME=VALUE,DELTA, from VALUE on. */
static bool add_metric(struct perf_facts *facts, const char *name, const char *text)
{
	struct perf_metric metric = {.name = name};

	if (!*name || !take_signed(&text, &metric.value) || *text++ != ',')
		return false;
	return take_signed(&text, &metric.delta) && !*text && put_metric(facts, &metric);
}

static void add_word(struct perf_facts *facts, const char *name, char *value)
{
	if (facts->n_words < PERF_LINE_MAX_WORDS && *name)
		facts->words[facts->n_words++] =
			(struct perf_word){.name = name, .value = perf_line_decode(value)};
}

void perf_line_facts(char *text, struct perf_facts *facts)
{
	char *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (strcmp(word, "st") == 0)
			facts->state = equals + 1;
		else if (strcmp(word, "wait") == 0)
			facts->wait = perf_line_decode(equals + 1);
		else if (strcmp(word, "on") == 0)
			facts->object = perf_line_decode(equals + 1);
		else if (strcmp(word, "comm") == 0)
			facts->comm = perf_line_decode(equals + 1);
		else if (!add_metric(facts, word, equals + 1))
			add_word(facts, word, equals + 1);
	}
}

/* What a name of the inline dialect is made of. */
static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* NAME: VALUE, DELTA; where it ends, or NULL when it is no such thing. */
static char *take_inline(char *name, struct perf_facts *facts)
{
	static const char own[] = "wick_";
	struct perf_metric metric = {0};
	char *colon = name;
	const char *at;

	while (is_word(*colon) || *colon == '-')
		colon++;
	if (colon == name || *colon != ':' || !is_blank(colon[1]))
		return NULL;
	at = colon + 2;
	if (!take_signed(&at, &metric.value))
		return NULL;
	at = skip_blanks(at);
	if (*at++ != ',')
		return NULL;
	at = skip_blanks(at);
	if (!take_signed(&at, &metric.delta) || (*at && !is_blank(*at)))
		return NULL;
	if (strncmp(name, own, sizeof(own) - 1) == 0 && colon - name >= (ptrdiff_t)sizeof(own))
		name += sizeof(own) - 1;
	*colon = '\0';
	metric.name = name;
	facts->from_head |= put_metric(facts, &metric);
	return colon + (at - colon);
}

void perf_line_inline_facts(char *text, struct perf_facts *facts)
{
	static const char prefix[] = "metric_";
	char *at = text;

	while ((at = strstr(at, prefix)) != NULL) {
		bool begins = at == text || !is_word(at[-1]);
		char *end;

		at += sizeof(prefix) - 1;
		end = begins ? take_inline(at, facts) : NULL;
		if (end)
			at = end;
	}
}
