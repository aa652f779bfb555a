/*
 * kernel_copy.h - what was seen of kallsyms in this boot, kept for who may not see it later
 *
 * Addresses are kept relative to _stext: the kernel lies elsewhere in every boot, and a copy is
 * of one boot only, as modules are loaded to other places too.
 */
#ifndef KERNEL_KERNEL_COPY_H
#define KERNEL_KERNEL_COPY_H

#include "base/buf.h"

#include <stdint.h>

/**
 * kernel_copy_write - keep the lines of functions; copies of other boots go
 * @folder: made when it is not there; NULL: keep nothing
 * @stext: where the kernel begins; 0: it is not known, nothing is kept
 *
 * A copy that cannot be written is no copy.
 *
 * Context: any thread.
 */
void kernel_copy_write(const char *folder, const struct buf *kallsyms, uint64_t stext);

/**
 * kernel_copy_read - the copy of this boot, as lines like those of kallsyms
 *
 * Only a file of our own that nobody else may write to is believed.
 *
 * Return:  0; -ENOENT: there is none; -EPERM: it is somebody's; -EBADMSG; -errno.
 * Context: any thread.
 */
int kernel_copy_read(const char *folder, struct buf *ret_text);

#endif
