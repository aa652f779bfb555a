/* fde_test.c - bounds of functions from .eh_frame, with libdw as the oracle */
#include "symbolize/elf/fde.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static Elf *open_elf(const char *path, int *ret_fd)
{
	Elf *elf;

	(void)elf_version(EV_CURRENT);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(*ret_fd >= 0);
	elf = elf_begin(*ret_fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	return elf;
}

/*
 * libdw tells where one row of the rules holds.  The rows of a function lead from its first
 * address to its last and never leave it.
 */
static void check_rows(Dwarf_CFI *cfi, const struct fde *fde)
{
	uint64_t at = fde->start;

	while (at < fde->end) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr start = 0;
		Dwarf_Addr end = 0;
		bool signal;

		assert_int_equal(dwarf_cfi_addrframe(cfi, at, &frame), 0);
		(void)dwarf_frame_info(frame, &start, &end, &signal);
		free(frame);
		assert_true(start >= fde->start && start <= at);
		assert_true(end > at && end <= fde->end);
		at = end;
	}
	assert_int_equal(at, fde->end);
}

static void agrees_with_libdw_on_libc(void **state)
{
	struct fde_table table;
	int n_compared = 0;
	Dwarf_CFI *cfi;
	int fd;
	Elf *elf = open_elf(LIBC, &fd);

	(void)state;
	assert_int_equal(fde_table_read(elf, &table), 0);
	assert_true(table.n_fdes > 1000);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	for (size_t i = 0; i < table.n_fdes; i += 7) {
		uint64_t middle = (table.fdes[i].start + table.fdes[i].end) / 2;

		check_rows(cfi, &table.fdes[i]);
		assert_int_equal(fde_start(&table, middle), table.fdes[i].start);
		assert_int_equal(fde_end(&table, middle), table.fdes[i].end);
		n_compared++;
		if (i + 1 < table.n_fdes && table.fdes[i].end < table.fdes[i + 1].start) {
			assert_int_equal(fde_start(&table, table.fdes[i].end), FDE_NONE);
			assert_int_equal(fde_end(&table, table.fdes[i].end), 0);
		}
	}
	assert_true(n_compared > 100);
	(void)dwarf_cfi_end(cfi);
	(void)elf_end(elf);
	(void)close(fd);
	fde_table_release(&table);
}

static void an_empty_table_knows_nothing(void **state)
{
	struct fde_table table = {0};

	(void)state;
	assert_int_equal(fde_start(&table, 0x1000), FDE_NONE);
	assert_int_equal(fde_end(&table, 0x1000), 0);
	fde_table_release(&table);
}

/* Every byte of a copy is spoilt in turn, in steps: it must only never read outside. */
static void survives_damaged_entries(void **state)
{
	static const uint8_t SPOILT[] = {0x00, 0x7f, 0xff};
	size_t len;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *bytes;

	(void)state;
	assert_true(fd >= 0);
	len = (size_t)lseek(fd, 0, SEEK_END);
	bytes = malloc(len);
	assert_non_null(bytes);
	(void)elf_version(EV_CURRENT);
	for (size_t at = 64; at < len; at += len / 200 + 1) {
		struct fde_table table = {0};
		Elf *elf;

		assert_int_equal(pread(fd, bytes, len, 0), (ssize_t)len);
		memset(bytes + at, SPOILT[at % 3], len - at < 64 ? len - at : 64);
		elf = elf_memory(bytes, len);
		if (elf && elf_kind(elf) == ELF_K_ELF)
			assert_int_equal(fde_table_read(elf, &table), 0);
		fde_table_release(&table);
		if (elf)
			(void)elf_end(elf);
	}
	free(bytes);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_libdw_on_libc),
		cmocka_unit_test(an_empty_table_knows_nothing),
		cmocka_unit_test(survives_damaged_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
