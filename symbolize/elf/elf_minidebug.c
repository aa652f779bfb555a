/* elf_minidebug.c - .gnu_debugdata: an ELF file with a .symtab, compressed with xz */
#include "symbolize/elf/elf_symbols.h"

#include "base/cleanup.h"
#include "symbolize/bounds/loader.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

/* Real ones are up to some megabytes; a larger stream is a bomb. */
static const uint64_t MAX_PACKED_BYTES = 64 * 1024 * 1024;
static const uint64_t MAX_DECODER_BYTES = 68 * 1024 * 1024; /* xz(1): what -9 needs */

enum { FIRST_BYTES = 256 * 1024, MAX_BYTES = 64 * 1024 * 1024 };

/* A piece takes a few ms; then the loader may be stopped. */
enum { PIECE_BYTES = 256 * 1024 };

/* Room for more; false when there is no more memory, or it is enough. */
static bool grow(char **bytes, size_t *room)
{
	char *more;

	if (*room >= MAX_BYTES)
		return false;
	more = realloc(*bytes, *room * 2);
	if (!more)
		return false;
	*bytes = more;
	*room *= 2;
	return true;
}

static int decompress(const Elf_Data *packed, char **ret_bytes, size_t *ret_len)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = FIRST_BYTES;
	char *bytes = malloc(room);
	lzma_ret result;

	if (!bytes)
		return -ENOMEM;
	result = lzma_stream_decoder(&stream, MAX_DECODER_BYTES, LZMA_CONCATENATED);
	stream.next_in = (const uint8_t *)packed->d_buf;
	stream.avail_in = packed->d_size;
	while (result == LZMA_OK && !loader_is_stopping()) {
		size_t left;

		if (stream.total_out == room && !grow(&bytes, &room))
			break;
		left = room - stream.total_out;
		stream.next_out = (uint8_t *)bytes + stream.total_out;
		stream.avail_out = left < PIECE_BYTES ? left : PIECE_BYTES;
		result = lzma_code(&stream, LZMA_FINISH);
	}
	*ret_len = stream.total_out;
	lzma_end(&stream);
	if (result != LZMA_STREAM_END) {
		free(bytes);
		return -EBADMSG;
	}
	*ret_bytes = bytes;
	return 0;
}

int elf_minidebug_read(Elf *elf, const struct fde_table *fdes, struct symbol_table *table)
{
	GElf_Shdr header;
	const Elf_Data *packed = elf_section_data(elf_section_named(elf, ".gnu_debugdata", &header),
						  MAX_PACKED_BYTES);
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0;
	Elf *inner;
	int r;

	if (!packed)
		return 0;
	r = decompress(packed, &bytes, &len);
	if (r < 0)
		return r;
	/* _cleanup_free_ frees them. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	inner = elf_memory(bytes, len);
	if (!inner)
		return -EBADMSG;
	r = elf_kind(inner) == ELF_K_ELF ? elf_symbols_read(inner, ELF_SYMTAB, fdes, table)
					 : -EBADMSG;
	(void)elf_end(inner);
	return r;
}
