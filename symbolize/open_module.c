/* open_module.c - the file of a module that a recording names, here or on another machine */
#include "symbolize/internal.h"

#include "base/cleanup.h"
#include "base/regular_file.h"
#include "symbolize/elf/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False when TEXT is no build-id. */
static bool parse_build_id(const char *text, struct elf_head *head)
{
	size_t len = strlen(text);

	if (len % 2 || len / 2 > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		int value = digit(text[i]);

		if (value < 0)
			return false;
		head->build_id[i / 2] = (uint8_t)(head->build_id[i / 2] << 4 | value);
	}
	head->build_id_len = len / 2;
	return true;
}

int symbolize_check_file(int fd, const char *build_id)
{
	struct elf_head head, wanted = {0};
	int r = elf_head_read(&(struct elf_source){.fd = fd}, &head);

	if (r < 0 || !*build_id)
		return r;
	return parse_build_id(build_id, &wanted) && elf_head_same_build(&head, &wanted) ? 0
											: -ESTALE;
}

/* Take the file over if it is the one that is wanted. */
static int try_file(struct module *module, int fd, const struct elf_head *wanted)
{
	struct elf_head head;
	int r = elf_head_read(&(struct elf_source){.fd = fd}, &head);

	if (r == 0)
		r = mapped_file_stat(fd, &module->id);
	if (r == 0 && wanted->build_id_len && !elf_head_same_build(&head, wanted))
		r = -ESTALE;
	if (r < 0)
		return r;
	module_set_head(module, &head);
	module->fd = fd;
	return 0;
}

static int open_itself(struct module *module, int given, const struct elf_head *wanted)
{
	_cleanup_fd_ int fd = given < 0 ? regular_file_open(AT_FDCWD, module->path, 0)
					: regular_file_reopen(given);
	int r;

	if (fd < 0)
		return fd;
	r = try_file(module, fd, wanted);
	if (r == 0)
		(void)steal_fd(&fd);
	return r;
}

/* Its debug file alone will do: addresses are the module's own. */
static int open_debug_file(struct module *module, const struct elf_head *wanted)
{
	struct debug_file file = {.fd = -1};
	int r;

	module_set_head(module, wanted);
	if (!wanted->build_id_len || module_find_debug(module, NULL, &file) < 0)
		return -ENOENT;
	r = try_file(module, file.fd, wanted);
	if (r < 0)
		(void)close(file.fd);
	module->debug_found = file.found;
	free(file.path);
	return r;
}

struct module *symbolizer_open(struct symbolizer *symbolizer, const char *path, int fd,
			       const char *build_id, struct err *err)
{
	struct elf_head wanted = {0};
	struct module *module = NULL;
	int r;

	if (!parse_build_id(build_id, &wanted)) {
		(void)err_set(err, EINVAL, "'%s' is no build-id", build_id);
		return NULL;
	}
	module = modules_add(&symbolizer->modules, MODULE_ELF, path);
	if (!module) {
		(void)err_set(err, ENOMEM, "read '%s'", path);
		return NULL;
	}
	r = open_itself(module, fd, &wanted);
	if (r < 0 && open_debug_file(module, &wanted) == 0)
		r = 0;
	if (r < 0) {
		(void)(r == -ESTALE ? err_set(err, 0, "'%s' is not the one that ran", path)
				    : err_set(err, 0, "read '%s': %s", path, elf_head_why(r)));
		err->code = -r;
		module_fail(module, "%s", err->text);
		atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_relaxed);
		return NULL;
	}
	atomic_store_explicit(&module->elf.state, MODULE_LOADING, memory_order_relaxed);
	if (loader_push(symbolizer->loader, module_load, module) < 0)
		atomic_store_explicit(&module->elf.state, MODULE_LOADED, memory_order_relaxed);
	return module;
}
