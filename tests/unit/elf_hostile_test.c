/* elf_hostile_test.c - ELF files that ask for more than they are worth */
#include "symbolize/elf/elf_head.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/fde.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MAX_SECTIONS = 8000, TEXT = 0x1000, NAMES_AT = sizeof(Elf64_Ehdr) + 64 };

/* An ELF file of sections; many may be of the same bytes. */
struct file {
	uint8_t *bytes;
	size_t n_bytes;
	Elf64_Shdr *sections;
	size_t n_sections;
};

static const char NAMES[] = "\0.text\0.eh_frame\0.plt\0.strings";
enum { NAME_TEXT = 1, NAME_EH_FRAME = 7, NAME_PLT = 17, NAME_STRINGS = 22 };

static void *place(const struct file *file, size_t offset)
{
	return file->bytes + offset;
}

static Elf64_Shdr *add_section(struct file *file, uint32_t name, uint32_t type, uint64_t at,
			       uint64_t n_bytes)
{
	Elf64_Shdr *section = &file->sections[file->n_sections++];

	*section = (Elf64_Shdr){.sh_name = name,
				.sh_type = type,
				.sh_flags = SHF_ALLOC,
				.sh_addr = at,
				.sh_offset = at,
				.sh_size = n_bytes,
				.sh_addralign = 8};
	return section;
}

/* ROOM bytes for content, from NAMES_AT on; section 1 is the strings, 2 a megabyte of code. */
static void begin(struct file *file, size_t room)
{
	file->n_bytes = room + (MAX_SECTIONS + 1) * sizeof(Elf64_Shdr);
	file->bytes = calloc(1, file->n_bytes);
	assert_non_null(file->bytes);
	file->sections = place(file, room);
	file->n_sections = 1;
	memcpy(file->bytes + NAMES_AT, NAMES, sizeof(NAMES));
	(void)add_section(file, NAME_STRINGS, SHT_STRTAB, NAMES_AT, sizeof(NAMES));
	add_section(file, NAME_TEXT, SHT_NOBITS, TEXT, 1024 * 1024)->sh_flags |= SHF_EXECINSTR;
}

static Elf *finish(struct file *file)
{
	Elf64_Ehdr *header = place(file, 0);
	Elf *elf;

	*header =
		(Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_shoff = (uint64_t)((uint8_t *)file->sections - file->bytes),
			     .e_ehsize = sizeof(*header),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = (uint16_t)file->n_sections,
			     .e_shstrndx = 1};
	(void)elf_version(EV_CURRENT);
	elf = elf_memory((char *)file->bytes, file->n_bytes);
	assert_non_null(elf);
	return elf;
}

/* Each takes 0.2 s of CPU at most, five times that under sanitizers; where every section is read
 * for itself, or every FDE's CIE, it is 5 s and more without them. */
static void end(struct file *file, Elf *elf, clock_t began)
{
	assert_true(clock() - began < 4 * CLOCKS_PER_SEC);
	(void)elf_end(elf);
	free(file->bytes);
}

static uint32_t *put(uint32_t *at, uint32_t a, uint32_t b)
{
	at[0] = a;
	at[1] = b;
	return at + 2;
}

/* Each FDE names the other CIE, and one of them takes long to read. */
static void a_long_cie_is_passed_over(void **state)
{
	static const char SHORT[] = "\1zR\0\1\1\20\1\3"; /* FDEs have 4 bytes, absolute */
	enum { LONG_BYTES = 256 * 1024, N_FDES = 32 * 1024, AT = 4096 };
	struct file file;
	struct fde_table table = {0};
	clock_t began = clock();
	uint32_t *start;
	uint32_t *at;
	Elf *elf;

	(void)state;
	begin(&file, AT + LONG_BYTES + N_FDES * 16 + 64);
	start = place(&file, AT);
	memcpy(put(start, 16, 0), SHORT, sizeof(SHORT));
	at = put(start + 5, LONG_BYTES, 0);
	memset(at, 'S', LONG_BYTES - 4);
	memcpy(at, "\1z", 2);
	memcpy((char *)at + LONG_BYTES - 16, SHORT + 2, sizeof(SHORT) - 2);
	at += (LONG_BYTES - 4) / 4;
	for (uint32_t i = 0; i < N_FDES; i++) {
		uint32_t id_at = (uint32_t)((at + 1 - start) * 4);

		at = put(at, 12, id_at - (i % 2 ? 20 : 0));
		at = put(at, 0x2000 + i * 16, 8);
	}
	(void)add_section(&file, NAME_EH_FRAME, SHT_PROGBITS, AT, (uint64_t)(at - start) * 4);
	elf = finish(&file);
	assert_int_equal(fde_table_read(elf, &table), 0);
	assert_int_equal(table.n_fdes, N_FDES / 2);
	assert_true(fde_start(&table, 0x2000) == 0x2000);
	assert_true(fde_start(&table, 0x2010) == FDE_NONE);
	fde_table_release(&table);
	end(&file, elf, began);
}

/* A few hundred kilobytes that thousands of sections are of. */
static void sections_of_the_same_bytes_count_once(void **state)
{
	enum { N_SYMBOLS = 16 * 1024, AT = 4096, RELOCS = AT + N_SYMBOLS * 24 };
	struct symbol_table table = {0};
	clock_t began = clock();
	struct file file;
	Elf64_Sym *symbols;
	Elf64_Rela *relocs;
	Elf *elf;

	(void)state;
	begin(&file, RELOCS + N_SYMBOLS * sizeof(*relocs));
	symbols = place(&file, AT);
	relocs = place(&file, RELOCS);
	for (uint32_t i = 0; i < N_SYMBOLS; i++) {
		symbols[i] = (Elf64_Sym){.st_name = NAME_TEXT,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					 .st_shndx = 2,
					 .st_value = TEXT + i * 16,
					 .st_size = 16};
		/* No symbol is of that number. */
		relocs[i].r_info = ELF64_R_INFO(UINT32_MAX, R_X86_64_JUMP_SLOT);
	}
	relocs[0] = (Elf64_Rela){.r_offset = 8, .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT)};
	while (file.n_sections < MAX_SECTIONS) {
		bool odd = file.n_sections % 2;
		Elf64_Shdr *section = add_section(&file, NAME_PLT, odd ? SHT_SYMTAB : SHT_RELA,
						  odd ? AT : RELOCS, N_SYMBOLS * sizeof(*relocs));

		section->sh_link = odd ? 1 : 3;
		section->sh_entsize = sizeof(*relocs);
		section->sh_flags |= SHF_EXECINSTR; /* and stubs */
	}
	elf = finish(&file);
	assert_int_equal(elf_symbols_read(elf, ELF_SYMTAB | ELF_DYNSYM, NULL, &table), ELF_SYMTAB);
	assert_int_equal(table.n_symbols, N_SYMBOLS);
	symbol_table_finish(&table);
	assert_true(elf_plt_read(elf, &table) >= 0);
	symbol_table_release(&table);
	end(&file, elf, began);
}

/* The build-id behind another note, where notes begin at multiples of ALIGN. */
static void check_notes(size_t align)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr phdrs[2];
		uint8_t notes[128];
	} image = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.phdrs = {{.p_type = PT_LOAD, .p_filesz = sizeof(image), .p_memsz = sizeof(image)},
			  {.p_type = PT_NOTE,
			   .p_offset = offsetof(__typeof__(image), notes),
			   .p_filesz = sizeof(image.notes),
			   .p_align = align}}};
	const Elf64_Nhdr property = {4, 20, NT_GNU_PROPERTY_TYPE_0};
	const Elf64_Nhdr build = {4, 8, NT_GNU_BUILD_ID};
	size_t at = align == 8 ? 40 : 36; /* 12 + 4 + 20, and what fills it up */
	struct elf_head head;

	memcpy(image.notes, &property, sizeof(property));
	memcpy(image.notes + 12, "GNU", 4);
	memcpy(image.notes + at, &build, sizeof(build));
	memcpy(image.notes + at + 12, "GNU\0\1\2\3\4\5\6\7\10", 12);
	assert_int_equal(elf_head_read(&(struct elf_source){.bytes = (const char *)&image,
							    .n_bytes = sizeof(image)},
				       &head),
			 0);
	assert_int_equal(head.build_id_len, 8);
	assert_memory_equal(head.build_id, "\1\2\3\4\5\6\7\10", 8);
	/* A note that is longer than all of them ends the search. */
	memset(image.notes + 4, 0xff, 4);
	assert_int_equal(elf_head_read(&(struct elf_source){.bytes = (const char *)&image,
							    .n_bytes = sizeof(image)},
				       &head),
			 0);
	assert_int_equal(head.build_id_len, 0);
}

static void notes_begin_where_their_alignment_says(void **state)
{
	(void)state;
	check_notes(4);
	check_notes(8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_cie_is_passed_over),
		cmocka_unit_test(sections_of_the_same_bytes_count_once),
		cmocka_unit_test(notes_begin_where_their_alignment_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
