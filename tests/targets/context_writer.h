/* context_writer.h - publishes which piece of work a thread does, as other vendors' libraries do */
#ifndef CONTEXT_WRITER_H
#define CONTEXT_WRITER_H

/** writer_set - the calling thread does the work with this number, 1 .. 255; 0: none */
void writer_set(unsigned number);

/** writer_point - publish an address, whatever is there */
void writer_point(void *address);

/** writer_record - what writer_point() may publish for a number, in memory of this module */
void *writer_record(unsigned number);

#endif
