/* fuzz_target_elf.c - any bytes as a module of a process to attach to: nothing hangs on it
 */
#include "sampler/attach/target_elf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

enum { NAME_BYTES = 8 };

/* Our own memory is the process's: a name to look for, then the module. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	char name[NAME_BYTES + 1] = "";
	struct target_symbols symbols;
	uint32_t version = 0;
	uint32_t signal = 0;
	uint64_t bytes = 0;
	uint8_t *module;

	if (size < NAME_BYTES)
		return 0;
	memcpy(name, input, NAME_BYTES);
	size -= NAME_BYTES;
	module = malloc(size ? size : 1);
	if (!module)
		return 0;
	memcpy(module, input + NAME_BYTES, size);
	if (target_symbols_open(&symbols, getpid(), (uint64_t)(uintptr_t)module) && *name)
		(void)target_symbols_sized(&symbols, name, &bytes);
	(void)target_attach_note(getpid(), (uint64_t)(uintptr_t)module, &version, &signal);
	free(module);
	return 0;
}
