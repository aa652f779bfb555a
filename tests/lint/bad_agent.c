/* bad_agent.c - everything that agent_so.sh must refuse: a library, TLS, a foreign export */
#include <stdio.h>

__attribute__((visibility("default"))) _Thread_local int bad_agent_calls;

__attribute__((visibility("default"))) int bad_agent(void);

int bad_agent(void)
{
	return puts("bad") + ++bad_agent_calls;
}
