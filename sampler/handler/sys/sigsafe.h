/* sigsafe.h - poisons names that are unsafe in a signal handler; included last by every file here
 */
#ifndef SYS_SIGSAFE_H
#define SYS_SIGSAFE_H

#pragma GCC poison malloc calloc realloc free posix_memalign aligned_alloc strdup
#pragma GCC poison printf fprintf snprintf vsnprintf puts fputs fwrite perror
#pragma GCC poison pthread_mutex_lock pthread_mutex_unlock pthread_once pthread_getspecific
#pragma GCC poison pthread_setspecific dlopen dlsym dlclose dladdr dl_iterate_phdr
#pragma GCC poison errno exit _exit abort longjmp getenv setenv backtrace
#pragma GCC poison strlen memcpy memset memmove memcmp strcpy strncpy

#endif
