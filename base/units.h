/* units.h - factors between units of time */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

#endif
