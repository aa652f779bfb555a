/* program_test.c - real programs, scripts and files that lie, as an exec would meet them */
#include "folder_fixture.h"
#include "sampler/program/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_MAX_BYTES = 4 * 1024 * 1024, SOMEONE = 12345 };

static char directory[FOLDER_BYTES];
static int n_open;
static bool capable;

static int test_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EACCES;
	}
	n_open++;
	return fd;
}

static long test_pread(int fd, void *to, size_t len, uint64_t offset)
{
	ssize_t n = pread(fd, to, len, (off_t)offset);

	return n < 0 ? -errno : n;
}

static void test_close(int fd)
{
	n_open--;
	close(fd);
}

static int test_stat(int fd, uint32_t *ret_mode, uint32_t *ret_uid, uint32_t *ret_gid,
		     bool *ret_capable)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_mode = st.st_mode;
	*ret_uid = st.st_uid;
	*ret_gid = st.st_gid;
	*ret_capable = capable;
	return 0;
}

static struct program examined_as(const char *path, uint32_t uid, uint32_t gid)
{
	struct program_io io = {test_open, test_pread, test_close, test_stat, uid, gid};
	struct program program;

	memset(&program, 0xa5, sizeof(program));
	program_examine(&io, path, &program);
	assert_int_equal(n_open, 0);
	return program;
}

static struct program examined(const char *path)
{
	return examined_as(path, geteuid(), getegid());
}

/* A file in the test's directory.  Return: its path, good until the next call. */
static const char *made(const char *name, const void *bytes, size_t len)
{
	static char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	return path;
}

static const char *script(const char *name, const char *text)
{
	return made(name, text, strlen(text));
}

static size_t slurp(const char *path, unsigned char *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, to, FILE_MAX_BYTES);
	close(fd);
	assert_true(n > 0 && n < FILE_MAX_BYTES);
	return (size_t)n;
}

static void knows_what_takes_a_preload(void **state)
{
	(void)state;
	assert_int_equal(examined(SAMPLE_DYNAMIC).kind, PROGRAM_DYNAMIC);
	assert_int_equal(examined(SAMPLE_DYNAMIC_AT_FIXED_ADDRESS).kind, PROGRAM_DYNAMIC);
	assert_int_equal(examined("/bin/sh").kind, PROGRAM_DYNAMIC);
	assert_int_equal(examined(SAMPLE_STATIC).kind, PROGRAM_STATIC);
	assert_int_equal(examined(SAMPLE_STATIC_PIE).kind, PROGRAM_STATIC);
	assert_false(examined(SAMPLE_DYNAMIC).needs_asan);
	assert_string_equal(examined(SAMPLE_DYNAMIC).asan, "");
}

static void finds_asan_among_the_needed(void **state)
{
	(void)state;
#ifdef SAMPLE_ASAN
	struct program program = examined(SAMPLE_ASAN);

	assert_int_equal(program.kind, PROGRAM_DYNAMIC);
	assert_true(program.needs_asan);
	assert_int_equal(strncmp(program.asan, "libasan.so.", 11), 0);
#else
	skip();
#endif
}

static void knows_another_machine_s_program(void **state)
{
	static unsigned char bytes[FILE_MAX_BYTES];
	size_t len = slurp(SAMPLE_DYNAMIC, bytes);

	(void)state;
#ifdef SAMPLE_M32
	assert_int_equal(examined(SAMPLE_M32).kind, PROGRAM_OTHER_ARCH);
#endif
	bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_AARCH64;
	assert_int_equal(examined(made("arm", bytes, len)).kind, PROGRAM_OTHER_ARCH);
}

static void knows_a_set_id_program(void **state)
{
	static unsigned char bytes[FILE_MAX_BYTES];
	size_t len = slurp(SAMPLE_DYNAMIC, bytes);
	const char *path = made("setid", bytes, len);
	uint32_t uid = geteuid(), gid = getegid();

	(void)state;
	assert_int_equal(examined_as(path, SOMEONE, gid).kind, PROGRAM_DYNAMIC);
	assert_int_equal(chmod(path, 04755), 0);
	assert_int_equal(examined_as(path, SOMEONE, gid).kind, PROGRAM_PRIVILEGED);
	assert_int_equal(examined_as(path, uid, gid).kind, PROGRAM_DYNAMIC);
	assert_int_equal(chmod(path, 02755), 0);
	assert_int_equal(examined_as(path, uid, SOMEONE).kind, PROGRAM_PRIVILEGED);
	assert_int_equal(examined_as(path, SOMEONE, gid).kind, PROGRAM_DYNAMIC);
	/* Without the group's right to execute the bit meant mandatory locking. */
	assert_int_equal(chmod(path, 02745), 0);
	assert_int_equal(examined_as(path, uid, SOMEONE).kind, PROGRAM_DYNAMIC);
}

static void knows_a_program_with_capabilities(void **state)
{
	(void)state;
	capable = true;
	assert_int_equal(examined_as(SAMPLE_DYNAMIC, SOMEONE, 0).kind, PROGRAM_PRIVILEGED);
	assert_int_equal(examined_as(SAMPLE_DYNAMIC, 0, 0).kind, PROGRAM_DYNAMIC);
	capable = false;
}

static void follows_a_script_to_its_interpreter(void **state)
{
	struct program program = examined(script("s1", "#!/bin/sh\necho\n"));
	char text[512];

	(void)state;
	assert_int_equal(program.kind, PROGRAM_DYNAMIC);
	assert_string_equal(program.interpreter, "/bin/sh");
	program = examined(script("s2", "#! \t /bin/sh -e\n"));
	assert_string_equal(program.interpreter, "/bin/sh");
	program = examined(script("s3", "#!/bin/sh"));
	assert_int_equal(program.kind, PROGRAM_DYNAMIC);
	snprintf(text, sizeof(text), "#!%s\n", SAMPLE_STATIC);
	assert_int_equal(examined(script("s4", text)).kind, PROGRAM_STATIC);
	snprintf(text, sizeof(text), "#!%s/s4\n", directory);
	program = examined(script("s5", text));
	assert_int_equal(program.kind, PROGRAM_STATIC);
	assert_string_equal(program.interpreter, SAMPLE_STATIC);
}

static void gives_up_where_the_kernel_does(void **state)
{
	char text[512], name[32];
	struct program program;

	(void)state;
	snprintf(text, sizeof(text), "#!%s/loop\n", directory);
	assert_int_equal(examined(script("loop", text)).kind, PROGRAM_NOT_ELF);
	/* Five scripts in a row run, six do not. */
	script("chain1", "#!/bin/sh\n");
	for (int i = 2; i <= 6; i++) {
		snprintf(text, sizeof(text), "#!%s/chain%d\n", directory, i - 1);
		snprintf(name, sizeof(name), "chain%d", i);
		program = examined(script(name, text));
		assert_int_equal(program.kind, i <= 5 ? PROGRAM_DYNAMIC : PROGRAM_NOT_ELF);
	}
	memset(text, 'x', sizeof(text));
	memcpy(text, "#!/", 3);
	assert_int_equal(examined(made("long", text, sizeof(text))).kind, PROGRAM_NOT_ELF);
	assert_int_equal(examined(script("noone", "#!\n")).kind, PROGRAM_NOT_ELF);
}

static void tells_missing_from_unfit(void **state)
{
	(void)state;
	assert_int_equal(examined("/nonexistent/x").kind, PROGRAM_MISSING);
	assert_int_equal(examined("/dev/null/x").kind, PROGRAM_MISSING);
	assert_int_equal(examined(script("gone", "#!/nonexistent\n")).kind, PROGRAM_MISSING);
	assert_int_equal(examined("/").kind, PROGRAM_NOT_ELF);
	assert_int_equal(examined(script("text", "echo\n")).kind, PROGRAM_NOT_ELF);
	assert_int_equal(examined(script("empty", "")).kind, PROGRAM_NOT_ELF);
	assert_int_equal(examined(script("hash", "#!")).kind, PROGRAM_NOT_ELF);
}

static void survives_a_file_cut_anywhere(void **state)
{
	static unsigned char bytes[FILE_MAX_BYTES];
	size_t len = slurp(SAMPLE_DYNAMIC, bytes);
	enum program_kind kind;

	(void)state;
	for (size_t cut = 0; cut < len; cut = cut < 1024 ? cut + 1 : cut + 509) {
		kind = examined(made("cut", bytes, cut)).kind;
		if (cut < sizeof(Elf64_Ehdr))
			assert_int_equal(kind, PROGRAM_NOT_ELF);
		else
			assert_true(kind == PROGRAM_STATIC || kind == PROGRAM_DYNAMIC);
	}
}

static void survives_a_header_that_lies(void **state)
{
	static unsigned char bytes[FILE_MAX_BYTES], copy[FILE_MAX_BYTES];
	size_t len = slurp(SAMPLE_DYNAMIC, bytes);
	Elf64_Ehdr header;

	(void)state;
	memcpy(copy, bytes, len);
	srand(7);
	for (int i = 0; i < 2000; i++) {
		size_t at = (size_t)rand() % (sizeof(Elf64_Ehdr) + 12 * sizeof(Elf64_Phdr));

		copy[at] = (unsigned char)rand();
		(void)examined(made("lie", copy, 8192 < len ? 8192 : len));
		if (i % 8 == 0)
			memcpy(copy, bytes, len);
	}
	memcpy(&header, bytes, sizeof(header));
	header.e_phoff = UINT64_MAX - 8;
	memcpy(copy, bytes, len);
	memcpy(copy, &header, sizeof(header));
	assert_int_equal(examined(made("lie", copy, len)).kind, PROGRAM_STATIC);
}

#ifdef SAMPLE_ASAN
static Elf64_Phdr *phdr_of(unsigned char *bytes, uint32_t type)
{
	Elf64_Ehdr *header = (void *)bytes;
	Elf64_Phdr *phdrs = (void *)(bytes + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++)
		if (phdrs[i].p_type == type)
			return &phdrs[i];
	return NULL;
}
#endif

static void survives_a_dynamic_section_that_lies(void **state)
{
	(void)state;
#ifdef SAMPLE_ASAN
	static unsigned char bytes[FILE_MAX_BYTES];
	size_t len = slurp(SAMPLE_ASAN, bytes);
	Elf64_Phdr *dynamic = phdr_of(bytes, PT_DYNAMIC);
	Elf64_Dyn *entries = (void *)(bytes + dynamic->p_offset);

	assert_true(examined(made("asan", bytes, len)).needs_asan);
	for (int i = 0; entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_NEEDED)
			entries[i].d_un.d_val |= UINT64_MAX << 32;
	assert_false(examined(made("asan", bytes, len)).needs_asan);
	for (int i = 0; entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_STRTAB)
			entries[i].d_un.d_ptr = UINT64_MAX - 4;
	assert_false(examined(made("asan", bytes, len)).needs_asan);
	dynamic->p_filesz = UINT64_MAX;
	dynamic->p_offset = UINT64_MAX - 64;
	assert_int_equal(examined(made("asan", bytes, len)).kind, PROGRAM_DYNAMIC);
#else
	skip();
#endif
}

static int make_directory(void **state)
{
	(void)state;
	folder_make(directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	folder_remove(directory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_takes_a_preload),
		cmocka_unit_test(finds_asan_among_the_needed),
		cmocka_unit_test(knows_another_machine_s_program),
		cmocka_unit_test(knows_a_set_id_program),
		cmocka_unit_test(knows_a_program_with_capabilities),
		cmocka_unit_test(follows_a_script_to_its_interpreter),
		cmocka_unit_test(gives_up_where_the_kernel_does),
		cmocka_unit_test(tells_missing_from_unfit),
		cmocka_unit_test(survives_a_file_cut_anywhere),
		cmocka_unit_test(survives_a_header_that_lies),
		cmocka_unit_test(survives_a_dynamic_section_that_lies),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
