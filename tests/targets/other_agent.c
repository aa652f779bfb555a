/* other_agent.c - all that is seen from outside of an agent of another wire version: its note */
#include "sampler/wire/attach.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

void agent_attach(void);
unsigned int handler_signal;

void agent_attach(void)
{
}

__asm__(".pushsection .note.wick.attach, \"a\", @note\n"
	".balign 4\n"
	".long 5, 24, 0x6a\n"
	".asciz \"wick\"\n"
	".balign 4\n"
	".long " TEXT(WIRE_VERSION) " + 1, 0\n"
				    ".quad agent_attach - .\n"
				    ".quad handler_signal - .\n"
				    ".popsection\n");
