/* names_test.c - which of two names is shown, and that one is made once */
#include "symbolize/names/names.h"

#include "symbolize/symbolize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool same(const char *symbol, const char *dwarf)
{
	struct names names = {.full = false};
	struct demangle_budget budget = {0};
	bool is_same = names_same_function(&names, symbol, dwarf, &budget);

	names_release(&names);
	return is_same;
}

static void parts_and_copies_are_the_function(void **state)
{
	(void)state;
	assert_true(same("work", "work"));
	assert_true(same("work.cold", "work"));
	assert_true(same("work.part.0", "work"));
	assert_true(same("work.isra.0", "work"));
	assert_true(same("work@@V_2", "work"));
	assert_true(same("_ZN2ns4workEi.constprop.0", "_ZN2ns4workEi"));
}

static void constructors_have_one_name(void **state)
{
	(void)state;
	assert_true(same("_ZN2ns1SC1Ei", "_ZN2ns1SC4Ei"));
	assert_true(same("_ZN2ns1SC2Ei", "_ZN2ns1SC4Ei"));
	assert_true(same("_ZN2ns1SD2Ev.cold", "_ZN2ns1SD4Ev"));
}

static void without_a_linkage_name_the_last_word_tells(void **state)
{
	(void)state;
	assert_true(same("_ZN12_GLOBAL__N_14workEi", "(anonymous namespace)::work"));
	assert_true(same("_ZN2ns1SIiE4workIlEEvT_", "ns::S<int>::work<long>"));
	assert_true(same("_ZZ4mainENKUlvE_clEv", "main::{lambda#1}::operator()"));
	assert_false(same("_ZN2ns5otherEi", "ns::work"));
}

static void names_of_merged_code_are_others(void **state)
{
	(void)state;
	assert_false(same("other", "work"));
	assert_false(same("workers", "work"));
	assert_false(same("work", "workers"));
	assert_false(same("_ZN2ns5otherEi", "_ZN2ns4workEi"));
	assert_false(same("other", "_ZN2ns4workEi"));
	assert_false(same("_ZN2ns4workEi", "_ZN2ns4workEl"));
	assert_false(same("", "work"));
}

static void parameters_are_shown_when_asked_for(void **state)
{
	struct names plain = {.full = false};
	struct names full = {.full = true};
	struct demangle_budget budget = {0};

	(void)state;
	assert_string_equal(names_readable(&plain, "_ZN2ns4workIiEEvT_l", &budget),
			    "ns::work<int>");
	assert_string_equal(names_readable(&full, "_ZN2ns4workIiEEvT_l", &budget),
			    "void ns::work<int>(int, long)");
	assert_ptr_equal(names_readable(&plain, "_ZN2ns4workIiEEvT_l", &budget),
			 names_readable(&plain, "_ZN2ns4workIiEEvT_l", &budget));
	names_release(&plain);
	names_release(&full);
}

/* A conversion to T_<...<T_<int>>>, whose arguments are read twice at every level: 2^60 steps. */
#define SLOW                                                                                       \
	"_ZcvT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_"  \
	"IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_IT_"  \
	"IT_IT_IiEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEv"

static void what_one_origin_wastes_the_other_keeps(void **state)
{
	struct names names = {.full = false};
	struct demangle_budget hostile = {0};
	struct demangle_budget innocent = {0};
	uint64_t before = symbolize_mangled_names();

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it keeps signals until the thread calls something */
#endif
	assert_string_equal(names_readable(&names, SLOW, &hostile), SLOW);
	assert_string_equal(names_readable(&names, SLOW, &hostile), SLOW);
	assert_int_equal(symbolize_mangled_names() - before, 1);
	atomic_store(&hostile.ticks, 1000);
	for (int i = 0; i < 2; i++)
		assert_string_equal(names_readable(&names, "_ZN2ns4workEi", &hostile),
				    "_ZN2ns4workEi");
	assert_int_equal(symbolize_mangled_names() - before, 2);
	assert_string_equal(names_readable(&names, "_ZN2ns4workEi", &innocent), "ns::work");
	names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_and_copies_are_the_function),
		cmocka_unit_test(constructors_have_one_name),
		cmocka_unit_test(without_a_linkage_name_the_last_word_tells),
		cmocka_unit_test(names_of_merged_code_are_others),
		cmocka_unit_test(parameters_are_shown_when_asked_for),
		cmocka_unit_test(what_one_origin_wastes_the_other_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
