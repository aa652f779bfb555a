/* plugin.c - built twice, as two libraries whose function has another name in each */
#include "burn.h"

BURN_FUNCTION(PLUGIN_FUNCTION)

void (*const plugin_burn)(uint64_t) = PLUGIN_FUNCTION;
