/* elf_symbols_test.c - which name an address gets from symbol tables, and which gets none */
#include "symbolize/elf/elf_symbols.h"

#include "state_fixture.h"
#include "symbolize/elf/fde.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A file and the names of it. */
struct subject {
	int fd;
	Elf *elf;
	struct fde_table fdes;
	struct symbol_table table;
};

static void subject_open(struct subject *subject, const char *path)
{
	*subject = (struct subject){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	(void)elf_version(EV_CURRENT);
	assert_true(subject->fd >= 0);
	subject->elf = elf_begin(subject->fd, ELF_C_READ, NULL);
	assert_non_null(subject->elf);
	assert_int_equal(fde_table_read(subject->elf, &subject->fdes), 0);
}

static int subject_read(struct subject *subject, int which)
{
	int r = elf_symbols_read(subject->elf, which, &subject->fdes, &subject->table);

	symbol_table_finish(&subject->table);
	return r;
}

static void subject_close(struct subject *subject)
{
	symbol_table_release(&subject->table);
	fde_table_release(&subject->fdes);
	(void)elf_end(subject->elf);
	(void)close(subject->fd);
}

static const char *name_at(const struct subject *subject, uint64_t addr)
{
	const struct symbol *symbol = symbol_table_find(&subject->table, addr);

	return symbol ? symbol_table_name(&subject->table, symbol) : NULL;
}

/* Where the linker put a symbol: what it is checked against. */
static uint64_t value_of(Elf *elf, uint32_t type, const char *wanted)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (name && strcmp(name, wanted) == 0)
				return symbol.st_value;
		}
	}
	fail_msg("there is no symbol '%s'", wanted);
	return 0;
}

static void of_aliases_the_same_is_shown_in_any_order(void **state)
{
	static const char *const FILES[] = {PROGRAMS "/symbols.so", PROGRAMS "/reversed.so"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct subject subject;
		uint64_t at;

		subject_open(&subject, FILES[i]);
		assert_int_equal(subject_read(&subject, ELF_SYMTAB), ELF_SYMTAB);
		at = value_of(subject.elf, SHT_SYMTAB, "weak_alias");
		assert_string_equal(name_at(&subject, at), "alias_a");
		assert_string_equal(name_at(&subject, at + 15), "alias_a");
		subject_close(&subject);
	}
}

static void a_symbol_without_a_size_never_names_its_neighbour(void **state)
{
	struct subject *subject = *state;
	uint64_t at;

	subject_open(subject, PROGRAMS "/symbols.so");
	assert_int_equal(subject_read(subject, ELF_SYMTAB), ELF_SYMTAB);
	at = value_of(subject->elf, SHT_SYMTAB, "bounded");
	assert_string_equal(name_at(subject, at), "bounded");
	assert_string_equal(name_at(subject, at + 15), "bounded");
	assert_null(name_at(subject, at + 16));
	at = value_of(subject->elf, SHT_SYMTAB, "unbounded");
	assert_string_equal(name_at(subject, at + 15), "unbounded");
	assert_null(name_at(subject, at + 16));
	assert_int_equal(fde_start(&subject->fdes, at + 20), at + 16);
	at = value_of(subject->elf, SHT_SYMTAB, "label_inside");
	assert_string_equal(name_at(subject, at), "sized_local");
}

static void an_export_without_size_or_bounds_names_one_address(void **state)
{
	struct subject *subject = *state;
	uint64_t at;

	subject_open(subject, PROGRAMS "/symbols.so");
	assert_int_equal(subject_read(subject, ELF_DYNSYM), ELF_DYNSYM);
	at = value_of(subject->elf, SHT_DYNSYM, "unbounded");
	assert_string_equal(name_at(subject, at), "unbounded");
	assert_null(name_at(subject, at + 1));
	at = value_of(subject->elf, SHT_DYNSYM, "bounded");
	assert_string_equal(name_at(subject, at + 15), "bounded");
}

static void versions_are_cut_and_ifuncs_are_functions(void **state)
{
	struct subject *subject = *state;

	subject_open(subject, PROGRAMS "/symbols.so");
	assert_int_equal(subject_read(subject, ELF_SYMTAB), ELF_SYMTAB);
	assert_string_equal(
		name_at(subject, value_of(subject->elf, SHT_SYMTAB, "versioned@@SYMBOLS_1")),
		"versioned");
	assert_string_equal(name_at(subject, value_of(subject->elf, SHT_SYMTAB, "chosen") + 15),
			    "chosen");
}

static void local_symbols_have_their_file(void **state)
{
	const struct symbol *symbol;
	struct subject *subject = *state;

	subject_open(subject, PROGRAMS "/symbols.so");
	assert_int_equal(subject_read(subject, ELF_SYMTAB), ELF_SYMTAB);
	symbol = symbol_table_find(&subject->table,
				   value_of(subject->elf, SHT_SYMTAB, "sized_local"));
	assert_non_null(symbol);
	assert_string_equal(symbol_table_file(&subject->table, symbol), "from_here.c");
	symbol = symbol_table_find(&subject->table, value_of(subject->elf, SHT_SYMTAB, "bounded"));
	assert_non_null(symbol);
	assert_null(symbol_table_file(&subject->table, symbol));
}

/* How many stubs of a section are named for WANTED. */
static int count_stubs(struct subject *subject, const char *section_name, const char *wanted)
{
	Elf_Scn *section = NULL;
	int n_found = 0;
	GElf_Shdr header;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(subject->elf, &names), 0);
	while ((section = elf_nextscn(subject->elf, section))) {
		assert_non_null(gelf_getshdr(section, &header));
		if (strcmp(elf_strptr(subject->elf, names, header.sh_name), section_name) != 0)
			continue;
		for (uint64_t at = 0; at < header.sh_size; at += 8) {
			const struct symbol *symbol =
				symbol_table_find(&subject->table, header.sh_addr + at);

			n_found += symbol && symbol->addr == header.sh_addr + at &&
				   strcmp(symbol_table_name(&subject->table, symbol), wanted) == 0;
		}
	}
	return n_found;
}

static void stubs_of_every_kind_are_named(void **state)
{
	static const struct {
		const char *file;
		const char *section;
		const char *name;
	} STUBS[] = {
		{PROGRAMS "/calls_plain", ".plt", "puts@plt"},
		{PROGRAMS "/calls_plain", ".plt", "abort@plt"},
		{PROGRAMS "/calls_plain", ".plt.got", "__cxa_finalize@plt"},
		{PROGRAMS "/calls_ibt", ".plt.sec", "puts@plt"},
		{PROGRAMS "/calls_ibt", ".plt.got", "__cxa_finalize@plt"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(STUBS) / sizeof(STUBS[0]); i++) {
		struct subject subject;

		subject_open(&subject, STUBS[i].file);
		assert_true(subject_read(&subject, ELF_SYMTAB | ELF_DYNSYM) > 0);
		assert_true(elf_plt_read(subject.elf, &subject.table) > 0);
		symbol_table_finish(&subject.table);
		assert_int_equal(count_stubs(&subject, STUBS[i].section, STUBS[i].name), 1);
		subject_close(&subject);
	}
}

/* A static program's stubs jump to what IRELATIVE relocations choose: one each. */
static void short_stubs_are_not_passed_over(void **state)
{
	struct subject *subject = *state;
	Elf_Scn *section = NULL;
	uint64_t n_relocations = 0;
	GElf_Shdr header;

	subject_open(subject, PROGRAMS "/calls_static");
	assert_true(subject_read(subject, ELF_SYMTAB) > 0);
	while ((section = elf_nextscn(subject->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			n_relocations += header.sh_size / header.sh_entsize;
	assert_true(n_relocations > 4);
	assert_int_equal(elf_plt_read(subject->elf, &subject->table), n_relocations);
}

static void names_come_out_of_gnu_debugdata(void **state)
{
	uint64_t at;
	struct subject whole;
	struct subject mini;

	(void)state;
	subject_open(&whole, PROGRAMS "/plain");
	at = value_of(whole.elf, SHT_SYMTAB, "hidden_work");
	assert_int_equal(elf_minidebug_read(whole.elf, NULL, &whole.table), 0);
	subject_open(&mini, PROGRAMS "/mini");
	assert_int_equal(subject_read(&mini, ELF_SYMTAB | ELF_DYNSYM), ELF_DYNSYM);
	assert_null(name_at(&mini, at));
	assert_int_equal(elf_minidebug_read(mini.elf, NULL, &mini.table), ELF_SYMTAB);
	symbol_table_finish(&mini.table);
	assert_string_equal(name_at(&mini, at), "hidden_work");
	subject_close(&mini);
	subject_close(&whole);
}

static void damaged_gnu_debugdata_is_refused(void **state)
{
	struct subject *subject = *state;

	subject_open(subject, PROGRAMS "/mini_damaged");
	assert_int_equal(elf_minidebug_read(subject->elf, NULL, &subject->table), -EBADMSG);
	assert_int_equal(subject->table.n_symbols, 0);
}

/* A stream of zeros of some kilobytes that grows to a gigabyte. */
static void a_bomb_in_gnu_debugdata_is_refused(void **state)
{
	struct subject *subject = *state;

	subject_open(subject, PROGRAMS "/mini_bomb");
	assert_int_equal(elf_minidebug_read(subject->elf, NULL, &subject->table), -EBADMSG);
}

STATE_FIXTURE(subject, subject, subject_close(subject))

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_aliases_the_same_is_shown_in_any_order),
		own_test(a_symbol_without_a_size_never_names_its_neighbour),
		own_test(an_export_without_size_or_bounds_names_one_address),
		own_test(versions_are_cut_and_ifuncs_are_functions),
		own_test(local_symbols_have_their_file),
		cmocka_unit_test(stubs_of_every_kind_are_named),
		own_test(short_stubs_are_not_passed_over),
		cmocka_unit_test(names_come_out_of_gnu_debugdata),
		own_test(damaged_gnu_debugdata_is_refused),
		own_test(a_bomb_in_gnu_debugdata_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
