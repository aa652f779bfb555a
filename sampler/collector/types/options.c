/* options.c - defaults for the running kernel */
#include "sampler/collector/types/options.h"

#include "base/units.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

enum ring_discovery collector_auto_discovery(void)
{
	struct utsname name;
	char *end;
	unsigned long version;
	unsigned long patch;

	if (uname(&name) < 0)
		return DISCOVERY_HOOKS;
	version = strtoul(name.release, &end, 10);
	patch = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return version > 6 || (version == 6 && patch >= 4) ? DISCOVERY_TIMER : DISCOVERY_HOOKS;
}

uint32_t collector_kernel_hz(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || tick.tv_nsec <= 0)
		return 100;
	return (uint32_t)((NS_PER_S + (uint64_t)tick.tv_nsec / 2) / (uint64_t)tick.tv_nsec);
}
