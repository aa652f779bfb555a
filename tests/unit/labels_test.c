/* labels_test.c - what a context says as labels, and contexts that lie */
#include "sampler/collector/context/key_map.h"
#include "sampler/collector/context/labels.h"
#include "sampler/include/wick_otel.h"

#include <fcntl.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static const char *const gauges[] = {"queue_len"};
static const struct label_words words = {.gauges = gauges, .n_gauges = 1};
static const struct key_map no_keys;

/* "key=value key=value", in their order. */
static const char *text_of(const struct labels *labels)
{
	static char text[2 * SAMPLE_LABEL_BYTES];
	const char *at = labels->text;
	char *to = text;

	*to = '\0';
	for (size_t i = 0; i < labels->n; i++) {
		const char *value = at + strlen(at) + 1;

		to += sprintf(to, "%s%s=%s", i ? " " : "", at, value);
		at = value + strlen(value) + 1;
	}
	assert_ptr_equal(at, labels->text + labels->bytes);
	return text;
}

static size_t add(uint8_t *bytes, size_t at, uint8_t key, const char *value)
{
	bytes[at] = key;
	bytes[at + 1] = (uint8_t)strlen(value);
	memcpy(bytes + at + 2, value, strlen(value));
	return at + 2 + strlen(value);
}

static void ids_are_hexadecimal_and_zero_is_none(void **state)
{
	const uint8_t trace[16] = {0x01, 0xab, [15] = 0xff};
	const uint8_t none[16] = {0};
	struct labels labels = {0};

	(void)state;
	labels_of_ids(&labels, none, none);
	assert_int_equal(labels.n, 0);
	labels_of_ids(&labels, trace, trace);
	assert_string_equal(text_of(&labels),
			    "trace=01ab00000000000000000000000000ff span=01ab000000000000");
}

static void the_last_of_a_key_counts(void **state)
{
	uint8_t bytes[CONTEXT_MAX_BYTES] = {0};
	struct label_source source = {.wick = true, .keys = &no_keys, .words = &words};
	struct labels labels = {0};
	size_t n = OTEL_RECORD_HEAD;

	(void)state;
	n = add(bytes, n, CONTEXT_IDENTITY, "GET /");
	n = add(bytes, n, CONTEXT_TASK, "proc@/home/x/src/a.c:12");
	n = add(bytes, n, CONTEXT_TIER, "queue");
	n = add(bytes, n, CONTEXT_TIER, "db");
	n = add(bytes, n, CONTEXT_FUNCTION, "f@b.c:3");
	n = add(bytes, n, 77, "unknown");
	labels_of_otel(&labels, &source, bytes, n);
	assert_string_equal(text_of(&labels),
			    "identity=GET / task=proc@a.c:12 tier=db function=f@b.c:3");
	assert_true(labels_has(&labels, "function"));
	/* An empty value hides the one before. */
	n = add(bytes, n, CONTEXT_TIER, "");
	labels = (struct labels){0};
	labels_of_otel(&labels, &source, bytes, n);
	assert_string_equal(text_of(&labels), "identity=GET / task=proc@a.c:12 function=f@b.c:3");
	/* What is not whole ends it. */
	labels = (struct labels){0};
	labels_of_otel(&labels, &source, bytes, OTEL_RECORD_HEAD + 6);
	assert_int_equal(labels.n, 0);
}

static void attributes_have_the_names_of_the_map(void **state)
{
	char first[] = "http.route";
	char second[] = "wick.tier";
	const struct key_map keys = {.n = 3, .keys = {first, second, NULL}};
	uint8_t bytes[CONTEXT_MAX_BYTES] = {0};
	struct label_source source = {.keys = &keys, .words = &words};
	struct labels labels = {0};
	size_t n = OTEL_RECORD_HEAD;

	(void)state;
	n = add(bytes, n, 0, "/users");
	n = add(bytes, n, 1, "db");
	n = add(bytes, n, 2, "no text");
	labels_of_otel(&labels, &source, bytes, n);
	assert_string_equal(text_of(&labels), "http.route=/users tier=db");
	assert_false(source.unknown_key);
	n = add(bytes, n, 3, "later");
	labels_of_otel(&labels, &source, bytes, n);
	assert_true(source.unknown_key);
	/* Without a map there are numbers. */
	source.keys = &no_keys;
	labels = (struct labels){0};
	labels_of_otel(&labels, &source, bytes, n);
	assert_string_equal(text_of(&labels),
			    "attr_0=/users attr_1=db attr_2=no text attr_3=later");
}

static void keys_cannot_be_words_of_the_text(void **state)
{
	struct labels labels = {0};

	(void)state;
	labels_set(&labels, &words, "cpu_ns", 6, "1,2", 3);
	labels_set(&labels, &words, "trace", 5, "x", 1);
	labels_set(&labels, &words, "queue_len", 9, "y", 1);
	labels_set(&labels, &words, "a b=\n%", 6, "z", 1);
	labels_set(&labels, &words, "", 0, "none", 4);
	labels_set(&labels, &words, "st", 2, "a\0b", 3);
	assert_string_equal(text_of(&labels),
			    "attr_cpu_ns=1,2 attr_trace=x attr_queue_len=y a_b___=z attr_st=a");
}

static void the_first_of_a_custom_label_counts(void **state)
{
	static const char bytes[] = "\1a\1b\1a\1c\3xyz\2hi\0\1n\1e\0\5short";
	struct labels labels = {0};

	(void)state;
	labels_of_texts(&labels, &words, (const uint8_t *)bytes, sizeof(bytes) - 1);
	assert_string_equal(text_of(&labels), "a=b xyz=hi");
	for (size_t n = 0; n < sizeof(bytes); n++)
		labels_of_texts(&labels, &words, (const uint8_t *)bytes, n);
}

static void there_is_a_bound(void **state)
{
	char value[255];
	char key[8];
	struct labels labels = {0};

	(void)state;
	memset(value, 'v', sizeof(value));
	for (int i = 0; i < 100; i++) {
		(void)sprintf(key, "k%d", i);
		labels_set(&labels, &words, key, strlen(key), value, i < 3 ? sizeof(value) : 1);
	}
	assert_int_equal(labels.n, SAMPLE_MAX_LABELS);
	assert_true(labels.bytes <= sizeof(labels.text));
	labels = (struct labels){0};
	for (int i = 0; i < 100; i++) {
		(void)sprintf(key, "k%d", i);
		labels_set(&labels, &words, key, strlen(key), value, sizeof(value));
	}
	assert_int_equal(labels.n, 3);
	(void)text_of(&labels);
}

/* { attributes = 2: { key = 1, value = 2: { array_value = 5: { values = 1: { string_value = 1 }}}}}
 */
static const char message[] =
	"\x0a\x03\x0a\x01x\x12\x3b\x0a\x1dthreadlocal.attribute_key_map\x12\x1a"
	"\x2a\x18\x0a\x0a\x0a\x08root.one\x0a\x0a\x0a\x08the/root";

static void names_come_from_the_process_context(void **state)
{
	struct key_map keys = {0};

	(void)state;
	assert_true(key_map_parse(&keys, (const unsigned char *)message, sizeof(message) - 1));
	assert_int_equal(keys.n, 2);
	assert_string_equal(keys.keys[0], "root.one");
	assert_string_equal(keys.keys[1], "the/root");
	/* Cut anywhere, and with every byte changed, it is read to its end. */
	for (size_t n = 0; n < sizeof(message) - 1; n++) {
		unsigned char bytes[sizeof(message)];

		(void)key_map_parse(&keys, (const unsigned char *)message, n);
		memcpy(bytes, message, sizeof(message));
		for (unsigned byte = 0; byte < 256; byte++) {
			bytes[n] = (unsigned char)byte;
			(void)key_map_parse(&keys, bytes, sizeof(message) - 1);
		}
	}
	key_map_release(&keys);
	assert_int_equal(keys.n, 0);
}

static void what_wick_otel_publishes_is_found_in_the_process(void **state)
{
	static const char *const names[] = {"wick.identity", "wick.task", "wick.tier",
					    "wick.function"};
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	struct key_map keys = {0};

	(void)state;
	assert_false(key_map_read(&keys, getpid(), fd));
	assert_int_equal(wick_otel_publish("orders", "1.4.2"), 0);
	assert_true(key_map_read(&keys, getpid(), fd));
	assert_int_equal(keys.n, 4);
	for (size_t i = 0; i < keys.n; i++)
		assert_string_equal(keys.keys[i], names[i]);
	key_map_release(&keys);
	(void)close(fd);
}

/* Every length stays below 128, or the payload would be no protobuf. */
static void long_texts_are_cut_before_they_are_published(void **state)
{
	struct wick_otel_message payload;
	struct key_map keys = {0};
	char name[300];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	wick_otel_payload(&payload, name, name);
	assert_true(key_map_parse(&keys, payload.bytes, payload.n));
	assert_int_equal(keys.n, 4);
	assert_non_null(memmem(payload.bytes, payload.n, "service.version", 15));
	key_map_release(&keys);
}

static void labels_are_kept(void **state)
{
	struct labels labels = {0};
	struct labels *kept;

	(void)state;
	labels_set(&labels, &words, "a", 1, "b", 1);
	kept = labels_keep(NULL, labels.n, labels.text, labels.bytes);
	assert_string_equal(text_of(kept), "a=b");
	labels_set(&labels, &words, "c", 1, "d", 1);
	kept = labels_keep(kept, labels.n, labels.text, labels.bytes);
	assert_string_equal(text_of(kept), "a=b c=d");
	assert_null(labels_keep(kept, 0, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_hexadecimal_and_zero_is_none),
		cmocka_unit_test(the_last_of_a_key_counts),
		cmocka_unit_test(attributes_have_the_names_of_the_map),
		cmocka_unit_test(keys_cannot_be_words_of_the_text),
		cmocka_unit_test(the_first_of_a_custom_label_counts),
		cmocka_unit_test(there_is_a_bound),
		cmocka_unit_test(names_come_from_the_process_context),
		cmocka_unit_test(what_wick_otel_publishes_is_found_in_the_process),
		cmocka_unit_test(long_texts_are_cut_before_they_are_published),
		cmocka_unit_test(labels_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
