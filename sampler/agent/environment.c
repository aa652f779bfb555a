/*
 * environment.c - hides the agent from the program's environment and adds it again for an exec
 *
 * The program sees the environment that it would have without wick, in the same order.
 */
#include "sampler/agent/environment.h"

#include "sampler/agent/agent.h"
#include "sampler/program/preload.h"

#include <stdint.h>

static const char PRELOAD[] = "LD_PRELOAD";
static char *nothing[1];

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

/* Return: the value when ENTRY is NAME=value, or NULL. */
static char *value_of(char *entry, const char *name)
{
	while (*name)
		if (*entry++ != *name++)
			return NULL;
	return *entry == '=' ? entry + 1 : NULL;
}

static char *append(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	*to = '\0';
	return to;
}

char **environment_current(void)
{
	return &environ && environ ? environ : nothing;
}

static char *const *find(char *const *envp, const char *name)
{
	for (; envp && *envp; envp++)
		if (value_of(*envp, name))
			return envp;
	return NULL;
}

const char *environment_get(char *const *envp, const char *name)
{
	char *const *entry = find(envp, name);

	return entry ? value_of(*entry, name) : NULL;
}

/* Return:  whether wick added the whole entry. The agent is removed from a user's LD_PRELOAD. */
static bool is_ours(char *entry)
{
	char *value;
	const char *start;
	size_t len;

	if (value_of(entry, WIRE_ENV_SOCKET))
		return true;
	value = value_of(entry, PRELOAD);
	if (!value)
		return false;
	switch (preload_split(value, agent.preload, &start, &len)) {
	case 0:
		return true;
	case 1:
		for (size_t i = 0; i < len; i++)
			value[i] = start[i];
		value[len] = '\0';
		return false;
	default:
		return false;
	}
}

void environment_hide(char **envp)
{
	char **to = envp;
	char **from = envp;

	if (!envp)
		return;
	for (; *from; from++)
		if (!is_ours(*from))
			*to++ = *from;
	if (to == from)
		return;
	/*
	 * Code that walks past the NULL of the environment expects the auxiliary vector, in pairs.
	 * Usually two entries are gone: their places read as one AT_IGNORE pair.
	 */
	to[0] = NULL;
	for (char **gap = to + 1; gap < from; gap++)
		*gap = (char *)(uintptr_t)((from - gap) % 2);
}

static struct preload preload_of(char *const *envp, const char *asan)
{
	return (struct preload){
		.agent = agent.preload,
		.user = environment_get(envp, PRELOAD),
		.asan = asan,
	};
}

static size_t count(char *const *envp)
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

size_t environment_bytes(char *const *envp, const char *asan)
{
	struct preload preload = preload_of(envp, asan);

	return (count(envp) + 3) * sizeof(char *) + sizeof(PRELOAD) + 1 + preload_length(&preload) +
	       sizeof(WIRE_ENV_SOCKET) + 1 + length(agent.socket);
}

char **environment_build(char *const *envp, const char *asan, void *block)
{
	struct preload preload = preload_of(envp, asan);
	size_t n = count(envp);
	char *const *user = find(envp, PRELOAD);
	char **environment = block;
	char *socket = (char *)(environment + n + 3);
	char *entry;

	entry = append(append(append(socket, WIRE_ENV_SOCKET), "="), agent.socket) + 1;
	preload_build(&preload, append(append(entry, PRELOAD), "="));
	for (size_t i = 0; i < n; i++)
		environment[i] = envp[i];
	/* The user's LD_PRELOAD keeps its place, so that hiding the agent restores the order. */
	if (user)
		environment[user - envp] = entry;
	else
		environment[n++] = entry;
	environment[n++] = socket;
	environment[n] = NULL;
	return environment;
}
