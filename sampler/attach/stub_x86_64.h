/* stub_x86_64.h - offsets in struct stub, for assembler and C */
#ifndef ATTACH_STUB_X86_64_H
#define ATTACH_STUB_X86_64_H

#define STUB_ERRNO_LOCATION 0
#define STUB_DLOPEN         8
#define STUB_DLERROR        16
#define STUB_ATTACH         24
#define STUB_ATTACH_OFFSET  32
#define STUB_PASSED_BYTES   40
#define STUB_PAIR           48
#define STUB_PAIR_MADE      56
#define STUB_MESSAGE        64
#define STUB_PASSED         120
#define STUB_PATH           144
#define STUB_NAME           176
#define STUB_IGNORES_TRAP   200
#define STUB_TRAP_ACTION    208
#define STUB_REQUEST        240

#define STUB_PATH_DIGITS 16 /* length of the path: "/proc/./self/fd/" */
#define STUB_NAME_BYTES  17

/* Offsets in struct attach_request. */
#define STUB_RING_FD   (STUB_REQUEST + 8)
#define STUB_OTHER_FDS (STUB_REQUEST + 12)

#endif
