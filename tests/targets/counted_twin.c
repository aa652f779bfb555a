/* counted_twin.c - counted_twin SECONDS N: counts N requests "GET /honest" by wick.h in that time
 */
#include "wick.h"

#include <stdlib.h>
#include <unistd.h>

enum { US_PER_S = 1000000 };

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	int n = argc > 2 ? atoi(argv[2]) : 0;

	(void)usleep(US_PER_S / 2); /* until wick has found the tables */
	for (int i = 0; i < n; i++) {
		struct wick_request request;

		wick_request_begin(&request, "GET /honest");
		(void)usleep((useconds_t)(seconds * US_PER_S / (n + 1)));
		wick_request_end(&request);
	}
	return 0;
}
