/* remote_modules.c - what is mapped in another process, and the unwind tables of its files */
#include "sampler/remote/remote_modules.h"

#include "base/io.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/remote/ranges.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	REMOTE_HEADERS = 64, /* program headers of one module */
};

enum { PAGE_BYTES = 4096 };

/* A maps file on its way to ranges; a file's lines follow that of its first byte. */
struct reading {
	struct remote_modules modules;
	uint64_t dev;
	uint64_t inode;
	bool in_image;
	bool failed;
};

static bool is_vdso(const struct maps_line *line)
{
	static const char name[] = "[vdso]";

	return line->path_len == sizeof(name) - 1 && memcmp(line->path, name, line->path_len) == 0;
}

static void *room_for(void *at, size_t n, size_t *size, size_t each)
{
	size_t wanted = *size ? *size * 2 : 64;
	void *moved;

	if (n < *size)
		return at;
	moved = realloc(at, wanted * each);
	if (moved)
		*size = wanted;
	return moved;
}

static bool add_image(struct reading *reading, const struct maps_line *line)
{
	struct remote_modules *modules = &reading->modules;
	struct remote_image *images = room_for(modules->images, modules->n_images,
					       &modules->images_size, sizeof(*images));

	if (!images)
		return false;
	modules->images = images;
	images[modules->n_images++] = (struct remote_image){.base = line->start};
	reading->in_image = true;
	reading->dev = line->dev;
	reading->inode = line->inode;
	return true;
}

/* FNV-1a over what makes a difference to code that was read before. */
static void sign(struct remote_modules *modules, const struct maps_line *line)
{
	const uint64_t words[] = {line->start, line->end,   line->pgoff,
				  line->dev,   line->inode, line->executable};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		modules->signature = (modules->signature ^ words[i]) * UINT64_C(0x100000001b3);
}

static bool add_range(struct reading *reading, const struct maps_line *line, uint32_t image)
{
	struct remote_modules *modules = &reading->modules;
	struct remote_range *ranges =
		room_for(modules->ranges, modules->n_ranges, &modules->size, sizeof(*ranges));

	if (!ranges)
		return false;
	modules->ranges = ranges;
	ranges[modules->n_ranges++] = (struct remote_range){.start = line->start,
							    .end = line->end,
							    .image = image,
							    .writable = line->writable,
							    .executable = line->executable};
	if (image != REMOTE_NO_IMAGE || line->executable)
		sign(modules, line);
	return true;
}

static bool visit(void *context, const struct maps_line *line)
{
	struct reading *reading = context;
	struct remote_modules *modules = &reading->modules;
	bool file = line->inode != 0;
	uint32_t image = REMOTE_NO_IMAGE;

	if (line->end > USER_ADDRESS_END || modules->n_ranges == MAPS_MAX_RANGES)
		return false;
	if (modules->n_ranges && line->start < modules->ranges[modules->n_ranges - 1].end)
		return true;
	if ((file && line->pgoff == 0) || is_vdso(line))
		reading->failed = !add_image(reading, line);
	/* Between a file's lines lie its zeroed pages; another file's line ends it. */
	else if (file && (line->dev != reading->dev || line->inode != reading->inode))
		reading->in_image = false;
	if (reading->in_image && (file || is_vdso(line)))
		image = (uint32_t)modules->n_images - 1;
	reading->failed = reading->failed || !add_range(reading, line, image);
	return !reading->failed;
}

int remote_modules_read(struct remote_modules *modules, pid_t pid, bool *ret_changed)
{
	struct reading reading = {.modules.pid = pid};
	uint64_t before_ns = io_now_ns();
	int r = proc_maps_of(pid, visit, &reading);

	/* A process that has just ended has an empty one. */
	if (r == 0 && (reading.failed || reading.modules.n_ranges == 0))
		r = reading.failed ? -ENOMEM : -ESRCH;
	if (r < 0) {
		remote_modules_release(&reading.modules);
		return r;
	}
	*ret_changed = reading.modules.signature != modules->signature;
	reading.modules.read_ns = io_now_ns();
	reading.modules.cost_ns = reading.modules.read_ns - before_ns;
	remote_modules_release(modules);
	*modules = reading.modules;
	return 0;
}

/* Index of the first range that ends above an address. */
static size_t first_above(const struct remote_modules *modules, uint64_t address)
{
	size_t lo = 0;
	size_t hi = modules->n_ranges;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (modules->ranges[mid].end <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct remote_range *remote_modules_range(const struct remote_modules *modules,
						uint64_t address)
{
	size_t at = first_above(modules, address);

	if (at == modules->n_ranges || address < modules->ranges[at].start)
		return NULL;
	return &modules->ranges[at];
}

uint64_t remote_modules_stack_end(const struct remote_modules *modules, uint64_t sp)
{
	size_t at = first_above(modules, sp);

	if (at == modules->n_ranges || !modules->ranges[at].writable ||
	    modules->ranges[at].image != REMOTE_NO_IMAGE)
		return sp;
	return modules->ranges[at].end;
}

static bool read_header(struct unwind_reader *reader, uint64_t base, Elf64_Ehdr *ret_header)
{
	return reader->read(reader, base, ret_header, sizeof(*ret_header)) &&
	       memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       ret_header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret_header->e_phentsize == sizeof(Elf64_Phdr) &&
	       ret_header->e_phnum <= REMOTE_HEADERS &&
	       ret_header->e_phoff < USER_ADDRESS_END - base;
}

/* A static program's table is made here; it seems to lie beyond the module's end. */
static void make_table(pid_t pid, struct remote_image *image, const Elf64_Ehdr *header,
		       uint64_t bias)
{
	struct unwind_module *module = &image->module;

	if (!image->good || module->eh_frame_hdr ||
	    eh_table_make(pid, header, bias, module->end, &image->table) < 0)
		return;
	module->eh_frame_hdr = image->table.at;
	module->end = image->table.at + image->table.n;
}

/* What its program headers say; they may say anything. */
static void examine(pid_t pid, struct remote_image *image, struct unwind_reader *reader)
{
	uint64_t eh_frame_hdr = 0;
	bool loaded = false;
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint64_t bias = 0;
	uint64_t end = 0;

	image->examined = true;
	if (!read_header(reader, image->base, &header))
		return;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = image->base + header.e_phoff + i * sizeof(segment);

		if (!reader->read(reader, at, &segment, sizeof(segment)))
			return;
		if (segment.p_type == PT_LOAD && segment.p_offset < PAGE_BYTES && !loaded) {
			bias = image->base - (segment.p_vaddr & ~(uint64_t)(PAGE_BYTES - 1));
			loaded = true;
		}
		if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > end)
			end = segment.p_vaddr + segment.p_memsz;
		if (segment.p_type == PT_GNU_EH_FRAME)
			eh_frame_hdr = segment.p_vaddr;
	}
	image->module.start = image->base;
	image->module.end = bias + end;
	image->module.eh_frame_hdr = eh_frame_hdr ? bias + eh_frame_hdr : 0;
	image->good =
		loaded && image->module.end > image->base && image->module.end <= USER_ADDRESS_END;
	make_table(pid, image, &header, bias);
}

bool remote_modules_find(struct remote_modules *modules, struct unwind_reader *reader,
			 const struct remote_range *range, struct unwind_module *ret_module)
{
	struct remote_image *image;

	if (!range->executable || range->image == REMOTE_NO_IMAGE)
		return false;
	image = &modules->images[range->image];
	if (!image->examined)
		examine(modules->pid, image, reader);
	if (!image->good || range->start >= image->module.end)
		return false;
	*ret_module = image->module;
	return true;
}

bool remote_modules_table(const struct remote_modules *modules, uint64_t address, void *to,
			  size_t len)
{
	for (size_t i = 0; i < modules->n_images; i++) {
		const struct eh_table *table = &modules->images[i].table;

		if (table->n == 0 || address < table->at || address - table->at > table->n ||
		    len > table->n - (address - table->at))
			continue;
		memcpy(to, table->bytes + (address - table->at), len);
		return true;
	}
	return false;
}

void remote_modules_release(struct remote_modules *modules)
{
	for (size_t i = 0; i < modules->n_images; i++)
		eh_table_release(&modules->images[i].table);
	free(modules->ranges);
	free(modules->images);
	*modules = (struct remote_modules){0};
}
