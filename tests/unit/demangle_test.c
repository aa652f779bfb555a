/* demangle_test.c - names that compilers made, and malformed names */
#include "symbolize/names/demangle.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* A mangled name and what it says; NULL: it is no mangled name and stays as it is. */
struct pair {
	const char *mangled;
	const char *readable;
};

static const struct pair PAIRS[] = {
	/* Plain names. */
	{"main", NULL},
	{"_start", NULL},
	{"_ZZZ", NULL},
	{"_Z", NULL},
	{"_R", NULL},
	{"_Zombie", NULL},
	{"_Random_name", NULL},
	{"", NULL},
	{"@@", NULL},
	{"_Z3foo.unknown.1", "foo"},
	/* Functions and methods. */
	{"_Z3foov", "foo"},
	{"_Z3foo", "foo"},
	{"_ZN1a1b1cEv", "a::b::c"},
	{"_ZNK1a1b1cEi", "a::b::c"},
	{"_ZN3FooC1Ev", "Foo::Foo"},
	{"_ZN3FooC2ERKS_", "Foo::Foo"},
	{"_ZN3FooD0Ev", "Foo::~Foo"},
	{"_ZN3FooplERKS_", "Foo::operator+"},
	{"_ZN3FoocvbEv", "Foo::operator bool"},
	{"_ZN3FooclEi", "Foo::operator()"},
	{"_ZN3FoontEv", "Foo::operator!"},
	{"_ZN3FooptEv", "Foo::operator->"},
	{"_ZN3FooixEm", "Foo::operator[]"},
	{"_Znwm", "operator new"},
	{"_ZdlPvm", "operator delete"},
	{"_Zli2_wPKc", "operator\"\" _w"},
	/* Templates: return types and parameters go, arguments stay. */
	{"_ZN2ns1SIiE6methodEi", "ns::S<int>::method"},
	{"_Z3maxIiET_S0_S0_", "max<int>"},
	{"_ZNKSt8functionIFviEEclEi", "std::function<void (int)>::operator()"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
	{"_ZNSt8_Rb_treeISsSt4pairIKSsiESt10_Select1stIS2_ESt4lessISsESaIS2_EE5clearEv",
	 "std::_Rb_tree<std::string, std::pair<std::string const, int>, "
	 "std::_Select1st<std::pair<std::string const, int> >, std::less<std::string>, "
	 "std::allocator<std::pair<std::string const, int> > >::clear"},
	{"_Z1fIJidEEvDpT_", "f<int, double>"},
	{"_Z1fILi42EEvv", "f<42>"},
	{"_Z1fIPFviEEvT_", "f<void (*)(int)>"},
	/* Anonymous namespaces, lambdas, local names, abi tags, special names. */
	{"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
	{"_ZN1a12_GLOBAL__N_11b3barEi", "a::(anonymous namespace)::b::bar"},
	{"_ZZ4mainENKUlvE_clEv", "main::{lambda#1}::operator()"},
	{"_ZZ4mainENKUliE0_clEi", "main::{lambda#2}::operator()"},
	{"_ZZN2ns3runEvENKUlvE_clEv", "ns::run::{lambda#1}::operator()"},
	{"_ZZZNK2ns3run4callEiENKUlcE_clEcENKUlvE0_clEv",
	 "ns::run::call::{lambda#1}::operator()::{lambda#2}::operator()"},
	{"_Z5applyIZ4mainEUliE_EvT_", "apply<main::{lambda#1}>"},
	{"_ZZ4mainEN5Local3runEv", "main::Local::run"},
	{"_ZN3foo3barB5cxx11Ev", "foo::bar[abi:cxx11]"},
	{"_ZTV3Foo", "vtable for Foo"},
	{"_ZThn16_N3Foo3barEv", "non-virtual thunk to Foo::bar"},
	{"_ZGVZ3foovE1x", "guard variable for foo::x"},
	{"_ZSteqIcEN9__gnu_cxx11__enable_ifIXsr9__is_charIT_EE7__valueEbE6__typeERKSbIS2_St11char_"
	 "traitsIS2_ESaIS2_EESA_",
	 "std::operator==<char>"},
	/* Parts and copies stay told apart, link-time noise goes. */
	{"_Z3foov.cold", "foo.cold"},
	{"_Z3foov.cold.5", "foo.cold.5"},
	{"_Z3foov.part.0", "foo.part.0"},
	{"_Z3foov.isra.0", "foo.isra.0"},
	{"_Z3foov.constprop.0", "foo.constprop.0"},
	{"_Z3foov.part.0.isra.0", "foo.part.0.isra.0"},
	{"_Z3foov.constprop.0.cold", "foo.constprop.0.cold"},
	{"_Z3foov.llvm.123456789", "foo"},
	{"_Z3foov.cold.llvm.123456789", "foo.cold"},
	{"_ZNSt9exceptionD1Ev@@GLIBCXX_3.4", "std::exception::~exception"},
	{"_Z3foov@plt", "foo@plt"},
	{"__Z3foov", "foo"},
	/* Rust, before v0: the hash goes. */
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
	{"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h1122334455667788E",
	 "std::rt::lang_start::{{closure}}"},
	{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h"
	 "930b740aa94f1d3aE",
	 "<Test + 'static as foo::Bar<Test>>::bar"},
	{"_ZN4main4main17he714a2e23ed7db23E.llvm.99", "main::main"},
	{"_ZN4main4main17he714a2e23ed7db23E.cold", "main::main.cold"},
	/* Rust v0. */
	{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	{"_RNvNtCs1234_7mycrate3mod3bar", "mycrate::mod::bar"},
	{"_RNCNvCs1234_7mycrate4main0B3_", "mycrate::main::{closure#0}"},
	{"_RINvCs1234_7mycrate3foolE", "mycrate::foo::<i32>"},
	{"_RNvCs1234_7mycrate3foo.llvm.42", "mycrate::foo"},
};

/* What is shown, or NULL: it stays as it is. */
static char *readable_of(const char *name, bool full)
{
	struct demangle_budget budget = {0};
	char *readable = NULL;

	(void)demangle(name, full, &budget, &readable);
	return readable;
}

static void reads_what_compilers_write(void **state)
{
	int n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++) {
		const struct pair *pair = &PAIRS[i];
		char *readable = readable_of(pair->mangled, false);
		bool right = pair->readable ? readable && strcmp(readable, pair->readable) == 0
					    : readable == NULL;

		if (!right)
			print_error("%s: is '%s', should be '%s'\n", pair->mangled,
				    readable ? readable : "(left alone)",
				    pair->readable ? pair->readable : "(left alone)");
		n_wrong += !right;
		free(readable);
	}
	assert_int_equal(n_wrong, 0);
}

/* PREFIX, then MIDDLE as often as it takes to reach LEN, then SUFFIX. */
static char *make(const char *prefix, const char *middle, const char *suffix, size_t len)
{
	size_t step = strlen(middle);
	char *name = malloc(strlen(prefix) + len + step + strlen(suffix) + 1);
	size_t at = strlen(prefix);

	assert_non_null(name);
	memcpy(name, prefix, at);
	for (; at < len; at += step)
		memcpy(name + at, middle, step);
	memcpy(name + at, suffix, strlen(suffix) + 1);
	return name;
}

static void leaves_names_that_are_too_long(void **state)
{
	char *name = make("_Z100000", "a", "v", 100 * 1024);

	(void)state;
	assert_null(readable_of(name, false));
	free(name);
}

static void survives_nesting_without_end(void **state)
{
	static const char *const NESTS[][2] = {
		{"_Z1f", "P"},    {"_Z1f", "PFv"},    {"_Z1fI", "1AI"},   {"_ZN", "N1a"},
		{"_Z1fDT", "ad"}, {"_RNv", "Nv"},     {"_RINv", "I"},     {"_RMC0", "R"},
		{"_Z1f", "F"},    {"_ZZ1f", "Z1gvE"}, {"_Z1fIXng", "ng"}, {"_RNvXC0", "T"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(NESTS) / sizeof(NESTS[0]); i++) {
		char *name = make(NESTS[i][0], NESTS[i][1], "v", 60 * 1024);

		/* Either answer is fine, as long as there is one. */
		free(readable_of(name, false));
		free(name);
	}
}

/* f of A, of a B of it twice, and STEPS times more of a B of the one before, twice. */
static void double_up(char *name, size_t size, int steps)
{
	static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = (size_t)snprintf(name, size, "_Z1fI1A1BIS0_S0_E");

	for (int i = 0; i < steps; i++)
		len += (size_t)snprintf(name + len, size - len, "S1_IS%c_S%c_E", DIGITS[i + 2],
					DIGITS[i + 2]);
	(void)snprintf(name + len, size - len, "EvT_");
}

static void bounds_names_that_double_with_every_step(void **state)
{
	char name[1024];
	char *readable;

	(void)state;
	double_up(name, sizeof(name), 2);
	readable = readable_of(name, false);
	assert_string_equal(readable, "f<A, B<A, A>, B<B<A, A>, B<A, A> >, "
				      "B<B<B<A, A>, B<A, A> >, B<B<A, A>, B<A, A> > > >");
	free(readable);
	/* 2^34 names if it were all written out: minutes. */
	double_up(name, sizeof(name), 33);
	for (int full = 0; full < 2; full++) {
		struct demangle_budget budget = {0};

		assert_int_equal(demangle(name, full, &budget, &readable), -E2BIG);
	}
	/* And the next name is none the worse for it. */
	readable = readable_of("_Z3foov", false);
	assert_string_equal(readable, "foo");
	free(readable);
}

static const char *times(char *to, const char *from, const char *middle, int n, const char *end)
{
	char *at = stpcpy(to, from);

	for (int i = 0; i < n; i++)
		at = stpcpy(at, middle);
	(void)stpcpy(at, end);
	return to;
}

/* S_, S0_, ... S9_, SA_, ... */
static char *substitution(char *to, int nth)
{
	static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char text[8] = "S_";

	if (nth > 36)
		(void)snprintf(text, sizeof(text), "S%c%c_", DIGITS[(nth - 1) / 36],
			       DIGITS[(nth - 1) % 36]);
	else if (nth > 0)
		(void)snprintf(text, sizeof(text), "S%c_", DIGITS[nth - 1]);
	return stpcpy(to, text);
}

/* A pack of none, sought in A<A<A<int, int>, the same>, the same>: nothing is printed before. */
static const char *search_packs(char *name, int depth)
{
	char *at = name + strlen(times(name, "_Z1fIDp", "1AI", depth, "ii"));

	for (int i = 0; i < depth; i++) {
		at = stpcpy(at, "E");
		if (i < depth - 1)
			at = substitution(at, depth + i + 1);
	}
	(void)stpcpy(at, "Evv");
	return name;
}

/* Arguments of a conversion's type are read, and read anew: twice at every level. */
static const char *read_twice(char *name, int depth)
{
	char ends[512];

	return times(name, "_Zcv", "T_I", depth, times(ends, "i", "E", depth, "v"));
}

static uint64_t cpu_ms(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* 2^64 lifetimes of a type that is not shown. */
#define LIFETIMES "_RNvMINvC1a1bFGzzzzzzzzz_EuEl3foo"

static void leaves_names_that_would_take_for_ever(void **state)
{
	static char packs[2048];
	static char twice[2048];
	const char *const names[] = {search_packs(packs, 60), read_twice(twice, 60), LIFETIMES};
	uint64_t began_ms = cpu_ms();
	char *readable;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it keeps signals until the thread calls something */
#endif
	for (size_t i = 0; i < 3; i++)
		for (int full = 0; full < 2; full++) {
			struct demangle_budget budget = {0};

			assert_int_equal(demangle(names[i], full, &budget, &readable), -ETIME);
		}
	assert_in_range(cpu_ms() - began_ms, 0, 200);
	/* The same that are small are read. */
	readable = readable_of(search_packs(packs, 2), false);
	assert_string_equal(readable, "f<(A<A<int, int>, A<int, int> >)...>");
	free(readable);
}

static void an_origin_has_so_much_patience(void **state)
{
	struct demangle_budget budget = {0};
	uint64_t began_ms = cpu_ms();
	char *readable = NULL;
	int n_tried = 0;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it keeps signals until the thread calls something */
#endif
	while (n_tried < 1000 && demangle(LIFETIMES, false, &budget, &readable) == -ETIME)
		n_tried++;
	assert_in_range(n_tried, 2, 25);
	assert_in_range(cpu_ms() - began_ms, 0, 400);
	assert_int_equal(demangle("_Z3foov", false, &budget, &readable), -EDQUOT);
	/* What is no mangled name is none here either. */
	assert_int_equal(demangle("main", false, &budget, &readable), -EINVAL);
	/* Many names that were fast make up for some that were not. */
	atomic_store(&budget.n_names, 1000 * 1000);
	assert_int_equal(demangle("_Z3foov", false, &budget, &readable), 0);
	free(readable);
}

/* As the loader has its threads: with no signal. */
static void *read_in_thread(void *context)
{
	struct demangle_budget budget = {0};
	char *readable = NULL;

	for (int i = 0; i < 3; i++)
		*(int *)context += demangle(LIFETIMES, false, &budget, &readable) == -ETIME;
	return NULL;
}

static void threads_leave_names_of_their_own(void **state)
{
	enum { N = 4 };
	int n_left[N] = {0};
	pthread_t threads[N];
	sigset_t all;
	sigset_t old;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it keeps signals until the thread calls something */
#endif
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (int i = 0; i < N; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &n_left[i]), 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < N; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(n_left[i], 3);
	}
}

/* Parentheses by the thousand, none of which is closed: linear. */
static void tidies_long_names_in_no_time(void **state)
{
	char *name = make("_ZN4core3", "$LP$", "17h0123456789abcdefE", 4 * 7000);
	uint64_t began_ms;
	char *readable;

	(void)state;
	(void)memcpy(name, "_ZN28000", 8);
	began_ms = cpu_ms();
	readable = readable_of(name, false);
	assert_in_range(cpu_ms() - began_ms, 0, 20);
	free(readable);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_compilers_write),
		cmocka_unit_test(leaves_names_that_are_too_long),
		cmocka_unit_test(survives_nesting_without_end),
		cmocka_unit_test(bounds_names_that_double_with_every_step),
		cmocka_unit_test(leaves_names_that_would_take_for_ever),
		cmocka_unit_test(an_origin_has_so_much_patience),
		cmocka_unit_test(threads_leave_names_of_their_own),
		cmocka_unit_test(tidies_long_names_in_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
