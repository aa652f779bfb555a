/*
 * image.h - a module in the memory of its process
 *
 * Context: any thread.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include "base/sample.h"
#include "symbolize/elf/elf_head.h"
#include "symbolize/elf/symbol_table.h"

/* What /proc/PID/maps and the memory tell about a mapping. */
struct image {
	struct elf_source source;
	struct elf_head head;
	bool readable; /* source and head hold */
	uint64_t dev;  /* the file that is mapped there now; 0 and 0: not known */
	uint64_t inode;
	uint8_t build_id[BUILD_ID_MAX]; /* of that file: the kernel's word, else the memory's */
	size_t build_id_len;            /* 0: it has none, or it is not known */
};

/** image_find - find the image that a mapping is part of, and read its headers */
void image_find(const struct mapping *mapping, struct image *ret_image);

/**
 * image_symbols - add the functions of .dynsym, read from the memory
 *
 * The table is not finished.
 *
 * Return:  how many; -ENODATA: it has no dynamic symbols; -errno of the read; -ENOMEM.
 */
int image_symbols(const struct image *image, struct symbol_table *table);

/**
 * image_own_vdso - a copy of the vDSO of this process: an ELF file's bytes
 *
 * Return:  0; -ENOENT: there is none; -EINVAL: its headers are invalid; -errno.
 * Owns:    the caller, to free().
 */
int image_own_vdso(char **ret_bytes, size_t *ret_len);

#endif
