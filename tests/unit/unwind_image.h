/* unwind_image.h - a module and a stack made by hand, for an unwinder to read */
#ifndef UNIT_UNWIND_IMAGE_H
#define UNIT_UNWIND_IMAGE_H

#include "sampler/unwind/unwind.h"

#include <stddef.h>
#include <stdint.h>

enum {
	IMAGE_SIZE = 65536,
	IMAGE_CODE = 0x1000, /* offsets in the module */
	IMAGE_HDR = 0x8000,
	IMAGE_EH_FRAME = 0xa000,
	IMAGE_FDES = 64,
	STACK_WORDS = 1024,
};

#define MODULE UINT64_C(0x400000)
#define CODE   (MODULE + IMAGE_CODE)
#define STACK  UINT64_C(0x7ffd00000000)

/* What a CIE begins with on this machine: CFA = sp + 8, return address at CFA - 8. */
#define USUAL_CIE 0x0c, 0x07, 0x08, 0x90, 0x01

struct image {
	struct unwind_reader reader;
	unsigned char bytes[IMAGE_SIZE];
	uint64_t stack[STACK_WORDS];
	size_t at;  /* where the next entry of .eh_frame goes */
	size_t cie; /* the last one */
	size_t n_fdes;
	size_t reads;
	struct {
		int32_t code;
		int32_t fde;
	} table[IMAGE_FDES];
};

/**
 * image_init - an empty module at MODULE, and a stack of zeroes at STACK as the window
 *
 * Context: any thread, as for all of these.
 */
void image_init(struct image *image);

/**
 * image_cie - append a CIE: version 1, factors 1 and -8, pcrel|sdata4
 * @augmentation: "zR" or "zRS"
 *
 * Context: any thread.
 */
void image_cie(struct image *image, const char *augmentation, const unsigned char *ops, size_t n);

/**
 * image_fde - append an FDE of the last CIE for [BEGIN, BEGIN + SIZE)
 *
 * Return:  its offset in the module.
 * Context: any thread.
 */
size_t image_fde(struct image *image, uint64_t begin, uint32_t size, const unsigned char *ops,
		 size_t n);

/**
 * image_table - write .eh_frame_hdr over the FDEs, which were added in ascending order
 *
 * Context: any thread.
 */
void image_table(struct image *image);

/**
 * image_put - a 32-bit number at an offset in the module
 *
 * Context: any thread.
 */
void image_put(struct image *image, size_t at, uint32_t value);

/**
 * image_call - write a direct call to TARGET that ends at RETURN_ADDRESS
 *
 * Context: any thread.
 */
void image_call(struct image *image, uint64_t return_address, uint64_t target);

/**
 * image_word - the stack's word at an address
 *
 * Context: any thread.
 */
uint64_t *image_word(struct image *image, uint64_t address);

/**
 * image_module - what the reader's find() gives
 *
 * Context: any thread.
 */
struct unwind_module image_module(void);

/**
 * image_find - the reader's find(): everything in the module is the module's
 *
 * Context: any thread.
 */
bool image_find(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module);

#endif
