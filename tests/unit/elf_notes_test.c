/* elf_notes_test.c - notes of both alignments, and lengths that lie */
#include "base/elf_segments.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct segment {
	unsigned char bytes[256];
	size_t len;
};

static void put(struct segment *segment, size_t align, const char *name, const char *desc,
		uint32_t type)
{
	const Elf64_Nhdr head = {.n_namesz = (uint32_t)strlen(name) + 1,
				 .n_descsz = (uint32_t)strlen(desc),
				 .n_type = type};

	memcpy(segment->bytes + segment->len, &head, sizeof(head));
	segment->len += sizeof(head);
	memcpy(segment->bytes + segment->len, name, head.n_namesz);
	segment->len = (segment->len + head.n_namesz + align - 1) / align * align;
	memcpy(segment->bytes + segment->len, desc, head.n_descsz);
	segment->len = (segment->len + head.n_descsz + align - 1) / align * align;
}

static void finds_each_note_at_both_alignments(void **state)
{
	(void)state;
	for (size_t align = 4; align <= 8; align += 4) {
		struct segment segment = {.len = 0};
		struct elf_notes notes = {.bytes = segment.bytes, .align = align};
		struct elf_note note;

		put(&segment, align, "GNU", "12345", 5);
		put(&segment, align, "wick", "abcdefgh", 7);
		put(&segment, align, "", "", 9);
		notes.len = segment.len;
		assert_true(elf_notes_next(&notes, &note));
		assert_true(elf_note_is(&note, "GNU", 5));
		assert_false(elf_note_is(&note, "GNU", 6));
		assert_false(elf_note_is(&note, "GN", 5));
		assert_int_equal(note.desc_len, 5);
		assert_memory_equal(note.desc, "12345", 5);
		assert_true(elf_notes_next(&notes, &note));
		assert_true(elf_note_is(&note, "wick", 7));
		assert_memory_equal(note.desc, "abcdefgh", 8);
		assert_true(elf_notes_next(&notes, &note));
		assert_true(elf_note_is(&note, "", 9));
		assert_false(elf_notes_next(&notes, &note));
	}
}

/* Each length as it is in turn, in bytes of their own: a read beyond them is seen. */
static void a_note_that_is_cut_off_is_none(void **state)
{
	struct segment segment = {.len = 0};

	(void)state;
	put(&segment, 4, "wick", "12345678", 1);
	for (size_t len = 0; len < segment.len; len++) {
		unsigned char *bytes = malloc(len ? len : 1);
		struct elf_notes notes = {.bytes = bytes, .len = len, .align = 4};
		struct elf_note note;

		assert_non_null(bytes);
		memcpy(bytes, segment.bytes, len);
		assert_false(elf_notes_next(&notes, &note));
		free(bytes);
	}
}

static void lengths_that_lie_end_the_notes(void **state)
{
	static const uint32_t lengths[] = {UINT32_MAX, UINT32_MAX - 3, UINT32_MAX - 12, 0x80000000U,
					   29,         UINT32_MAX / 4};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t field = 0; field < 2; field++) {
			struct segment segment = {.len = 0};
			struct elf_notes notes = {.bytes = segment.bytes, .align = 8};
			struct elf_note note;

			put(&segment, 8, "wick", "12345678", 1);
			notes.len = segment.len;
			memcpy(segment.bytes + 4 * field, &lengths[i], sizeof(lengths[i]));
			assert_false(elf_notes_next(&notes, &note));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_note_at_both_alignments),
		cmocka_unit_test(a_note_that_is_cut_off_is_none),
		cmocka_unit_test(lengths_that_lie_end_the_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
