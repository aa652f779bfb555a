/* stub_x86_64.h - where the parts of a struct errand stand, for assembler and C */
#ifndef ATTACH_STUB_X86_64_H
#define ATTACH_STUB_X86_64_H

#define ERRAND_ERRNO_LOCATION 0
#define ERRAND_DLOPEN         8
#define ERRAND_DLERROR        16
#define ERRAND_JOIN           24
#define ERRAND_JOIN_OFFSET    32
#define ERRAND_PASSED_BYTES   40
#define ERRAND_PAIR           48
#define ERRAND_PAIR_MADE      56
#define ERRAND_MESSAGE        64
#define ERRAND_PASSED         120
#define ERRAND_PATH           144
#define ERRAND_NAME           176
#define ERRAND_IGNORES_TRAP   200
#define ERRAND_TRAP_ACTION    208
#define ERRAND_ORDER          240

#define ERRAND_PATH_DIGITS 16 /* of the path: "/proc/./self/fd/" */
#define ERRAND_NAME_BYTES  17

/* Of a struct join. */
#define ERRAND_RING_FD   (ERRAND_ORDER + 8)
#define ERRAND_OTHER_FDS (ERRAND_ORDER + 12)

#endif
