/* perf_line.c - parses single lines of perf-script text; every one is hostile */
#include "flamescope/text/text.h"

#include "output/text/perf_script.h"

#include <stdio.h>
#include <string.h>

/* perf prints "%16lx" after at least one blank. */
enum { ADDRESS_COLUMNS = 17 };

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

/* How often a sample counts; what there is no room for is the most that there is. */
static bool take_period(const char *at, const char *end, uint64_t *ret_period)
{
	for (const char *digit = at; digit < end; digit++)
		if (!is_digit(*digit))
			return false;
	if (at < end && !take_dec(at, end, ret_period))
		*ret_period = UINT64_MAX;
	return at < end;
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

/* `12345.678901:` as ns, or `12345:` if WHOLE; further than nanoseconds is passed over. */
static bool take_time(const char *at, const char *end, bool whole, uint64_t *ret_ns)
{
	const char *dot;
	uint64_t seconds;
	uint64_t part = 0;
	uint64_t scale = 100000000;

	if (end - at < 2 || end[-1] != ':')
		return false;
	end--;
	dot = memchr(at, '.', (size_t)(end - at));
	if (!dot != whole || (dot && dot + 1 == end) || !take_dec(at, dot ? dot : end, &seconds))
		return false;
	for (const char *digit = dot ? dot + 1 : end; digit < end; digit++, scale /= 10) {
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

/* `K`, `Sp`, `d.h.`: what perf script -F misc and tracers print before the time. */
static bool is_flags(struct word word)
{
	uint64_t number;

	return word.start < word.end && *word.start != '[' &&
	       !take_dec(word.start, word.end, &number);
}

/* The cpu, and pid/tid or tid before it; where those begin. */
static bool take_cpu_and_ids(char *line, struct word word, struct perf_head *head, char **ret_ids)
{
	uint64_t cpu;
	char *slash;

	head->cpu = -1;
	head->pid = -1;
	if (is_cpu(word)) {
		if (take_dec(word.start + 1, word.end - 1, &cpu) && cpu <= INT32_MAX)
			head->cpu = (int64_t)cpu;
		word = word_before(line, word.start);
	}
	slash = memchr(word.start, '/', (size_t)(word.end - word.start));
	if (slash && !take_id(word.start, slash, &head->pid))
		return false;
	/* `4000/4001  ` may have been padded after the slash: "4000/ 4001" is not perf's */
	*ret_ids = word.start;
	return take_id(slash ? slash + 1 : word.start, word.end, &head->tid);
}

static bool take_ids(char *line, char *time, struct perf_head *head, char **ret_ids)
{
	struct word word = word_before(line, time);

	return take_cpu_and_ids(line, word, head, ret_ids) ||
	       (is_flags(word) &&
		take_cpu_and_ids(line, word_before(line, word.start), head, ret_ids));
}

static bool take_hex(const char *at, const char *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (at == end || end - at > 16)
		return false;
	for (; at < end; at++) {
		const unsigned digit = (unsigned char)*at - '0';
		const unsigned letter = ((unsigned char)*at | 0x20U) - 'a';

		if (digit > 9 && letter > 5)
			return false;
		value = value << 4 | (digit <= 9 ? digit : letter + 10);
	}
	*ret_value = value;
	return true;
}

/* Whether an address is printed here, right-aligned as perf does. */
static bool is_address(const char *text)
{
	const char *at = text + strspn(text, " \t");
	const char *end = at + strcspn(at, " \t");
	uint64_t address;

	return end - text >= ADDRESS_COLUMNS && take_hex(at, end, &address);
}

static struct word word_after(char *text)
{
	struct word word;

	word.start = text + strspn(text, " \t");
	word.end = word.start + strcspn(word.start, " \t");
	return word;
}

/* The colon that ends an event's name, which may hold blanks; NULL: there is none. */
static char *end_of_event(struct word word)
{
	char *colon = word.start;

	/* what perf script --show-mmap-events prints looks like an event, and is none */
	if (strncmp(word.start, side_band, strlen(side_band)) == 0)
		return NULL;
	while ((colon = strchr(colon, ':')) && colon[1] && !is_blank(colon[1]))
		colon++;
	return colon;
}

/* `period event:` or `event:`, or nothing (perf script -F without event); after it the rest. */
static bool take_event(char *text, struct perf_head *head)
{
	struct word word = word_after(text);
	struct word next = word_after(word.end);
	uint64_t period;
	char *colon;

	head->period = 1;
	/* a period alone has a blank after it; without one the line was cut there */
	if (take_period(word.start, word.end, &period) && *word.end &&
	    (!is_address(text) || is_address(word.end) ||
	     (next.end > next.start && end_of_event(next) == next.end - 1))) {
		head->period = period;
		text = word.end;
		word = next;
	}
	head->event = "";
	head->rest = text;
	if (!*word.start || is_address(text))
		return true;
	colon = end_of_event(word);
	if (!colon)
		return false;
	head->event = word.start;
	head->rest = colon[1] ? colon + 2 : colon + 1;
	colon[0] = '\0';
	return true;
}

/* A thread without a name has its number for one, as perf calls those that it does not know. */
static const char *take_comm(char *line, char *ids, const char *end, const struct perf_head *head)
{
	char *comm_end = ids;

	while (comm_end > line && is_blank(comm_end[-1]))
		comm_end--;
	if (comm_end > line) {
		*comm_end = '\0';
		return line;
	}
	/* the number and the time, both of which are known by now, leave room for it */
	(void)snprintf(ids, (size_t)(end - ids), ":%lld", (long long)head->tid);
	return ids;
}

/* The time is the first word with that shape which has ids before it and an event after it. */
static bool find_head(char *line, bool whole, struct perf_head *ret_head)
{
	struct perf_head head = {0};
	char *at = line;
	char *ids;

	for (;;) {
		char *end;

		at += strcspn(at, " \t");
		at += strspn(at, " \t");
		if (!*at)
			return false;
		end = at + strcspn(at, " \t");
		if (take_time(at, end, whole, &head.time_ns) && take_ids(line, at, &head, &ids) &&
		    take_event(end, &head)) {
			head.comm = take_comm(line, ids, end, &head);
			*ret_head = head;
			return true;
		}
		at = end;
	}
}

bool perf_line_head(char *text, struct perf_head *ret_head)
{
	char *line = text + strspn(text, " \t");

	/* names may hold a number and a colon (`w 12: x`): a time with a fraction is preferred */
	return find_head(line, false, ret_head) || find_head(line, true, ret_head);
}

/* Whether all that is opened is closed; a line that was cut in its module is no name. */
static bool is_whole(const char *at, const char *end)
{
	int depth = 0;

	for (; at < end && depth >= 0; at++)
		depth += (*at == '(') - (*at == ')');
	return depth == 0;
}

/* The "(" that the ")" at the end closes. */
static char *find_opening(char *from, char *end)
{
	int depth = 0;

	for (char *at = end; at > from; at--) {
		if (at[-1] == ')')
			depth++;
		else if (at[-1] == '(' && --depth == 0)
			return at - 1;
	}
	return NULL;
}

/* The module's parenthesis has a blank before it. */
static char *find_module(char *from, char *end)
{
	char *at = find_opening(from, end);

	if ((at && at[-1] == ' ') || is_whole(from, end))
		return at && at[-1] == ' ' ? at : NULL;
	/* one in the name of the file has no partner */
	for (at = end - 1; at >= from; at--)
		if (*at == '(' && at[-1] == ' ')
			return at;
	return NULL;
}

/* name+0xoff: the last of them, with nothing but digits after it. */
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
	if (!take_hex(at, end, &frame.addr))
		return false;
	if (text + len <= end && end - text >= ADDRESS_COLUMNS) {
		frame.name = "[unknown]";
		frame.module = "";
		*ret_frame = frame;
		return true;
	}
	name = end + strspn(end, " \t");
	if (text + len <= name)
		return false;
	module = text[len - 1] == ')' ? find_module(name, text + len) : NULL;
	/* what is not indented may be anything, but for its module */
	if (!module && (at == text || !is_whole(name, text + len)))
		return false;
	cut_module(text, len, module, &frame);
	frame.inlined = strcmp(frame.module, "inlined") == 0;
	if (module != name)
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
	frame.name = module != name ? name : "[unknown]";
	*ret_frame = frame;
	return true;
}

/* The arrow between a caller and what was inlined into it; not that of C++ or Rust. */
static const char *find_arrow(const char *name)
{
	static const char operator[] = "operator";
	size_t n = sizeof(operator) - 1;
	int depth = 0;

	if (!strstr(name, "->"))
		return NULL;
	for (const char *at = name; *at; at++) {
		depth += (*at == '(') - (*at == ')');
		if (at[0] != '-' || at[1] != '>' || at == name || depth)
			continue;
		if (at[2] && at[2] != '*' && !is_blank(at[2]) && !is_blank(at[-1]) &&
		    ((size_t)(at - name) < n || memcmp(at - n, operator, n) != 0))
			return at;
	}
	return NULL;
}

bool perf_line_is_unfolded(const char *name)
{
	return find_arrow(name) != NULL;
}

size_t perf_line_unfold(const struct perf_frame *frame, struct perf_frame *frames, size_t max)
{
	char *name = (char *)(uintptr_t)frame->name; /* it stands in the line */
	const char *arrow = find_arrow(name);
	size_t n = 1;

	for (const char *at = arrow; at; at = find_arrow(at + 2))
		n++;
	/* the outermost comes first in the name, and last of the frames */
	for (size_t i = n; i-- > 0;) {
		if (i < max && i + 1 == n)
			frames[i] = *frame;
		else if (i < max)
			frames[i] = (struct perf_frame){
				.addr = frame->addr, .name = name, .module = "", .inlined = true};
		if (!arrow)
			break;
		name[arrow - name] = '\0';
		name += strlen(name) + 2;
		arrow = find_arrow(name);
	}
	return n;
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

bool perf_line_is_side_band(const char *text)
{
	return strstr(text, side_band) != NULL && strstr(text, ": ") != NULL;
}

bool perf_line_is_aside(const char *text)
{
	if (text[0] == ' ' && text[1] == ' ' && text[2] && !is_blank(text[2]))
		return is_source_line(text + 2);
	return perf_line_is_side_band(text);
}
