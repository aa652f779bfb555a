/* gauges.c - a program whose own numbers stand beside its samples
 *
 *	cc $(pkg-config --cflags wick) gauges.c -o gauges
 *	wick record --metrics auto,queue_len,done:counter,batch_bytes -- ./gauges
 */
#include <wick.h>

#include <stdio.h>
#include <time.h>

static volatile int64_t queue_len; /* goes up and down */
static volatile int64_t done;      /* only grows */

static int64_t handle(int64_t request)
{
	volatile int64_t sum = 0;
	int i;

	for (i = 0; i < 20000; i++)
		sum = sum + request % (i + 1);
	return sum % 64;
}

int main(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 2;
	int64_t bytes = 0;

	wick_gauge("queue_len", &queue_len);
	wick_counter("done", &done);
	while (clock() < end) {
		for (queue_len = 100; queue_len > 0; queue_len = queue_len - 1) {
			bytes += 1000 + handle(done);
			done = done + 1;
		}
		wick_gauge_set("batch_bytes", bytes);
		bytes = 0;
	}
	return printf("%ld requests\n", (long)done) > 0 ? 0 : 1;
}
