/* guard.c - Host headers and tokens (RFC 9110 section 7.2, RFC 3986 section 3.2.2) */
#include "flamescope/serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { HOST_BYTES = 256 };

int guard_token(char token[GUARD_TOKEN_TEXT])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char bytes[GUARD_TOKEN_TEXT - 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < sizeof(bytes); i++)
		token[i] = letters[bytes[i] & 63];
	token[GUARD_TOKEN_TEXT - 1] = '\0';
	return 0;
}

bool guard_is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool is_address(const char *name)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* The name in `name:port`, `[address]:port`; false: it is neither. */
static bool split(const char *header, char name[HOST_BYTES])
{
	const char *from = header;
	const char *end;

	if (*header == '[') {
		from++;
		end = strchr(from, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		header = end + 1;
	} else {
		end = strchrnul(header, ':');
		header = end;
	}
	if (*header == ':' && header[1 + strspn(header + 1, "0123456789")])
		return false;
	if (end == from || end - from >= HOST_BYTES)
		return false;
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	return true;
}

bool guard_knows_host(const struct guard *guard, const char *header)
{
	char name[HOST_BYTES];

	if (!header || !split(header, name))
		return false;
	if (strcasecmp(name, "localhost") == 0 || guard_is_loopback(name) ||
	    strcasecmp(name, guard->listen) == 0)
		return true;
	/* No other site can own an address: if we listen on all of ours, any is accepted. */
	if ((strcmp(guard->listen, "0.0.0.0") == 0 || strcmp(guard->listen, "::") == 0) &&
	    is_address(name))
		return true;
	for (size_t i = 0; i < guard->n_hosts; i++)
		if (strcasecmp(name, guard->hosts[i]) == 0)
			return true;
	return false;
}

bool guard_knows_token(const struct guard *guard, const char *given)
{
	unsigned char differs = 0;
	size_t len;

	if (!guard->token)
		return true;
	if (!given)
		return false;
	len = strlen(guard->token);
	if (strlen(given) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(given[i] ^ guard->token[i]);
	return differs == 0;
}
