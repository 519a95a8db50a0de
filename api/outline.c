#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/public/outline.h"
#include "api/target.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokens/tokenizer.h"

#include "base/banned.h"

/* A file of the query. */
struct entry {
    struct vcm_place_file file; /* its path is in the arena */
    uint32_t first, last;       /* only definitions in these lines; 0 for all */
    bool is_named;              /* by an argument, and not found in a directory */
};

/* The public result with what it points to. */
struct result {
    struct vcm_outline_result public;
    struct vcm_place *place;
    struct vcm_place_symbols symbols;
    struct vcm_tokenizer *tokenizer;
    struct vcm_arena arena;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct vcm_outline_file *files;
    size_t file_capacity;
    struct vcm_buf rendered;
    char cursor[64];
};

/* Where an answer begins or ends: before this definition of this file. */
struct position {
    size_t entry, symbol;
};

struct writing {
    struct result *result;
    uint64_t max_tokens;
    struct vcm_tokenizer_counter counter;
    struct position begin, end;
    bool is_full;
};

/* What to outline */

static int add_entry(struct result *result, const struct vcm_place_file *file, uint32_t first,
                     uint32_t last, bool is_named, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&result->entries, &result->entry_capacity, result->entry_count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    const char *path = rc == VCM_OK ? vcm_arena_copy(&result->arena, file->path) : NULL;
    if (rc == VCM_OK && !path)
        rc = vcm_error_memory(err);
    if (rc != VCM_OK)
        return rc;
    struct entry *entry = &result->entries[result->entry_count++];
    *entry = (struct entry){.file = *file, .first = first, .last = last, .is_named = is_named};
    entry->file.path.data = path;
    return VCM_OK;
}

static int take_file(void *context, const struct vcm_place_file *file, struct vcm_error *err)
{
    struct result *result = context;

    if (file->kind > VCM_GIT_EXECUTABLE ||
        !vcm_language_is_known(vcm_language_of_path(file->path))) {
        result->public.others++;
        return VCM_OK;
    }
    return add_entry(result, file, 0, 0, false, err);
}

static int by_path(const void *a, const void *b)
{
    struct vcm_slice x = ((const struct entry *)a)->file.path;
    struct vcm_slice y = ((const struct entry *)b)->file.path;
    int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);

    return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

static int take_directory(struct result *result, const char *path, struct vcm_error *err)
{
    size_t first = result->entry_count;
    int rc = vcm_place_each(result->place, path, take_file, result, err);

    if (rc == VCM_OK && result->entry_count > first)
        qsort(result->entries + first, result->entry_count - first, sizeof *result->entries,
              by_path);
    return rc;
}

static int take_target(struct result *result, const char *text, struct vcm_error *err)
{
    struct vcm_target target;

    vcm_target_init(&target);
    int rc = vcm_target_find(&target, &result->symbols, text, err);
    if (rc == VCM_OK && target.kind == VCM_TARGET_DIRECTORY)
        rc = take_directory(result, vcm_buf_text(&target.path), err);
    else if (rc == VCM_OK && target.kind == VCM_TARGET_SYMBOL)
        rc = add_entry(result, &target.file, target.line, target.end_line, true, err);
    else if (rc == VCM_OK && target.kind == VCM_TARGET_FILE)
        rc = add_entry(result, &target.file, target.first, target.last, true, err);
    else if (rc == VCM_OK)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "'%s' is a page; 'vcm read' prints it", text);
    vcm_target_release(&target);
    return rc;
}

/* Writing */

static const char *keep_text(struct result *result, struct vcm_slice text, bool *failed)
{
    struct vcm_buf valid = VCM_BUF_INIT(VCM_MIB);

    vcm_utf8_append_line(&valid, text);
    const char *copy =
        valid.fault == VCM_BUF_FINE ? vcm_arena_copy(&result->arena, vcm_buf_slice(&valid)) : NULL;
    *failed = *failed || !copy;
    vcm_buf_release(&valid);
    return copy;
}

/* Adds a line to the rendering, unless that makes it too long; the first line always fits. */
static bool add_line(struct writing *writing, const struct vcm_buf *line)
{
    struct vcm_tokenizer_counter counter = writing->counter;
    struct vcm_buf *out = &writing->result->rendered;

    vcm_tokenizer_counter_feed(&counter, vcm_buf_slice(line));
    if (writing->max_tokens > 0 && out->len > 0 &&
        vcm_tokenizer_counter_finish(&counter) > writing->max_tokens) {
        writing->is_full = true;
        return false;
    }
    writing->counter = counter;
    vcm_buf_append_slice(out, vcm_buf_slice(line));
    return true;
}

/* The bytes of lines, found from where the last were found: definitions are in order. */
struct line_finder {
    struct vcm_slice text;
    uint32_t line; /* of `at` */
    size_t at;
};

static size_t find_line(struct line_finder *finder, uint32_t line)
{
    if (line < finder->line)
        *finder = (struct line_finder){finder->text, 1, 0};
    for (; finder->line < line && finder->at < finder->text.len; finder->line++) {
        const char *end =
            memchr(finder->text.data + finder->at, '\n', finder->text.len - finder->at);
        finder->at = end ? (size_t)(end - finder->text.data) + 1 : finder->text.len;
    }
    return finder->at;
}

static uint64_t count_lines(const struct result *result, struct line_finder *finder, uint32_t first,
                            uint32_t last)
{
    size_t begin = find_line(finder, first);
    struct line_finder ahead = *finder;
    size_t end = find_line(&ahead, last + 1);

    return vcm_tokenizer_count(result->tokenizer,
                               vcm_slice_of(finder->text.data + begin, end - begin));
}

static unsigned depth_of(struct vcm_slice container)
{
    unsigned depth = container.len > 0;

    for (size_t i = 0; i < container.len; i++)
        depth += container.data[i] == '.';
    return depth;
}

/* "  12-40 static int count(int n) [45]" */
static bool add_symbol_line(struct writing *writing, const struct vcm_symbol *symbol,
                            const struct vcm_outline_symbol *out)
{
    struct vcm_buf line = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i <= depth_of(symbol->container); i++)
        vcm_buf_append_string(&line, "  ");
    vcm_buf_append_format(&line, "%u", out->line);
    if (out->end_line > out->line)
        vcm_buf_append_format(&line, "-%u", out->end_line);
    if (symbol->signature.len > 0)
        vcm_buf_append_format(&line, " %s [%" PRIu64 "]\n", out->signature, out->tokens);
    else
        vcm_buf_append_format(&line, " %s %s [%" PRIu64 "]\n", out->kind, out->name, out->tokens);
    bool added = add_line(writing, &line);
    vcm_buf_release(&line);
    return added;
}

static bool is_asked_for(const struct entry *entry, const struct vcm_symbol *symbol)
{
    return entry->first == 0 || (symbol->line >= entry->first && symbol->line <= entry->last);
}

/* Writes the definitions from `from` on. */
static int write_symbols(struct writing *writing, struct vcm_outline_file *file,
                         const struct entry *entry, const struct vcm_symbols *symbols, size_t from,
                         struct vcm_slice text, struct vcm_error *err)
{
    struct result *result = writing->result;
    struct line_finder finder = {text, 1, 0};
    struct vcm_outline_symbol *list =
        vcm_arena_alloc(&result->arena, (symbols->definition_count + 1) * sizeof *list);
    bool failed = !list;

    for (size_t i = from; !failed && !writing->is_full && i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        writing->end.symbol = i;
        if (!is_asked_for(entry, symbol))
            continue;
        struct vcm_outline_symbol *out = &list[file->symbol_count];
        *out = (struct vcm_outline_symbol){
            .name = keep_text(result, symbol->name, &failed),
            .kind = vcm_symbol_kind_name(symbol->kind),
            .signature = keep_text(result, symbol->signature, &failed),
            .line = symbol->line,
            .end_line = symbol->end_line,
            .tokens = count_lines(result, &finder, symbol->start_line, symbol->end_line),
        };
        if (symbol->container.len > 0)
            out->container = keep_text(result, symbol->container, &failed);
        file->symbol_count += !failed && add_symbol_line(writing, symbol, out);
    }
    file->symbols = list;
    return failed ? vcm_error_memory(err) : VCM_OK;
}

/* "src/till.c (17 lines, 120 tokens)" */
static bool add_file_line(struct writing *writing, const struct vcm_outline_file *file)
{
    struct vcm_buf line = VCM_BUF_INIT(8 * VCM_LIMIT_TREE_PATH_BYTES);

    vcm_utf8_append_quoted(&line, vcm_slice_of_string(file->path));
    vcm_buf_append_format(&line, " (%u line%s, %" PRIu64 " tokens)\n", file->lines,
                          file->lines == 1 ? "" : "s", file->tokens);
    bool added = add_line(writing, &line);
    vcm_buf_release(&line);
    return added;
}

static int write_text(struct writing *writing, const struct entry *entry,
                      const struct vcm_place_text *text, struct vcm_error *err)
{
    struct result *result = writing->result;
    struct vcm_buf shown = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);
    struct vcm_slice bytes = vcm_buf_slice(&text->text);
    struct vcm_symbols symbols;
    enum vcm_language language;
    struct vcm_outline_file file = {.lines = text->line_count};
    size_t before = result->rendered.len;

    vcm_symbols_init(&symbols);
    vcm_utf8_escape_path(&shown, entry->file.path);
    file.path = vcm_arena_copy(&result->arena, vcm_buf_slice(&shown));
    int rc = file.path ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_place_symbols_read(&symbols, &language, &result->symbols, &entry->file, bytes,
                                    false, err);
    if (rc == VCM_OK) {
        const char *name = vcm_language_name(language);
        size_t from = writing->end.entry == writing->begin.entry ? writing->begin.symbol : 0;
        file.language = name[0] != '\0' ? name : NULL;
        file.tokens = vcm_tokenizer_count(result->tokenizer, bytes);
        writing->end.symbol = from;
        if (add_file_line(writing, &file))
            rc = write_symbols(writing, &file, entry, &symbols, from, bytes, err);
    }
    /* A file of whose definitions none fits is left to the next answer. */
    if (writing->is_full && file.symbol_count == 0 && result->public.file_count > 0)
        vcm_buf_truncate(&result->rendered, before);
    else if (rc == VCM_OK)
        result->files[result->public.file_count++] = file;
    vcm_symbols_release(&symbols);
    vcm_buf_release(&shown);
    return rc;
}

/* A file of a directory that has no text is one of the others; one that was named is an error. */
static int write_entry(struct writing *writing, const struct entry *entry, struct vcm_error *err)
{
    struct result *result = writing->result;
    const struct vcm_place_lines all = {.peek = true};
    struct vcm_error found = {0};
    struct vcm_place_text text;

    vcm_place_text_init(&text);
    int rc = vcm_cancel_check(result->place->vcm->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve(&result->files, &result->file_capacity,
                               result->public.file_count + 1, VCM_LIMIT_TREE_ENTRIES, err);
    if (rc == VCM_OK) {
        rc = vcm_place_text_read(&text, result->place, &entry->file, &all, &found);
        if (rc == VCM_OK)
            rc = write_text(writing, entry, &text, err);
        else if (!entry->is_named && rc != VCM_INTERNAL && rc != VCM_INTERRUPTED) {
            result->public.others++;
            rc = VCM_OK;
        } else if (err) {
            *err = found;
        }
    }
    vcm_place_text_release(&text);
    return rc;
}

static int read_cursor(struct position *out, const struct result *result, const char *cursor,
                       struct vcm_error *err)
{
    const char *colon = cursor ? strchr(cursor, ':') : NULL;
    char number[24] = "";
    uint64_t entry = 0, symbol = 0;

    *out = (struct position){0, 0};
    if (!cursor)
        return VCM_OK;
    if (colon && colon - cursor < (ptrdiff_t)sizeof number)
        memcpy(number, cursor, (size_t)(colon - cursor));
    if (!colon || !vcm_text_parse_uint(&entry, number) ||
        !vcm_text_parse_uint(&symbol, colon + 1) || entry >= result->entry_count ||
        symbol > VCM_LIMIT_SYMBOLS_COUNT)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no cursor of an answer to this query", cursor);
    *out = (struct position){(size_t)entry, (size_t)symbol};
    return VCM_OK;
}

static int write_all(struct writing *writing, struct vcm_error *err)
{
    struct result *result = writing->result;
    struct vcm_outline_result *public = &result->public;
    int rc = VCM_OK;

    for (size_t i = writing->begin.entry;
         rc == VCM_OK && !writing->is_full && i < result->entry_count; i++) {
        writing->end = (struct position){i, 0};
        rc = write_entry(writing, &result->entries[i], err);
    }
    if (rc == VCM_OK)
        rc = vcm_buf_check(&result->rendered, "the outline", err);
    public->files = result->files;
    public->total = result->entry_count;
    public->rendered = vcm_buf_text(&result->rendered);
    public->rendered_bytes = result->rendered.len;
    public->rendered_tokens =
        vcm_tokenizer_count(result->tokenizer, vcm_buf_slice(&result->rendered));
    public->truncated = writing->is_full;
    if (writing->is_full) {
        public->files_left = result->entry_count - writing->end.entry;
        snprintf(result->cursor, sizeof result->cursor, "%zu:%zu", writing->end.entry,
                 writing->end.symbol);
        public->next_cursor = result->cursor;
    }
    return rc;
}

static int run(struct result *result, struct vcm *vcm, const struct vcm_outline_query *query,
               struct vcm_error *err)
{
    struct writing writing = {.result = result, .max_tokens = query->max_tokens};

    int rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc =
            vcm_tokenizer_open(&result->tokenizer, vcm_config_text(&vcm->config, "tokenizer"), err);
    if (rc == VCM_OK)
        rc = vcm_place_open(&result->place, vcm, &query->place, err);
    vcm_place_symbols_init(&result->symbols, result->place);
    for (size_t i = 0; rc == VCM_OK && i < query->what_count; i++)
        rc = take_target(result, query->what[i], err);
    if (rc == VCM_OK && query->what_count == 0)
        rc = take_directory(result, result->place->subpath, err);
    if (rc == VCM_OK)
        rc = read_cursor(&writing.begin, result, query->cursor, err);
    if (rc == VCM_OK) {
        vcm_tokenizer_counter_init(&writing.counter, result->tokenizer);
        rc = write_all(&writing, err);
    }
    return rc;
}

int vcm_outline(struct vcm_outline_result **out, struct vcm *vcm,
                const struct vcm_outline_query *query, struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope", query->place.scope}, {"commit", query->place.commit},
                       {"cursor", query->cursor});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("what", query->what, query->what_count, VCM_ARGUMENT_PATHS, err);
    if (rc != VCM_OK)
        return rc;
    struct result *result = calloc(1, sizeof *result);
    if (!result)
        return vcm_error_memory(err);
    vcm_arena_init(&result->arena, 4 * VCM_GIB);
    vcm_buf_init(&result->rendered, VCM_LIMIT_JSON_BYTES);
    rc = run(result, vcm, query, err);
    if (rc == VCM_OK)
        *out = &result->public;
    else
        vcm_outline_free(&result->public);
    return rc;
}

void vcm_outline_free(struct vcm_outline_result *result)
{
    struct result *whole = (struct result *)result;

    if (!whole)
        return;
    vcm_place_symbols_release(&whole->symbols);
    vcm_place_close(whole->place);
    vcm_tokenizer_close(whole->tokenizer);
    vcm_buf_release(&whole->rendered);
    free(whole->entries);
    free(whole->files);
    vcm_arena_release(&whole->arena);
    free(whole);
}
