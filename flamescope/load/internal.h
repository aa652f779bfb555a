/*
 * internal.h - the steps of load_profile(): the index, and files to readers of blocks
 *
 * Context: any thread, unless a function says another.
 */
#ifndef LOAD_INTERNAL_H
#define LOAD_INTERNAL_H

#include "flamescope/load/build/builder.h"
#include "flamescope/load/load.h"
#include "flamescope/text/text.h"

/* load_way: load_profile() by a way of the caller's choice: the tests compare them */

enum load_way {
	LOAD_ANY,  /* what is quickest for each file */
	LOAD_ONE,  /* quick, by one thread */
	LOAD_SLOW, /* line by line */
};

struct load_by {
	enum load_way way;
	uint64_t parallel_bytes; /* files of this size or more are read by several threads */
	uint64_t chunk_bytes;    /* that each takes at a time; 0: what is quickest */
};

/**
 * load_profile_by - load_profile() by a given way, without an index
 *
 * Return:  as load_profile().
 * Owns:    the caller, to profile_free().
 * Context: any thread; makes threads of its own and joins them.
 */
int load_profile_by(const struct load_options *options, const struct load_by *by,
		    struct profile **ret_profile, struct err *err);

/*
 * blocks: perf-script text to a builder, a sample with the empty line after it at a time
 *
 * What is between two empty lines can be read by itself (see perf_text_line()).  Most of it has
 * been seen before: the frames of a block are looked up by the hash of their text, and only new
 * ones are parsed.  A block in which anything is unusual goes through perf_text line by line,
 * so that both ways give the same.
 */

enum { BLOCKS_MAX_BYTES = 1024 * 1024 }; /* longer blocks take the slow way */

struct blocks_bad {
	uint64_t at; /* of the text that the line is counted from */
	uint64_t line;
};

struct blocks {
	struct builder *builder;
	struct perf_text *text;
	bool slow;                  /* take the slow way for all */
	uint32_t folded;            /* lines are folded stacks, of counts times this; 0: not */
	bool inside;                /* the last bytes were of a block that goes on */
	bool skip;                  /* and of a line of which enough has been kept */
	struct number_table lines;  /* frames by the text of their lines */
	struct number_table stacks; /* nodes by the text of many lines */
	struct buf head, facts, line;
	uint64_t at;      /* of the line that is read */
	uint64_t base_at; /* that lines are counted from */
	uint64_t number;  /* of that line */
	size_t n_bad;
	struct blocks_bad bad[PROFILE_BAD_LINES];
	bool unended;      /* the last sample had no empty line */
	bool stray_frames; /* there were frames of no sample */
};

/**
 * blocks_init - a reader for BUILDER
 *
 * Return:  0; -ENOMEM, and it need not be released.
 * Owns:    the caller, to blocks_release(); it must not be moved.
 * Context: any thread; one user at a time, as for all of these.
 */
int blocks_init(struct blocks *blocks, struct builder *builder);

/** blocks_release - free all but the builder */
void blocks_release(struct blocks *blocks);

/**
 * blocks_start_file - what comes now is of file FILE
 * @folded: folded_scale() of it
 */
void blocks_start_file(struct blocks *blocks, uint32_t file, uint32_t folded);

/** blocks_start - begin with line 1 of a text that stands at AT */
void blocks_start(struct blocks *blocks, uint64_t at);

/** blocks_take - read [TEXT, TEXT + LEN), which stands at AT and ends after an empty line */
void blocks_take(struct blocks *blocks, const char *text, size_t len, uint64_t at);

/** blocks_take_part - read bytes that end anywhere; the next ones must follow them */
void blocks_take_part(struct blocks *blocks, const char *text, size_t len, uint64_t at);

/** blocks_finish - the file ends here; what was begun counts as far as it goes */
void blocks_finish(struct blocks *blocks);

/* stream: all of a source to one reader of blocks */

enum {
	STREAM_BYTES = 1024 * 1024,          /* that are read at a time */
	STREAM_MAX_BYTES = 16 * 1024 * 1024, /* without an empty line: then it goes line by line */
};

/* What has been read; DONE is called after every part, and says whether to go on. */
struct stream {
	struct blocks *blocks;
	uint64_t at;         /* of the first byte, of all files */
	uint64_t bytes;      /* so far */
	uint64_t line_bytes; /* of the line that is being read; roughly */
	bool (*done)(void *context, uint64_t bytes);
	void *context;
};

/**
 * stream_read - read a source to its end
 * @given: what has been read of it, N_GIVEN bytes
 *
 * Return:  0; -EIO and what is wrong with it, -EINVAL: a line without an end (what came before has
 *          been read); -ETIMEDOUT: DONE said so; -ENOMEM; -E2BIG.
 */
int stream_read(struct stream *stream, struct source *source, const char *given, size_t n_given,
		struct err *err);

/* parallel: a large plain file to several readers of blocks */

struct parallel {
	int fd;
	uint64_t bytes;         /* of the file */
	uint64_t at;            /* of its first byte, of all files */
	uint64_t chunk_bytes;   /* 0: what is quickest */
	struct blocks **blocks; /* one a thread; the first is the caller's */
	size_t n_blocks;
	bool (*done)(void *context, uint64_t bytes); /* as stream's; of the caller's thread */
	void *context;
};

/**
 * parallel_read - read a file
 *
 * Return:  0; -EAGAIN: it cannot be read so (hardly an empty line, or it changes), and what the
 *          builders have of it is worth nothing; -ETIMEDOUT: DONE said so, and they have it up to
 *          there; -ENOMEM, -E2BIG.
 * Context: any thread; makes n_blocks - 1 threads and joins them.
 */
int parallel_read(const struct parallel *parallel);

/* index_key: a name for what files hold */

enum {
	INDEX_KEY_SIZE = 33, /* 32 digits and a NUL */
	INDEX_FORMAT = 9, /* one more when other profiles are made of the same text (index_test) */
};

/**
 * index_key - a name for what the paths hold now
 *
 * Made of each file's device, inode, size, time of change and some of its bytes (head, tail and
 * pages between), whatever name it was found by.
 *
 * Return:  true; false: there is none, since a path is no regular file, or one is not large
 *          enough or so new that it may change unseen.
 */
bool index_key(const struct load_options *options, char ret_key[INDEX_KEY_SIZE]);

/*
 * index: profiles that were made before, packed, in a directory of the user's own
 *
 * Whatever is wrong with the index, the files are read instead: it is never an error.
 */

/**
 * index_read - the profile that is kept under a key, its files called as they are called now
 *
 * Return:  it; NULL: there is none, or it is damaged (and removed).
 * Owns:    the caller, to profile_free().
 */
struct profile *index_read(const struct load_options *options, const char *key);

enum { INDEX_MAX_MIB = 1024 }; /* of all profiles that are kept */

/** index_write - keep a profile, and remove those not used for longest, down to INDEX_MAX_MIB */
void index_write(const struct load_options *options, const char *key,
		 const struct profile *profile);

#endif
