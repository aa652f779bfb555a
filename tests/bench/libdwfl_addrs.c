/*
 * libdwfl_addrs.c - the chains of addresses of a file by libdwfl, used in the obvious way
 *
 * Beside symbolize_addrs: the same addresses, the same lines, one call after another for each
 * address: the symbol, the DIE, its scopes, the line.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Where a call that was inlined stands. */
static void find_call(Dwarf_Die *unit, Dwarf_Die *die, const char **ret_file, int *ret_line)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files = NULL;
	Dwarf_Word number = 0;
	Dwarf_Word line = 0;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0)
		*ret_line = (int)line;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(unit, &files, NULL) == 0)
		*ret_file = dwarf_filesrc(files, number, NULL, NULL);
}

/* Every function around the address, the innermost first; false: DWARF knows of none. */
static bool print_scopes(Dwarf_Die *unit, Dwarf_Addr at, const char *file, int line)
{
	Dwarf_Die *scopes = NULL;
	Dwarf_Die *around = NULL;
	int n = dwarf_getscopes(unit, at, &scopes);
	bool printed = false;

	for (int i = 0; i < n && !around; i++) {
		if (!is_function(&scopes[i]))
			continue;
		n = dwarf_getscopes_die(&scopes[i], &around);
		for (int k = 0; k < n; k++) {
			if (!is_function(&around[k]))
				continue;
			printf("%s\t%s\t%d\n", name_of(&around[k]), file ? file : "", line);
			printed = true;
			if (dwarf_tag(&around[k]) == DW_TAG_inlined_subroutine)
				find_call(unit, &around[k], &file, &line);
		}
	}
	free(scopes);
	free(around);
	return printed;
}

static void print_chain(Dwfl *dwfl, Dwarf_Addr addr)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, addr);
	const char *file = NULL;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;
	Dwfl_Line *at;
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name;
	int line = 0;

	printf("0x%" PRIx64 "\n", (uint64_t)addr);
	if (!module)
		return;
	name = dwfl_module_addrinfo(module, addr, &offset, &symbol, NULL, NULL, NULL);
	at = dwfl_module_getsrc(module, addr);
	if (at)
		file = dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL);
	unit = dwfl_module_addrdie(module, addr, &bias);
	if (!unit || !print_scopes(unit, addr - bias, file, line))
		printf("%s\t%s\t%d\n", name ? name : "", file ? file : "", line);
	printf("\n");
}

int main(int argc, char **argv)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	GElf_Addr bias = 0;
	char line[64];

	if (argc != 2 || !dwfl) {
		(void)fprintf(stderr, "usage: libdwfl_addrs FILE <ADDRESSES\n");
		return 2;
	}
	module = dwfl_report_offline(dwfl, argv[1], argv[1], -1);
	if (!module || dwfl_report_end(dwfl, NULL, NULL) != 0 ||
	    !dwfl_module_getelf(module, &bias)) {
		(void)fprintf(stderr, "libdwfl_addrs: '%s': %s\n", argv[1], dwfl_errmsg(-1));
		return 1;
	}
	while (fgets(line, sizeof(line), stdin))
		print_chain(dwfl, strtoull(line, NULL, 16) + bias);
	dwfl_end(dwfl);
	return 0;
}
