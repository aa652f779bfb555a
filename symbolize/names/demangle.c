/* demangle.c - readable names, through libiberty */
#include "symbolize/names/demangle.h"

#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MAX_MANGLED = 64 * 1024, MAX_READABLE = 32 * 1024, MAX_TIDIED = 8 * 1024 };
/* Words that are not ASCII take the square of their length: no compiler writes so long a name. */
enum { MAX_RUST = 8 * 1024 };

/*
 * A short name can take libiberty 2^60 steps, so each thread that demangles has a timer on its CPU
 * clock.  A name that has seen SLOW_TICKS of it, 8 to 12 ms, is abandoned; real ones take 2 us, the
 * slowest 0.2 ms.  What all names of an origin may take is PATIENCE_TICKS, and a tick for every
 * NAMES_A_TICK: 20 us a name.  Once slow names have taken a second, all together, an origin whose
 * names are slow as well gets no more than one of them.
 */
#define TICK_NS 4000000
enum { SLOW_TICKS = 3, PATIENCE_TICKS = 25, NAMES_A_TICK = 200, HOSTILE_TICKS = 250 };

/* What compilers append to the name of a part or a copy of a function. */
static const char *const PARTS[] = {".cold", ".part", ".isra", ".constprop"};

/* A thread's name under way. */
struct demangler {
	timer_t timer;
	bool made;
	volatile bool armed;
	volatile bool begun;     /* a name, since the last tick */
	volatile bool under_way; /* it is */
	volatile bool allocates; /* libiberty may be inside malloc() */
	volatile unsigned ticks; /* that it has seen */
	sigjmp_buf out;
	size_t len;
	char text[MAX_READABLE + 1];
	uint16_t closing[MAX_TIDIED]; /* of parentheses in it */
};

static _Thread_local struct demangler *own; /* NULL until the thread's first name */
static pthread_once_t demanglers_begin = PTHREAD_ONCE_INIT;
static pthread_key_t demanglers;
static bool demanglers_fail;
static _Atomic unsigned hostile_ticks; /* of names that were abandoned */

/* Of the program and the libraries linked into it.  malloc() is in another. */
extern const char __executable_start[]; /* NOLINT(readability-identifier-naming) */
extern const char etext[];

static bool in_own_code(const void *context)
{
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	uintptr_t pc = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#endif

	return pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}

static void arm(struct demangler *demangler, long tick_ns)
{
	const struct itimerspec every = {{0, tick_ns}, {0, tick_ns}};

	demangler->armed = timer_settime(demangler->timer, 0, &every, NULL) == 0 && tick_ns;
}

/* Leaving by a jump is safe: libiberty holds nothing but memory for a word that is not ASCII. */
static void on_tick(int number, siginfo_t *info, void *context)
{
	struct demangler *demangler = own;
	int saved = errno;

	(void)number;
	if (info->si_code != SI_TIMER || !demangler || info->si_value.sival_ptr != demangler)
		return;
	if (demangler->under_way) {
		demangler->ticks += 1 + (unsigned)info->si_overrun;
		if (demangler->ticks >= SLOW_TICKS &&
		    (!demangler->allocates || in_own_code(context)))
			siglongjmp(demangler->out, ETIME); /* NOLINT(cert-err52-cpp) */
	} else if (!demangler->begun) {
		arm(demangler, 0);
	}
	demangler->begun = false;
	errno = saved;
}

static void demangler_free(void *context)
{
	struct demangler *demangler = context;

	own = NULL;
	if (demangler->made)
		(void)timer_delete(demangler->timer);
	free(demangler);
}

static void begin_demanglers(void)
{
	/* The handler returns by a jump, which keeps the mask: the signal is not to be in it. */
	struct sigaction action = {.sa_sigaction = on_tick,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};

	demanglers_fail = pthread_key_create(&demanglers, demangler_free) != 0 ||
			  sigaction(SIGVTALRM, &action, NULL) < 0;
}

/* The thread's, or NULL when there can be none. */
static struct demangler *demangler_get(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
	struct demangler *demangler;
	sigset_t set;

	if (own)
		return own;
	(void)pthread_once(&demanglers_begin, begin_demanglers);
	demangler = demanglers_fail ? NULL : calloc(1, sizeof(*demangler));
	if (!demangler)
		return NULL;
	event.sigev_value.sival_ptr = demangler;
	event._sigev_un._tid = gettid();
	demangler->made = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &demangler->timer) == 0;
	if (!demangler->made || pthread_setspecific(demanglers, demangler) != 0) {
		demangler_free(demangler);
		return NULL;
	}
	own = demangler;
	sigemptyset(&set);
	sigaddset(&set, SIGVTALRM);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return demangler;
}

/* A callback cannot stop libiberty by its return value, so a full buffer ends it by a jump too. */
static void append(const char *text, size_t len, void *context)
{
	struct demangler *demangler = context;
	size_t room = MAX_READABLE - demangler->len;

	memcpy(demangler->text + demangler->len, text, len < room ? len : room);
	demangler->len += len < room ? len : room;
	if (len >= room)
		siglongjmp(demangler->out, E2BIG); /* NOLINT(cert-err52-cpp) */
}

/* "17h" and 16 hexadecimal digits before the E: rustc's mangling before v0. */
static bool is_rust_legacy(const char *name, size_t len)
{
	if (len < 24 || name[len - 1] != 'E' || memcmp(name + len - 20, "17h", 3) != 0)
		return false;
	for (size_t i = len - 17; i < len - 1; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	return true;
}

/* Where the mangled name ends and what was appended to it begins. */
static size_t mangled_len(const char *name)
{
	size_t len = strcspn(name, "@");
	const char *dot = memchr(name, '.', len);

	/* In legacy Rust names dots are part of paths; there the hash ends the name. */
	while (dot && len - (size_t)(dot - name) > 1) {
		if (strncmp(dot, ".llvm.", 6) == 0)
			return (size_t)(dot - name);
		for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
			if (strncmp(dot, PARTS[i], strlen(PARTS[i])) == 0)
				return (size_t)(dot - name);
		dot = memchr(dot + 1, '.', len - (size_t)(dot + 1 - name));
	}
	return len;
}

static void add(struct demangler *demangler, const char *text, size_t len)
{
	size_t room = MAX_READABLE - demangler->len;

	len = len < room ? len : room;
	memcpy(demangler->text + demangler->len, text, len);
	demangler->len += len;
}

/* ".cold", ".part.0" and the like stay, ".llvm.123" and "@VERSION" go. */
static void append_parts(struct demangler *demangler, const char *suffix)
{
	while (*suffix == '.') {
		size_t word = 1 + strcspn(suffix + 1, ".@");
		size_t len = word;

		while (suffix[len] == '.' && isdigit((unsigned char)suffix[len + 1]))
			len += 1 + strcspn(suffix + len + 1, ".@");
		for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
			if (strlen(PARTS[i]) == word && strncmp(suffix, PARTS[i], word) == 0)
				add(demangler, suffix, len);
		suffix += len;
	}
	if (strcmp(suffix, "@plt") == 0)
		add(demangler, suffix, strlen(suffix));
}

/* Could a word in it not be ASCII?  Its letters are the only memory that libiberty takes. */
static bool may_allocate(const char *name)
{
	for (const char *at = strchr(name, 'u'); at; at = strchr(at + 1, 'u'))
		if (isdigit((unsigned char)at[1]))
			return true;
	return false;
}

static bool read_name(struct demangler *demangler, const char *name, size_t len, int options)
{
	bool v0 = strncmp(name, "_R", 2) == 0;

	demangler->allocates = v0 && may_allocate(name);
	if ((v0 || is_rust_legacy(name, len)) &&
	    rust_demangle_callback(name, 0, append, demangler) && demangler->len > 0)
		return true;
	demangler->len = 0;
	return !v0 && cplus_demangle_v3_callback(name, options, append, demangler) &&
	       demangler->len > 0;
}

/* Into DEMANGLER->text.  Return: 0; EINVAL: it is not mangled; ETIME; E2BIG. */
static int read_in_time(struct demangler *demangler, const char *name, size_t len, int options)
{
	int jumped;

	demangler->len = 0;
	demangler->ticks = 0;
	jumped = sigsetjmp(demangler->out, 0); /* NOLINT(cert-err52-cpp) */
	if (jumped == 0) {
		bool read;

		demangler->begun = true;
		demangler->under_way = true;
		/* Not sooner: a tick before may have disarmed it. */
		if (!demangler->armed)
			arm(demangler, TICK_NS);
		read = demangler->armed && read_name(demangler, name, len, options);
		demangler->under_way = false;
		return read ? 0 : demangler->armed ? EINVAL : ETIME;
	}
	demangler->under_way = false;
	return jumped;
}

/* Where the parenthesis that closes each is, in CLOSING; 0: nothing closes it. */
static void match_groups(const char *text, size_t len, uint16_t *closing)
{
	size_t open =
		0; /* the last that closes one and has not met it; CLOSING has the one before */

	for (size_t at = len; at-- > 0;) {
		if (text[at] == ')') {
			closing[at] = (uint16_t)open;
			open = at;
		} else if (text[at] == '(') {
			closing[at] = (uint16_t)open;
			open = open ? closing[open] : 0;
		}
	}
}

/* What a method says of itself after its parameters. */
static char *after_qualifiers(char *at)
{
	static const char *const WORDS[] = {" const", " volatile", " &&", " &"};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strncmp(at, WORDS[i], strlen(WORDS[i])) == 0)
			at += strlen(WORDS[i]);
	return at;
}

static bool ends_with(const char *text, const char *at, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(at - text) >= len && memcmp(at - len, word, len) == 0;
}

/*
 * Where the parameters that end at END end with what follows, if they are a lambda's, a scope's or
 * a thunk's.  What comes before them is [TEXT, TO) by now.
 */
static char *after_parameters(const char *text, const char *to, char *end, bool thunk)
{
	char *next = after_qualifiers(end);

	if (to == text || ends_with(text, to, "operator"))
		return NULL;
	if (ends_with(text, to, "{lambda") && *end == '#')
		return end;
	if (!isalnum((unsigned char)to[-1]) && !strchr("_>)]}", to[-1]))
		return NULL;
	return strncmp(next, "::", 2) == 0 || (thunk && *next == '\0') ? next : NULL;
}

/*
 * The parameters of the function itself are not requested; those inside the name go here:
 * "run(int)::{lambda(char)#1}" is "run::{lambda#1}".
 */
static void drop_parameters(struct demangler *demangler)
{
	char *text = demangler->text;
	char *to = text;
	bool thunk = strstr(text, "virtual thunk to ") != NULL;

	match_groups(text, demangler->len, demangler->closing);
	for (char *at = text; *at;) {
		size_t closes = *at == '(' ? demangler->closing[at - text] : 0;
		char *end = closes ? after_parameters(text, to, text + closes + 1, thunk) : NULL;

		if (end)
			at = end;
		else
			*to++ = *at++;
	}
	*to = '\0';
	demangler->len = (size_t)(to - text);
}

/* Have the names of this origin taken so long that no more of them is tried? */
static bool is_spent(const struct demangle_budget *budget)
{
	unsigned ticks = atomic_load_explicit(&budget->ticks, memory_order_relaxed);
	unsigned patience =
		atomic_load_explicit(&hostile_ticks, memory_order_relaxed) < HOSTILE_TICKS
			? PATIENCE_TICKS
			: SLOW_TICKS;

	return ticks >= patience &&
	       ticks - patience >=
		       atomic_load_explicit(&budget->n_names, memory_order_relaxed) / NAMES_A_TICK;
}

static void charge(struct demangle_budget *budget, unsigned ticks, bool abandoned)
{
	(void)atomic_fetch_add_explicit(&budget->n_names, 1, memory_order_relaxed);
	if (!ticks)
		return;
	(void)atomic_fetch_add_explicit(&budget->ticks, ticks, memory_order_relaxed);
	if (abandoned)
		(void)atomic_fetch_add_explicit(&hostile_ticks, ticks, memory_order_relaxed);
}

static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	       strnlen(name, MAX_MANGLED + 1) <= (name[1] == 'R' ? MAX_RUST : MAX_MANGLED);
}

static int make_readable(struct demangler *demangler, const char *name, bool full)
{
	size_t len = mangled_len(name);
	char *mangled = name[len] ? strndup(name, len) : NULL;
	int r = ENOMEM;

	if (mangled || !name[len])
		r = read_in_time(demangler, mangled ? mangled : name, len,
				 full ? DMGL_PARAMS | DMGL_ANSI : 0);
	free(mangled);
	if (r != 0)
		return -r;
	append_parts(demangler, name + len);
	demangler->text[demangler->len] = '\0';
	if (!full && demangler->len <= MAX_TIDIED) /* longer ones are too long to read */
		drop_parameters(demangler);
	return 0;
}

int demangle(const char *name, bool full, struct demangle_budget *budget, char **ret_readable)
{
	struct demangler *demangler;
	int r;

	/* Mach-O's extra underscore travels with some compilers' JIT maps. */
	if (strncmp(name, "__Z", 3) == 0 || strncmp(name, "__R", 3) == 0)
		name++;
	if (!may_be_mangled(name))
		return -EINVAL;
	if (is_spent(budget))
		return -EDQUOT;
	demangler = demangler_get();
	if (!demangler)
		return -EDQUOT;
	r = make_readable(demangler, name, full);
	charge(budget, demangler->ticks, r == -ETIME || r == -E2BIG);
	if (r < 0)
		return r;
	*ret_readable = strdup(demangler->text);
	return *ret_readable ? 0 : -ENOMEM;
}
