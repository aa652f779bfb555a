/* symbolize_oracle_test.c - libc's names against those that nm and addr2line give */
#include "symbolize/symbolize.h"

#include "tests/unit/symbolize/target.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { N_ADDRESSES = 2000, MAX_SYMBOLS = 32768, MAX_NAME = 160 };

/* What nm says. */
struct known {
	uint64_t addr;
	uint64_t size;
	char name[MAX_NAME];
};

struct oracle {
	char debug[256]; /* libc's debug file; "" when it is not installed */
	uint64_t base;
	uint64_t text; /* its code, as ELF addresses */
	uint64_t text_end;
	struct known *known;
	size_t n_known;
};

static void note_build_id(struct oracle *oracle, const uint8_t *id, size_t len)
{
	char hex[2 * 32 + 1] = "";

	for (size_t i = 0; i < len && i < 32; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", id[i]);
	(void)snprintf(oracle->debug, sizeof(oracle->debug),
		       "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (access(oracle->debug, R_OK) < 0)
		oracle->debug[0] = '\0';
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	struct oracle *oracle = context;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	oracle->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		const uint32_t *note = (const uint32_t *)(info->dlpi_addr + phdr->p_vaddr);

		if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X)) {
			oracle->text = phdr->p_vaddr;
			oracle->text_end = phdr->p_vaddr + phdr->p_memsz;
		}
		if (phdr->p_type == PT_NOTE && note[2] == NT_GNU_BUILD_ID)
			note_build_id(oracle, (const uint8_t *)(note + 4), note[1]);
	}
	return 1;
}

static void read_nm(struct oracle *oracle)
{
	char command[512];
	char line[1024];
	FILE *nm;

	(void)snprintf(command, sizeof(command), "nm -S --defined-only '%s'", oracle->debug);
	oracle->known = calloc(MAX_SYMBOLS, sizeof(*oracle->known));
	assert_non_null(oracle->known);
	nm = popen(command, "re");
	assert_non_null(nm);
	while (oracle->n_known < MAX_SYMBOLS && fgets(line, sizeof(line), nm)) {
		struct known *known = &oracle->known[oracle->n_known];
		char type;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %159[^@\n]", &known->addr,
			   &known->size, &type, known->name) == 4 &&
		    strchr("tTwWi", type))
			oracle->n_known++;
	}
	assert_int_equal(pclose(nm), 0);
	assert_true(oracle->n_known > 1000);
}

/* 1: NAME is one of the functions there; 0: it is not; -1: nm knows of none there. */
static int agrees(const struct oracle *oracle, uint64_t vaddr, const char *name)
{
	int result = -1;

	for (size_t i = 0; i < oracle->n_known; i++) {
		const struct known *known = &oracle->known[i];

		if (vaddr < known->addr || vaddr - known->addr >= known->size)
			continue;
		if (name && strcmp(known->name, name) == 0)
			return 1;
		result = 0;
	}
	return result;
}

/* How many of the names addr2line has too; it tells inlined functions, which is another question.
 */
static int count_addr2line(const struct oracle *oracle, const uint64_t *vaddrs,
			   const char *const *names)
{
	char path[] = "/tmp/wick-oracle-XXXXXX";
	int fd = mkstemp(path);
	FILE *list = fdopen(fd, "w");
	char command[512];
	char line[1024];
	int n_same = 0;
	FILE *pipe;

	assert_non_null(list);
	for (int i = 0; i < N_ADDRESSES; i++)
		(void)fprintf(list, "%" PRIx64 "\n", vaddrs[i]);
	(void)fclose(list);
	(void)snprintf(command, sizeof(command), "addr2line -f -i -a -e '%s' @%s", oracle->debug,
		       path);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	for (int i = -1, same = 0, row = 0; fgets(line, sizeof(line), pipe); row++) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0x", 2) == 0) {
			i++;
			same = row = 0;
		} else if (row % 2 == 1 && i >= 0 && i < N_ADDRESSES && !same && names[i] &&
			   agrees(oracle, vaddrs[i], line) == 1) {
			n_same++;
			same = 1;
		}
	}
	(void)pclose(pipe);
	(void)unlink(path);
	return n_same;
}

static void names_of_libc_are_those_that_nm_gives(void **state)
{
	struct symbolize_options options = {.wait = true, .no_cache = true};
	static const char *names[N_ADDRESSES];
	static uint64_t vaddrs[N_ADDRESSES];
	struct symbolizer *symbolizer = NULL;
	struct oracle oracle = {.base = 0};
	unsigned seed = 20261121;
	int n[3] = {0, 0, 0};
	int n_extra = 0;
	int n_same;

	(void)state;
	(void)dl_iterate_phdr(find_libc, &oracle);
	if (!oracle.debug[0])
		skip();
	read_nm(&oracle);
	assert_int_equal(symbolizer_new(&options, &symbolizer, NULL), 0);
	target_add_maps(symbolizer, getpid(), 0, HIDE_NOTHING);
	for (int i = 0; i < N_ADDRESSES; i++) {
		int verdict;

		seed = seed * 1103515245 + 12345;
		vaddrs[i] = oracle.text + (seed >> 4) % (oracle.text_end - oracle.text);
		names[i] = target_lookup(symbolizer, getpid(), oracle.base + vaddrs[i], 1).symbol;
		verdict = agrees(&oracle, vaddrs[i], names[i]);
		n[verdict + 1]++;
		n_extra += verdict < 0 && names[i];
		if (verdict == 0)
			print_message("%" PRIx64 ": '%s'\n", vaddrs[i], names[i] ? names[i] : "-");
	}
	n_same = count_addr2line(&oracle, vaddrs, names);
	print_message("nm: %d of %d agree, %d where nm has none (%d of them named here); "
		      "addr2line: %d of %d\n",
		      n[2], n[1] + n[2], n[0], n_extra, n_same, n[1] + n[2]);
	assert_int_equal(n[1], 0);
	assert_true(n[2] > N_ADDRESSES / 2);
	assert_true(n_same > n[2] * 8 / 10);
	symbolizer_free(symbolizer);
	free(oracle.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_libc_are_those_that_nm_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
