/* code.c - decodes the x86-64 instructions of a function of another process, in order */
#include "sampler/remote/code.h"

#include <string.h>

enum {
	REX_W = 8,
	REX_R = 4,
	REX_X = 2,
	REX_B = 1,
	NO_OPCODE = 0x06, /* of 64-bit mode */
};

/* What follows an opcode: a letter each in the tables below. */
enum shape {
	NONE = '.',      /* nothing */
	MODRM = 'm',     /* modrm and what it brings */
	MODRM_1 = 'b',   /* and one byte more */
	MODRM_4 = 'd',   /* and four, two with an operand prefix */
	BYTE = '1',      /* one byte, */
	WORD = '2',      /* two, */
	WORD_BYTE = '3', /* two and one, */
	FULL = '4',      /* four, two with an operand prefix, */
	NEAR = 'j',      /* always four: the distance of a branch */
	WIDE = 'i',      /* four, two with a prefix, eight with REX.W */
	ADDRESS = 'a',   /* eight, four with an address prefix */
	TEST_1 = 't',    /* modrm, and one byte when reg is 0 or 1 */
	TEST_4 = 'T',    /* modrm, and four when reg is 0 or 1 */
	INVALID = 'x',
};

/* Prefixes, 0f and the vector escapes are taken before: they are invalid here. */
static const char one_byte[256 + 1] = "mmmm14xxmmmm14xx" /* 00 */
				      "mmmm14xxmmmm14xx"
				      "mmmm14xxmmmm14xx"
				      "mmmm14xxmmmm14xx"
				      "xxxxxxxxxxxxxxxx" /* 40 */
				      "................"
				      "xxxmxxxx4d1b...."
				      "1111111111111111"
				      "bdxbmmmmmmmmmmmm" /* 80 */
				      "..........x....."
				      "aaaa....14......"
				      "11111111iiiiiiii"
				      "bb2.xxbd3.2..1x." /* c0 */
				      "mmmmxxx.mmmmmmmm"
				      "11111111jjx1...."
				      "x.xx..tT......mm";

static const char two_bytes[256 + 1] = "mmmmx.....x.xm.b" /* 00 */
				       "mmmmmmmmmmmmmmmm"
				       "mmmmxxxxmmmmmmmm"
				       "......x.xxxxxxxx"
				       "mmmmmmmmmmmmmmmm" /* 40 */
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm"
				       "bbbbmmm.mmmmmmmm"
				       "jjjjjjjjjjjjjjjj" /* 80 */
				       "mmmmmmmmmmmmmmmm"
				       "...mbmxx...mbmmm"
				       "mmmmmmmmmmbmmmmm"
				       "mmbmbbbm........" /* c0 */
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm";

/* Bytes not yet taken; reading past the end makes everything 0 and is found out at last. */
struct bytes {
	const unsigned char *code;
	size_t n;
	size_t at;
	bool operand_16;
	bool address_32;
	unsigned rex;
};

static unsigned peek(const struct bytes *bytes)
{
	return bytes->at < bytes->n ? bytes->code[bytes->at] : 0;
}

static unsigned take(struct bytes *bytes)
{
	unsigned byte = peek(bytes);

	bytes->at++;
	return byte;
}

static int64_t take_signed(struct bytes *bytes, unsigned len)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < len; i++)
		value |= (uint64_t)take(bytes) << (8 * i);
	if (len == 0 || len == 8)
		return (int64_t)value;
	return (int64_t)(value << (64 - 8 * len)) >> (64 - 8 * len);
}

/* REX counts only where the opcode follows it. */
static void take_prefixes(struct bytes *bytes)
{
	for (; bytes->at < INSTRUCTION_BYTES; bytes->at++) {
		switch (peek(bytes)) {
		case 0x66:
			bytes->operand_16 = true;
			break;
		case 0x67:
			bytes->address_32 = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			break;
		default:
			if ((peek(bytes) & 0xf0) == 0x40)
				bytes->rex = take(bytes) & 0xf;
			return;
		}
	}
}

static void take_modrm(struct bytes *bytes, struct instruction *in)
{
	unsigned modrm = take(bytes);
	unsigned low = modrm & 7;
	unsigned sib;

	in->has_modrm = true;
	in->mod = (uint8_t)(modrm >> 6);
	in->reg = (uint8_t)(((modrm >> 3) & 7) | (bytes->rex & REX_R ? 8 : 0));
	in->rm = (uint8_t)(low | (bytes->rex & REX_B ? 8 : 0));
	if (in->mod != 3 && low == 4) {
		sib = take(bytes);
		low = sib & 7;
		in->has_sib = true;
		in->base = (uint8_t)(low | (bytes->rex & REX_B ? 8 : 0));
		in->has_index = ((sib >> 3) & 7) != 4 || (bytes->rex & REX_X);
	}
	if (in->mod == 1)
		in->displacement = (int32_t)take_signed(bytes, 1);
	else if (in->mod == 2 || (in->mod == 0 && low == 5))
		in->displacement = (int32_t)take_signed(bytes, 4);
}

static char shape_of(unsigned opcode)
{
	switch (opcode & 0xff00) {
	case 0:
		return one_byte[opcode];
	case INSTRUCTION_0F:
		return two_bytes[opcode & 0xff];
	case INSTRUCTION_0F38:
		return MODRM;
	default:
		return MODRM_1;
	}
}

static void take_opcode(struct bytes *bytes, struct instruction *in)
{
	in->opcode = take(bytes);
	if (in->opcode != 0x0f)
		return;
	in->opcode = take(bytes);
	if (in->opcode == 0x38 || in->opcode == 0x3a)
		in->opcode = in->opcode << 8 | take(bytes);
	else
		in->opcode |= INSTRUCTION_0F;
}

/* c5 RvvvvLpp, c4 RXBmmmmm WvvvvLpp, 62 and three bytes: the letters are stored inverted. */
static bool take_vector(struct bytes *bytes, struct instruction *in)
{
	static const unsigned maps[4] = {0, INSTRUCTION_0F, INSTRUCTION_0F38, INSTRUCTION_0F3A};
	unsigned escape = peek(bytes);
	unsigned payload;
	unsigned map = 1;

	if (escape != 0xc5 && escape != 0xc4 && escape != 0x62)
		return false;
	(void)take(bytes);
	payload = take(bytes);
	bytes->rex = payload & 0x80 ? 0 : REX_R;
	if (escape != 0xc5) {
		map = payload & (escape == 0x62 ? 7 : 0x1f);
		bytes->rex |= (payload & 0x40 ? 0 : REX_X) | (payload & 0x20 ? 0 : REX_B);
		(void)take(bytes);
	}
	if (escape == 0x62)
		(void)take(bytes);
	in->vector = true;
	in->opcode = take(bytes);
	if (map == 0 || map == 4 || map > 6)
		in->opcode = NO_OPCODE;
	else
		/* The half-precision maps, 5 and 6, have modrm and no more. */
		in->opcode |= map < 4 ? maps[map] : INSTRUCTION_0F38;
	return true;
}

static unsigned immediate_bytes(const struct bytes *bytes, const struct instruction *in, char shape)
{
	unsigned full = bytes->operand_16 && !in->wide ? 2 : 4;

	switch (shape) {
	case MODRM_1:
	case BYTE:
		return 1;
	case WORD:
		return 2;
	case WORD_BYTE:
		return 3;
	case MODRM_4:
	case FULL:
		return full;
	case NEAR:
		return 4;
	case WIDE:
		return in->wide ? 8 : full;
	case ADDRESS:
		return bytes->address_32 ? 4 : 8;
	case TEST_1:
		return (in->reg & 7) < 2 ? 1 : 0;
	case TEST_4:
		return (in->reg & 7) < 2 ? full : 0;
	default:
		return 0;
	}
}

bool instruction_decode(const unsigned char *code, size_t n, struct instruction *ret)
{
	struct bytes bytes = {.code = code, .n = n};
	struct instruction in = {0};
	char shape;

	take_prefixes(&bytes);
	if (!take_vector(&bytes, &in))
		take_opcode(&bytes, &in);
	in.wide = (bytes.rex & REX_W) != 0 && !in.vector;
	shape = shape_of(in.opcode);
	if (shape == INVALID)
		return false;
	if (strchr("mbdtT", shape))
		take_modrm(&bytes, &in);
	else
		in.rm = (uint8_t)((in.opcode & 7) | (bytes.rex & REX_B ? 8 : 0));
	in.immediate = take_signed(&bytes, immediate_bytes(&bytes, &in, shape));
	in.length = (unsigned)bytes.at;
	if (bytes.at > n || bytes.at > INSTRUCTION_BYTES)
		return false;
	*ret = in;
	return true;
}

bool code_init(struct code *code, struct unwind_reader *reader, uint64_t begin, uint64_t end)
{
	if (end < begin || end - begin > CODE_FUNCTION_BYTES)
		return false;
	code->reader = reader;
	code->at = begin;
	code->end = end;
	code->n = 0;
	code->used = 0;
	return true;
}

static bool fill(struct code *code)
{
	uint64_t left = code->end - code->at;

	if (code->n - code->used >= INSTRUCTION_BYTES || code->n - code->used == left)
		return true;
	code->n = left < CODE_CHUNK_BYTES ? (size_t)left : CODE_CHUNK_BYTES;
	code->used = 0;
	return code->reader->read(code->reader, code->at, code->chunk, code->n);
}

bool code_next(struct code *code, struct instruction *ret)
{
	if (code->at == code->end || !fill(code) ||
	    !instruction_decode(code->chunk + code->used, code->n - code->used, ret))
		return false;
	code->at += ret->length;
	code->used += ret->length;
	return true;
}
