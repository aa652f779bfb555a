/* crc32c.h - the checksum of Castagnoli, which the CPU knows (RFC 3720, B.4) */
#ifndef CACHE_CRC32C_H
#define CACHE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * crc32c - the checksum of bytes, by the CPU's own instruction where it has one
 *
 * Context: any thread.
 */
uint32_t crc32c(const void *bytes, size_t len);

/**
 * crc32c_by_table - the same on any CPU
 *
 * Context: any thread.
 */
uint32_t crc32c_by_table(const void *bytes, size_t len);

#endif
