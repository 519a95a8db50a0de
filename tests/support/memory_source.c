#include "tests/support/memory_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define TEXT_MAX       6000
#define PATH_MAX_BYTES 64

static int walk(struct vcm_source *source, vcm_source_item_fn visit, void *context,
                const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct memory_source *memory = (struct memory_source *)source;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < memory->count; i++) {
        const struct memory_item *from = &memory->items[i];
        struct vcm_source_item item = {
            .path = vcm_slice_of_string(from->path),
            .outcome = from->walked,
            .content_id_len = 4,
        };
        memcpy(item.content_id, &i, sizeof i);
        if (memory->texts_in_ids && from->text) {
            uint64_t hash = vcm_hash_checksum(vcm_slice_of_string(from->text), 0);
            memcpy(item.content_id + sizeof i, &hash, sizeof hash);
            item.content_id_len = sizeof i + sizeof hash;
        }
        if (memory->walk_fails_at == i + 1)
            return vcm_error_set(err, VCM_IO_ERROR, "the walk broke off");
        rc = vcm_cancel_check(cancel, err);
        if (rc == VCM_OK)
            rc = visit(context, &item, err);
    }
    return rc;
}

static int reader_open(void **out, struct vcm_source *source, struct vcm_error *err)
{
    struct memory_source *memory = (struct memory_source *)source;

    *out = NULL;
    if (memory->reader_fails)
        return vcm_error_set(err, VCM_IO_ERROR, "no reader");
    memory->readers_open++;
    *out = memory;
    return VCM_OK;
}

static void reader_close(void *reader)
{
    ((struct memory_source *)reader)->readers_open--;
}

static int read_item(struct vcm_source_content *content, void *reader,
                     const struct vcm_source_item *item, struct vcm_error *err)
{
    struct memory_source *memory = reader;
    unsigned index;

    memory->reads++;
    memcpy(&index, item->content_id, sizeof index);
    if (memory->cancel_at == index + 1)
        vcm_cancel_request(memory->cancel);
    if (memory->read_fails_at == index + 1)
        return vcm_error_set(err, VCM_IO_ERROR, "the disk is gone");
    content->outcome = memory->items[index].read;
    content->reason = vcm_outcome_reason_of(vcm_slice_of_string(memory->items[index].reason));
    content->reason_text = memory->items[index].reason;
    if (content->outcome == VCM_SOURCE_PAGED)
        vcm_buf_append_string(&content->text, memory->wrong_unverified && content->unverified
                                                  ? "wrong"
                                                  : memory->items[index].text);
    return vcm_buf_check(&content->text, "a text", err);
}

static void close_source(struct vcm_source *source)
{
    ((struct memory_source *)source)->closed++;
}

static const struct vcm_source_functions functions = {
    .walk = walk,
    .reader_open = reader_open,
    .reader_close = reader_close,
    .read = read_item,
    .close = close_source,
};

void memory_source_init(struct memory_source *memory, const struct memory_item *items,
                        unsigned count)
{
    memset(memory, 0, sizeof *memory);
    memory->source.functions = &functions;
    memory->items = items;
    memory->count = count;
}

static void fill_text(char *text, uint64_t seed, unsigned file)
{
    uint64_t state = seed + file;
    unsigned lines = test_random_below(&state, 120);
    size_t at = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < lines; i++)
        at += (size_t)snprintf(text + at, TEXT_MAX - at, "%sline %u of %u: %016llx\n",
                               i % 7 ? "    " : "\n", i, file,
                               (unsigned long long)test_random(&state));
}

struct memory_item *memory_source_tree(unsigned *count, uint64_t seed, unsigned revision,
                                       unsigned files)
{
    unsigned total = files + revision;
    size_t each = sizeof(struct memory_item) + PATH_MAX_BYTES + TEXT_MAX;
    struct memory_item *items = calloc(total, each);

    assert_non_null(items);
    char *memory = (char *)(items + total);
    for (unsigned i = 0; i < total; i++, memory += PATH_MAX_BYTES + TEXT_MAX) {
        snprintf(memory, PATH_MAX_BYTES, "dir%02u/sub%u/file%04u.c", i / 20, i / 5 % 4, i);
        bool changed = i % 8 == seed % 8;
        fill_text(memory + PATH_MAX_BYTES, seed + (changed ? revision * 1000000u : 0), i);
        items[i] = (struct memory_item){
            .path = memory,
            .text = memory + PATH_MAX_BYTES,
            .walked = i % 31 == 30 ? VCM_SOURCE_SYMLINK : VCM_SOURCE_PAGED,
            .read = i % 29 == 28 ? VCM_SOURCE_BINARY : VCM_SOURCE_PAGED,
        };
    }
    *count = total;
    return items;
}
