/* lock_pass.c - preloaded: passes pthread_mutex_lock and unlock on and does nothing else */
#include <dlfcn.h>
#include <pthread.h>

static int (*next_lock)(pthread_mutex_t *);
static int (*next_unlock)(pthread_mutex_t *);

static void __attribute__((constructor)) find(void)
{
	*(void **)&next_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	*(void **)&next_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return next_lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return next_unlock(mutex);
}
