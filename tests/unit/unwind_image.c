/* unwind_image.c - builds .eh_frame byte by byte */
#include "tests/unit/unwind_image.h"

#include <string.h>

static bool read_image(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	struct image *image = (struct image *)reader;

	image->reads++;
	if (address < MODULE || address >= MODULE + IMAGE_SIZE ||
	    MODULE + IMAGE_SIZE - address < len)
		return false;
	memcpy(to, image->bytes + (address - MODULE), len);
	return true;
}

struct unwind_module image_module(void)
{
	return (struct unwind_module){
		.start = MODULE,
		.end = MODULE + IMAGE_SIZE,
		.eh_frame_hdr = MODULE + IMAGE_HDR,
	};
}

bool image_find(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	(void)reader;
	if (pc < MODULE || pc >= MODULE + IMAGE_SIZE)
		return false;
	*ret_module = image_module();
	return true;
}

void image_init(struct image *image)
{
	*image = (struct image){0};
	image->reader.lo = STACK;
	image->reader.hi = STACK + sizeof(image->stack);
	image->reader.bytes = (const unsigned char *)image->stack;
	image->reader.read = read_image;
	image->reader.find = image_find;
	image->at = IMAGE_EH_FRAME;
}

void image_put(struct image *image, size_t at, uint32_t value)
{
	memcpy(image->bytes + at, &value, sizeof(value));
}

static void add_byte(struct image *image, unsigned byte)
{
	image->bytes[image->at++] = (unsigned char)byte;
}

static void add_ops(struct image *image, const unsigned char *ops, size_t n, size_t length_at)
{
	for (size_t i = 0; i < n; i++)
		add_byte(image, ops[i]);
	while (image->at % 8)
		add_byte(image, 0);
	image_put(image, length_at, (uint32_t)(image->at - length_at - 4));
}

void image_cie(struct image *image, const char *augmentation, const unsigned char *ops, size_t n)
{
	size_t start = image->at;

	image->cie = start;
	image->at += 8;
	add_byte(image, 1);
	for (const char *c = augmentation; *c; c++)
		add_byte(image, (unsigned char)*c);
	add_byte(image, 0);
	add_byte(image, 1);    /* code alignment */
	add_byte(image, 0x78); /* data alignment -8 */
	add_byte(image, ARCH_REG_PC);
	add_byte(image, 1);
	add_byte(image, 0x1b);
	add_ops(image, ops, n, start);
}

size_t image_fde(struct image *image, uint64_t begin, uint32_t size, const unsigned char *ops,
		 size_t n)
{
	size_t start = image->at;

	image_put(image, start + 4, (uint32_t)(start + 4 - image->cie));
	image_put(image, start + 8, (uint32_t)(begin - (MODULE + start + 8)));
	image_put(image, start + 12, size);
	image->at += 16;
	add_byte(image, 0);
	add_ops(image, ops, n, start);
	image->table[image->n_fdes].code = (int32_t)(begin - (MODULE + IMAGE_HDR));
	image->table[image->n_fdes++].fde = (int32_t)start - IMAGE_HDR;
	return start;
}

void image_table(struct image *image)
{
	static const unsigned char encodings[4] = {1, 0x1b, 0x03, 0x3b};

	memcpy(image->bytes + IMAGE_HDR, encodings, sizeof(encodings));
	image_put(image, IMAGE_HDR + 4, IMAGE_EH_FRAME - (IMAGE_HDR + 4));
	image_put(image, IMAGE_HDR + 8, (uint32_t)image->n_fdes);
	memcpy(image->bytes + IMAGE_HDR + 12, image->table, image->n_fdes * 8);
}

void image_call(struct image *image, uint64_t return_address, uint64_t target)
{
	size_t at = return_address - MODULE;

	image->bytes[at - 5] = 0xe8;
	image_put(image, at - 4, (uint32_t)(target - return_address));
}

uint64_t *image_word(struct image *image, uint64_t address)
{
	return &image->stack[(address - STACK) / 8];
}
