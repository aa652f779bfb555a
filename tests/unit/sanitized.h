/*
 * sanitized.h - whether a test is built with a sanitizer
 *
 * There a sweep may be a part of what it is in other builds: its claim is made by those, and a
 * fault of memory or a race shows in the part as well.  Code takes two to fifteen times as long.
 */
#ifndef TESTS_UNIT_SANITIZED_H
#define TESTS_UNIT_SANITIZED_H

#ifdef __has_feature /* clang's */
#define SANITIZER_OF_CLANG (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZER_OF_CLANG 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SANITIZER_OF_CLANG
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
