/* lock_pass.c - preloaded: passes the calls that lock_pair.c makes on and does nothing else */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): it declares */
#define PASS(name, type)                                                                           \
	static int (*next_##name)(type *);                                                         \
	int name(type *lock)                                                                       \
	{                                                                                          \
		return next_##name(lock);                                                          \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

PASS(pthread_mutex_lock, pthread_mutex_t)
PASS(pthread_mutex_unlock, pthread_mutex_t)
PASS(pthread_rwlock_rdlock, pthread_rwlock_t)
PASS(pthread_rwlock_wrlock, pthread_rwlock_t)
PASS(pthread_rwlock_unlock, pthread_rwlock_t)
PASS(pthread_cond_signal, pthread_cond_t)
PASS(sem_wait, sem_t)
PASS(sem_post, sem_t)

#define FIND(name) *(void **)&next_##name = dlsym(RTLD_NEXT, #name)

static void __attribute__((constructor)) find(void)
{
	FIND(pthread_mutex_lock);
	FIND(pthread_mutex_unlock);
	FIND(pthread_rwlock_rdlock);
	FIND(pthread_rwlock_wrlock);
	FIND(pthread_rwlock_unlock);
	FIND(pthread_cond_signal);
	FIND(sem_wait);
	FIND(sem_post);
}
