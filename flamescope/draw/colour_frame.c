/* colour_frame.c - which number of the palette a frame has: by its module, package, name or state
 */
#include "flamescope/draw/colour.h"

#include <string.h>

/* Where the parts of colour.c's list begin. */
enum {
	HUES_A_FAMILY = 4,
	HUE_UNKNOWN = 20,
	HUE_GROUP = 21,
	HUE_WORDS = 22,
	N_WORDS = 24,
	HUE_STATES = 46
};

const char *colour_by_word(unsigned by)
{
	static const char *const words[COLOUR_BYS] = {"family", "module", "package",
						      "name",   "state",  "none"};

	return by < COLOUR_BYS ? words[by] : NULL;
}

const char *colour_family_word(enum colour_family family)
{
	static const char *const words[COLOUR_FAMILIES] = {
		"program", "libraries", "libc", "kernel", "JIT code", "unknown", "group"};

	return words[family];
}

/* FNV-1a: the same colour in every picture. */
static uint32_t hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619U;
	return hash ^ hash >> 15;
}

/* Without a call: it is asked some ten times a frame, and calls are slow in a page. */
static bool begins(const char *text, const char *word)
{
	while (*word && *text == *word) {
		text++;
		word++;
	}
	return !*word;
}

static bool begins_with_one(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (begins(text, *words))
			return true;
	return false;
}

/* The name of a file, without its folders. */
static const char *file_of(const char *module)
{
	const char *slash = strrchr(module, '/');

	return slash && slash[1] ? slash + 1 : module;
}

/* `.so`, or `.ko`, as an ending of FILE or before a version; NULL: it has none. */
static const char *ending(const char *file, const char *word)
{
	const char *at = file;

	while ((at = strstr(at, word))) {
		char after = at[strlen(word)];

		if (after == '\0' || after == '.' || after == ' ')
			return at;
		at++;
	}
	return NULL;
}

static bool is_libc(const char *file)
{
	static const char *const words[] = {"ld-",        "ld.so",     "ld64.so", "libc.",
					    "libc-",      "libm.",     "libm-",   "libmvec",
					    "libpthread", "libdl.",    "libdl-",  "librt.",
					    "librt-",     "libresolv", "libnss_", NULL};

	return begins_with_one(file, words);
}

/* `[kernel.kallsyms]`, `[nf_tables]`; what is none of the kernel's is in brackets, too. */
static enum colour_family family_of_brackets(const char *module)
{
	static const char *const made[] = {"[anon", "[heap", "[stack", "[JIT", NULL};
	static const char *const vdso[] = {"[vdso", "[vsyscall", NULL};

	if (begins_with_one(module, vdso))
		return COLOUR_LIBC;
	return begins_with_one(module, made) ? COLOUR_JIT : COLOUR_KERNEL;
}

enum colour_family colour_family_of(const char *module)
{
	static const char *const made[] = {"//anon", "/memfd:", "anon_inode:", "/dev/zero", NULL};
	const char *file = file_of(module);

	if (!*module || begins(module, "[unknown]"))
		return COLOUR_UNKNOWN;
	if (*module == '[')
		return family_of_brackets(module);
	if (begins(file, "vmlinux") || ending(file, ".ko"))
		return COLOUR_KERNEL;
	if (begins_with_one(module, made) || begins(file, "jitted-") ||
	    (begins(file, "perf-") && strstr(file, ".map")))
		return COLOUR_JIT;
	if (!ending(file, ".so"))
		return COLOUR_PROGRAM;
	return is_libc(file) ? COLOUR_LIBC : COLOUR_LIBRARY;
}

/* What of a module stays the same from version to version, and from process to process. */
static uint32_t module_hash(const char *module)
{
	const char *file = file_of(module);
	const char *end = ending(file, ".so");

	if (colour_family_of(module) == COLOUR_JIT)
		return 0;
	return hash(file, end ? (size_t)(end - file) : strlen(file));
}

static bool is_separator(char c)
{
	return c && strchr(" <&*,[", c);
}

/* Before `::`: the outermost name, without what stands before it; NULL: there is none. */
static const char *find_scope(const char *name, size_t *ret_len)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *start = name;

	for (const char *at = name; *at; at++) {
		if (begins(at, anonymous)) {
			at += strlen(anonymous) - 1;
			start = at + 1;
		} else if (begins(at, "::")) {
			if (at > start) {
				*ret_len = (size_t)(at - start);
				return start;
			}
			start = at + 2;
			at++;
		} else if (*at == '(' || (*at == '<' && at > start)) {
			return NULL; /* arguments have scopes of their own */
		} else if (is_separator(*at)) {
			start = at + 1;
		}
	}
	return NULL;
}

/* `Ljava/util/HashMap;` is a class of java/util. */
static size_t java_scope(const char **start, size_t len)
{
	size_t end = len;

	if (len < 3 || **start != 'L' || (*start)[len - 1] != ';')
		return len;
	while (end > 1 && (*start)[end - 1] != '/')
		end--;
	++*start;
	return end > 1 ? end - 2 : len - 2;
}

/* Without a `:12` at its end: a line or a column. */
static size_t without_place(const char *text, size_t len)
{
	size_t end = len;

	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end < len && end && text[end - 1] == ':' ? end - 1 : len;
}

/* Of a script: `py::run:/app/job.py`, `JS:*emit node:events:466:35`. */
static const char *find_script(const char *name, size_t *ret_len)
{
	static const char *const words[] = {
		"JS:", "LazyCompile:", "Function:", "Script:", "Eval:", NULL};
	const char *at = begins(name, "py::")           ? strchr(name + 4, ':')
			 : begins_with_one(name, words) ? strrchr(name, ' ')
							: NULL;
	size_t len;

	if (!at)
		return NULL;
	at++;
	len = without_place(at, strlen(at));
	*ret_len = without_place(at, len);
	return *ret_len ? at : NULL;
}

/* What compilers add to a name of C. */
static bool is_copy(const char *after_dot)
{
	static const char *const words[] = {"constprop", "part",       "isra",  "cold", "llvm",
					    "lto_priv",  "localalias", "clone", NULL};

	return !*after_dot || strchr("0123456789", *after_dot) || begins_with_one(after_dot, words);
}

/* `net/http.(*conn).serve` of Go, `java.util.HashMap.get` of Java. */
static size_t dotted_length(const char *name)
{
	size_t part = strcspn(name, "(");
	size_t from = part;
	size_t end;

	while (from && name[from - 1] != '/')
		from--;
	end = from + strcspn(name + from, ".(");
	if (end == from || name[end] != '.' || is_copy(name + end + 1))
		return 0;
	for (size_t at = end;
	     !from && name[at] == '.' && name[at + 1] >= 'a' && name[at + 1] <= 'z';) {
		at += 1 + strcspn(name + at + 1, ".(");
		if (name[at] == '.' && name[at + 1] >= 'A' && name[at + 1] <= 'Z')
			return at;
	}
	return end;
}

size_t colour_package(const char *name, const char **ret_start)
{
	size_t len = 0;
	const char *start = find_script(name, &len);

	if (!start) {
		start = find_scope(name, &len);
		len = start ? java_scope(&start, len) : 0;
	}
	if (!start && *name != '[') {
		start = name;
		len = dotted_length(name);
	}
	*ret_start = start ? start : name;
	return len;
}

static unsigned number_of(unsigned hue, unsigned tone, bool inlined)
{
	return (hue * COLOUR_TONES + tone) * 2 + inlined;
}

static const char *const state_words[] = {"running", "runnable", "sleeping", "disk", "stopped"};

const char *colour_state_word(unsigned i)
{
	return i < sizeof(state_words) / sizeof(state_words[0]) ? state_words[i] : NULL;
}

static unsigned state_hue(const char *state)
{
	for (unsigned i = 0; colour_state_word(i); i++)
		if (strcmp(state, colour_state_word(i)) == 0)
			return HUE_STATES + i;
	return HUE_UNKNOWN;
}

static unsigned family_hue(enum colour_family family, uint32_t of_module)
{
	if (family == COLOUR_GROUP)
		return HUE_GROUP;
	return family == COLOUR_UNKNOWN ? HUE_UNKNOWN
					: family * HUES_A_FAMILY + of_module % HUES_A_FAMILY;
}

static unsigned hue_of(const struct colour_frame *frame, enum colour_by by)
{
	enum colour_family family = colour_family_of(frame->module);
	const char *package;
	size_t len;

	switch (by) {
	case COLOUR_BY_MODULE:
		return family == COLOUR_UNKNOWN ? HUE_UNKNOWN
						: HUE_WORDS + module_hash(frame->module) % N_WORDS;
	case COLOUR_BY_PACKAGE:
		len = colour_package(frame->name, &package);
		return len ? HUE_WORDS + hash(package, len) % N_WORDS : HUE_UNKNOWN;
	case COLOUR_BY_NAME:
		return HUE_WORDS + hash(frame->name, strlen(frame->name)) % N_WORDS;
	case COLOUR_BY_STATE:
		return state_hue(frame->state);
	case COLOUR_BY_NOTHING:
		return 0;
	default:
		return family_hue(family, module_hash(frame->module));
	}
}

bool colour_is_state(const char *word)
{
	return state_hue(word) != HUE_UNKNOWN;
}

unsigned colour_of_frame(const struct colour_frame *frame, enum colour_by by)
{
	unsigned tone = (hash(frame->name, strlen(frame->name)) >> 8) % COLOUR_TONES;

	if (frame->is_group && by == COLOUR_BY_STATE && colour_is_state(frame->name))
		return colour_of_state(frame->name);
	if (frame->is_group)
		return number_of(HUE_GROUP, 0, false);
	return number_of(hue_of(frame, by), tone, frame->inlined);
}

unsigned colour_of_family(enum colour_family family)
{
	return number_of(family_hue(family, 0), 0, false);
}

unsigned colour_of_state(const char *state)
{
	return number_of(state_hue(state), 0, false);
}
