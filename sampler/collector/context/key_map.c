/*
 * key_map.c - the names of OpenTelemetry's thread attributes
 *
 * OTEP 4719: a mapping of a page with a head, which points to a protobuf message
 * ProcessContext { Resource resource = 1; repeated KeyValue attributes = 2; }.  OTEP 4947 puts the
 * names into the attribute threadlocal.attribute_key_map, as an array of strings.
 */
#include "sampler/collector/context/key_map.h"

#include "base/buf.h"
#include "base/io.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READS = 3, /* tries while the process changes it */
	VERSION_FIRST = 1,
	VERSION_LAST = 2,
};

struct context_head {
	char signature[8];
	uint32_t version;
	uint32_t payload_bytes;
	uint64_t published_ns; /* 0: it is being changed */
	uint64_t payload;
};

/* A view of bytes of a message. */
struct field {
	const unsigned char *at;
	size_t len;
};

static bool take_varint(struct field *from, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; from->len && shift < 64; shift += 7) {
		unsigned char byte = *from->at++;

		from->len--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool skip(struct field *from, uint64_t n)
{
	if (n > from->len)
		return false;
	from->at += n;
	from->len -= n;
	return true;
}

/*
 * The next field of a message (protobuf encoding: tag = number << 3 | wire type).
 *
 * Return: its number, with its bytes where it has a length; 0: the end, or nothing valid.
 */
static uint64_t take_field(struct field *from, struct field *ret_field)
{
	uint64_t tag;
	uint64_t n;

	*ret_field = (struct field){0};
	if (!take_varint(from, &tag))
		return 0;
	switch (tag & 7) {
	case 0:
		return take_varint(from, &n) ? tag >> 3 : 0;
	case 1:
		return skip(from, 8) ? tag >> 3 : 0;
	case 2:
		if (!take_varint(from, &n) || n > from->len)
			return 0;
		*ret_field = (struct field){.at = from->at, .len = n};
		(void)skip(from, n);
		return tag >> 3;
	case 5:
		return skip(from, 4) ? tag >> 3 : 0;
	default:
		return 0;
	}
}

/* AnyValue { string_value = 1 } */
static char *text_of(struct field value)
{
	struct field field;
	uint64_t number;
	char *text = NULL;

	while (!text && (number = take_field(&value, &field)))
		if (number == 1 && field.at)
			text = strndup((const char *)field.at, field.len < KEY_MAP_KEY_BYTES
								       ? field.len
								       : KEY_MAP_KEY_BYTES);
	return text;
}

void key_map_release(struct key_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		free(map->keys[i]);
	map->n = 0;
}

/* AnyValue { array_value = 5 }, ArrayValue { values = 1 } */
static void take_keys(struct key_map *map, struct field value)
{
	struct field array;
	struct field item;
	uint64_t number;

	while ((number = take_field(&value, &array))) {
		if (number != 5 || !array.at)
			continue;
		key_map_release(map);
		while ((number = take_field(&array, &item)))
			if (number == 1 && item.at && map->n < KEY_MAP_KEYS)
				map->keys[map->n++] = text_of(item);
	}
}

/* KeyValue { key = 1, value = 2 }.  Return: whether it is the names. */
static bool take_attribute(struct key_map *map, struct field attribute)
{
	static const char name[] = "threadlocal.attribute_key_map";
	struct field key = {0};
	struct field value = {0};
	struct field field;
	uint64_t number;

	while ((number = take_field(&attribute, &field))) {
		if (number == 1)
			key = field;
		if (number == 2)
			value = field;
	}
	if (key.len != sizeof(name) - 1 || memcmp(key.at, name, key.len) != 0)
		return false;
	take_keys(map, value);
	return true;
}

bool key_map_parse(struct key_map *map, const unsigned char *message, size_t len)
{
	struct field from = {.at = message, .len = len};
	struct field field;
	uint64_t number;
	bool found = false;

	while ((number = take_field(&from, &field)))
		if (number == 2 && field.at)
			found |= take_attribute(map, field);
	return found;
}

static bool starts_with(const struct maps_line *line, const char *name)
{
	size_t len = strlen(name);

	return line->path_len >= len && memcmp(line->path, name, len) == 0;
}

static bool visit(void *context, const struct maps_line *line)
{
	uint64_t *address = context;

	if (!starts_with(line, "[anon_shmem:OTEL_CTX]") && !starts_with(line, "[anon:OTEL_CTX]") &&
	    !starts_with(line, "/memfd:OTEL_CTX"))
		return true;
	*address = line->start;
	return false;
}

static bool read_head(int mem_fd, uint64_t mapping, struct context_head *ret_head)
{
	return proc_memory_copy(mem_fd, mapping, ret_head, sizeof(*ret_head)) &&
	       memcmp(ret_head->signature, "OTEL_CTX", sizeof(ret_head->signature)) == 0 &&
	       ret_head->version >= VERSION_FIRST && ret_head->version <= VERSION_LAST;
}

/* The payload is whole if the time stamp was the same before and after. */
static bool read_payload(struct key_map *map, int mem_fd, const struct context_head *head)
{
	struct context_head after;
	unsigned char *payload;
	bool found = false;

	if (!head->published_ns || head->payload_bytes > KEY_MAP_PAYLOAD)
		return false;
	payload = malloc(head->payload_bytes ? head->payload_bytes : 1);
	if (payload && proc_memory_copy(mem_fd, head->payload, payload, head->payload_bytes) &&
	    read_head(mem_fd, map->mapping, &after) && after.published_ns == head->published_ns) {
		map->published_ns = head->published_ns;
		found = true;
		if (!key_map_parse(map, payload, head->payload_bytes))
			key_map_release(map);
	}
	free(payload);
	return found;
}

bool key_map_read(struct key_map *map, pid_t pid, int mem_fd)
{
	struct context_head head;

	if (!map->mapping || !read_head(mem_fd, map->mapping, &head)) {
		map->mapping = 0;
		map->published_ns = 0;
		(void)proc_maps_of(pid, visit, &map->mapping);
	}
	for (int i = 0; map->mapping && i < READS; i++) {
		if (!read_head(mem_fd, map->mapping, &head) ||
		    head.published_ns == map->published_ns || read_payload(map, mem_fd, &head))
			break;
	}
	return map->n > 0;
}
