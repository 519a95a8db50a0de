#include "api/read_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "symbols/comment.h"

#include "base/banned.h"

#define ARENA_MAX      (1 * VCM_GIB)
#define HEADING_SIGNED 120u /* a longer signature is not shown as a heading */

int vcm_read_items_open(struct vcm_read_items *items, struct vcm *vcm,
                        const struct vcm_read_query *query, struct vcm_error *err)
{
    *items = (struct vcm_read_items){.context = query->context};
    vcm_arena_init(&items->arena, ARENA_MAX);
    int rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&items->tokenizer, vcm_config_text(&vcm->config, "tokenizer"), err);
    if (rc == VCM_OK)
        rc = vcm_place_open(&items->place, vcm, &query->place, err);
    vcm_place_symbols_init(&items->symbols, items->place);
    return rc;
}

static void free_file(struct vcm_read_file *file)
{
    vcm_symbols_release(&file->symbols);
    vcm_place_text_release(&file->text);
    free(file->path);
    free(file->shown);
    free(file);
}

void vcm_read_items_release(struct vcm_read_items *items)
{
    for (size_t i = 0; i < items->file_count; i++)
        free_file(items->files[i].file);
    for (size_t i = 0; i < items->page_count; i++)
        vcm_page_release(items->pages[i].page);
    free(items->files);
    free(items->pages);
    free(items->spans);
    vcm_place_symbols_release(&items->symbols);
    vcm_place_close(items->place);
    vcm_tokenizer_close(items->tokenizer);
    vcm_arena_release(&items->arena);
}

/* A copy of the text in the arena; NULL without memory. */
static const char *keep(struct vcm_read_items *items, const struct vcm_buf *text)
{
    return vcm_arena_copy(&items->arena, vcm_buf_slice(text));
}

/* Reads a file with its definitions. */
static int load(struct vcm_read_file *out, struct vcm_read_items *items,
                const struct vcm_place_file *file, struct vcm_error *err)
{
    const struct vcm_place_lines all = {.peek = true};
    struct vcm_buf shown = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    vcm_utf8_escape_path(&shown, file->path);
    out->file = *file;
    out->path = strndup(file->path.data, file->path.len);
    out->shown = strdup(vcm_buf_text(&shown));
    vcm_buf_release(&shown);
    if (!out->path || !out->shown)
        return vcm_error_memory(err);
    out->file.path = vcm_slice_of(out->path, file->path.len);
    int rc = vcm_place_text_read(&out->text, items->place, &out->file, &all, err);
    if (rc == VCM_OK)
        rc = vcm_place_symbols_read(&out->symbols, &out->language, &items->symbols, &out->file,
                                    vcm_buf_slice(&out->text.text), false, err);
    return rc;
}

/* The number of a file, which is read when it is named first. */
static int take_file(size_t *out, struct vcm_read_items *items, const struct vcm_place_file *file,
                     struct vcm_error *err)
{
    for (size_t i = 0; i < items->file_count; i++) {
        if (items->files[i].file->file.scope == file->scope &&
            vcm_slice_equal(items->files[i].file->file.path, file->path)) {
            *out = i;
            return VCM_OK;
        }
    }
    int rc = vcm_array_reserve(&items->files, &items->file_capacity, items->file_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    struct vcm_read_file *new = rc == VCM_OK ? calloc(1, sizeof *new) : NULL;
    if (rc == VCM_OK && !new)
        rc = vcm_error_memory(err);
    if (rc != VCM_OK)
        return rc;
    vcm_place_text_init(&new->text);
    vcm_symbols_init(&new->symbols);
    *out = items->file_count;
    items->files[items->file_count++].file = new;
    return load(new, items, file, err);
}

static int add_span(struct vcm_read_items *items, const struct vcm_read_span *span,
                    struct vcm_error *err)
{
    int rc = vcm_array_reserve(&items->spans, &items->span_capacity, items->span_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        items->spans[items->span_count++] = *span;
    return rc;
}

/* Adds lines of a file, with the lines around them that are wanted, too. */
static int add_lines(struct vcm_read_items *items, struct vcm_read_span *span,
                     struct vcm_error *err)
{
    const struct vcm_read_file *file = items->files[span->file].file;
    uint32_t lines = file->text.line_count, context = items->context;

    if (span->first > lines)
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no line %u; it has %u line%s",
                             file->shown, span->first, lines, lines == 1 ? "" : "s");
    span->last = span->last < lines ? span->last : lines;
    span->first = span->first > context ? span->first - context : lines > 0;
    span->last = span->last + context < lines ? span->last + context : lines;
    return add_span(items, span, err);
}

static int add_symbol(struct vcm_read_items *items, const struct vcm_target *target,
                      struct vcm_error *err)
{
    struct vcm_read_span span = {.symbol = keep(items, &target->name),
                                 .kind = vcm_symbol_kind_name(target->symbol_kind)};

    if (!span.symbol)
        return vcm_error_memory(err);
    int rc = take_file(&span.file, items, &target->file, err);
    if (rc != VCM_OK)
        return rc;
    span.first = vcm_comment_begin(
        target->language, vcm_buf_slice(&items->files[span.file].file->text.text), target->line);
    span.last = target->end_line;
    return add_lines(items, &span, err);
}

static int add_page(struct vcm_read_items *items, const struct vcm_page_id *id,
                    struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];
    struct vcm_page *page = NULL;

    vcm_page_id_to_hex(hex, id);
    int rc = vcm_array_reserve(&items->pages, &items->page_capacity, items->page_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_page_open(&page, items->place->vcm,
                           &(struct vcm_page_query){.page = hex, .seq = -1}, err);
    if (rc != VCM_OK)
        return rc;
    items->pages[items->page_count++].page = page;
    for (size_t i = 0; rc == VCM_OK && i < page->record_count; i++) {
        const struct vcm_record *record = &page->records[i];
        const struct vcm_read_span span = {
            .file = SIZE_MAX,
            .record = *record,
            .item = {.path = record->path,
                     .start_line = record->start_line,
                     .end_line = record->end_line,
                     .scope_id = page->scope_id,
                     .page_id = page->page_id,
                     .blob = record->blob,
                     .source = vcm_place_source_name(VCM_PLACE_PAGE),
                     .heading = record->heading,
                     .text = record->text,
                     .text_len = record->text_len},
        };
        rc = add_span(items, &span, err);
    }
    return rc;
}

int vcm_read_items_add(struct vcm_read_items *items, const char *text, struct vcm_error *err)
{
    struct vcm_target target;

    vcm_target_init(&target);
    int rc = vcm_target_find(&target, &items->symbols, text, err);
    if (rc != VCM_OK) {
        vcm_target_release(&target);
        return rc;
    }
    if (target.kind == VCM_TARGET_DIRECTORY) {
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "'%s' is a directory; 'vcm outline' tells what its files define", text);
    } else if (target.kind == VCM_TARGET_PAGE) {
        rc = add_page(items, &target.page, err);
    } else if (target.kind == VCM_TARGET_SYMBOL) {
        rc = add_symbol(items, &target, err);
    } else {
        struct vcm_read_span span = {.first = target.first, .last = target.last};
        rc = take_file(&span.file, items, &target.file, err);
        if (rc == VCM_OK && span.first == 0)
            span.last = items->files[span.file].file->text.line_count;
        if (rc == VCM_OK)
            rc = add_lines(items, &span, err);
    }
    vcm_target_release(&target);
    return rc;
}

/* Joins `b` to `a` when they overlap or touch. What is named stays named only alone. */
static bool join(struct vcm_read_span *a, const struct vcm_read_span *b)
{
    if (a->file == SIZE_MAX || a->file != b->file || a->first > (uint64_t)b->last + 1 ||
        b->first > (uint64_t)a->last + 1)
        return false;
    bool same = a->first == b->first && a->last == b->last;
    bool a_is_all = a->first <= b->first && a->last >= b->last;
    bool b_is_all = b->first <= a->first && b->last >= a->last;
    if (same ? !a->symbol : !a_is_all) {
        a->symbol = b_is_all ? b->symbol : NULL;
        a->kind = b_is_all ? b->kind : NULL;
    }
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    return true;
}

static void merge(struct vcm_read_items *items)
{
    for (bool joined = true; joined;) {
        size_t kept = 0;
        joined = false;
        for (size_t i = 0; i < items->span_count; i++) {
            bool gone = false;
            for (size_t j = 0; !gone && j < kept; j++)
                gone = join(&items->spans[j], &items->spans[i]);
            joined = joined || gone;
            if (!gone)
                items->spans[kept++] = items->spans[i];
        }
        items->span_count = kept;
    }
}

/* The innermost definition that has all lines from `first` to `last`, or with `before` one that
 * begins above `first`. NULL for none. Definitions are in the order of the file. */
static const struct vcm_symbol *enclosing(const struct vcm_symbols *symbols, uint32_t first,
                                          uint32_t last, bool before)
{
    const struct vcm_symbol *found = NULL;

    for (uint32_t i = 0; i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        if (symbol->start_line + before <= first && symbol->end_line >= last &&
            (!found ||
             symbol->end_line - symbol->start_line <= found->end_line - found->start_line))
            found = symbol;
    }
    return found;
}

static void append_qualified(struct vcm_buf *out, const struct vcm_symbol *symbol)
{
    if (symbol->container.len > 0) {
        vcm_utf8_replace(out, symbol->container);
        vcm_buf_append_byte(out, '.');
    }
    vcm_utf8_replace(out, symbol->name);
}

/* "Shop > def total(self)", or "method Shop.total" when the signature is long. */
static void append_heading(struct vcm_buf *out, const struct vcm_symbol *symbol)
{
    if (symbol->signature.len == 0 || symbol->signature.len > HEADING_SIGNED) {
        vcm_buf_append_format(out, "%s ", vcm_symbol_kind_name(symbol->kind));
        append_qualified(out, symbol);
        return;
    }
    if (symbol->container.len > 0) {
        vcm_utf8_replace(out, symbol->container);
        vcm_buf_append_string(out, " > ");
    }
    vcm_utf8_replace(out, symbol->signature);
}

static int name_span(struct vcm_read_span *span, struct vcm_read_items *items,
                     struct vcm_error *err)
{
    const struct vcm_read_file *file = items->files[span->file].file;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_read_item *item = &span->item;
    bool failed = false;

    const struct vcm_symbol *around = enclosing(&file->symbols, span->first, span->first, true);
    const struct vcm_symbol *all = enclosing(&file->symbols, span->first, span->last, false);
    all = all ? all : around;
    item->symbol = span->symbol;
    item->kind = span->kind;
    if (!span->symbol && all) {
        append_qualified(&text, all);
        item->symbol = keep(items, &text);
        item->kind = vcm_symbol_kind_name(all->kind);
        failed = !item->symbol;
    }
    if (around) {
        vcm_buf_clear(&text);
        append_heading(&text, around);
        item->heading = keep(items, &text);
        failed = failed || !item->heading;
    }
    vcm_buf_release(&text);
    return failed ? vcm_error_memory(err) : VCM_OK;
}

static const char *hex_of(struct vcm_read_items *items, const void *bytes, size_t len)
{
    char *hex = vcm_arena_alloc(&items->arena, 2 * len + 1);

    if (hex)
        vcm_hash_to_hex(hex, bytes, len);
    return hex;
}

/* Reads the pages that have the lines, so that they count as read, and tells the first. */
static int name_page(struct vcm_read_span *span, struct vcm_read_items *items,
                     struct vcm_error *err)
{
    const struct vcm_read_file *file = items->files[span->file].file;
    const struct vcm_place_lines lines = {.first = span->first, .last = span->last};
    struct vcm_place_file source = file->file;
    struct vcm_place_text text;

    vcm_place_text_init(&text);
    source.source = VCM_PLACE_PAGE;
    source.scope = file->text.scope;
    int rc = vcm_place_text_read(&text, items->place, &source, &lines, err);
    if (rc == VCM_OK && text.has_page)
        span->item.page_id = hex_of(items, text.page.bytes, sizeof text.page.bytes);
    span->item.scope_id = vcm_arena_copy(&items->arena, file->text.scope->scope_id);
    vcm_place_text_release(&text);
    return rc == VCM_OK && !span->item.scope_id ? vcm_error_memory(err) : rc;
}

/* The bytes of lines `first` to `last`. */
static struct vcm_slice lines_of(struct vcm_slice text, uint32_t first, uint32_t last)
{
    size_t at = 0, begin = 0;

    for (uint32_t line = 1; line <= last && at < text.len; line++) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        begin = line == first ? at : begin;
        at = end ? (size_t)(end - text.data) + 1 : text.len;
    }
    return vcm_slice_of(text.data + begin, at - begin);
}

static int fill(struct vcm_read_span *span, struct vcm_read_items *items, struct vcm_error *err)
{
    const struct vcm_read_file *file = items->files[span->file].file;
    struct vcm_read_item *item = &span->item;
    struct vcm_slice text = lines_of(vcm_buf_slice(&file->text.text), span->first, span->last);

    item->path = file->shown;
    item->start_line = span->first;
    item->end_line = span->last;
    item->source = vcm_place_source_name(file->text.source);
    item->text = text.len > 0 ? text.data : "";
    item->text_len = text.len;
    if (file->text.has_blob)
        item->blob = hex_of(items, file->text.blob.bytes, VCM_GIT_ID_BYTES);
    int rc = file->text.has_blob && !item->blob ? vcm_error_memory(err) : VCM_OK;
    if (rc == VCM_OK)
        rc = name_span(span, items, err);
    if (rc == VCM_OK && file->text.source == VCM_PLACE_PAGE)
        rc = name_page(span, items, err);
    span->record = (struct vcm_record){.path = item->path,
                                       .start_line = item->start_line,
                                       .end_line = item->end_line,
                                       .part = 1,
                                       .parts = 1,
                                       .lossy = file->text.lossy,
                                       .heading = item->heading,
                                       .text = item->text,
                                       .text_len = item->text_len};
    return rc;
}

int vcm_read_items_finish(struct vcm_read_items *items, struct vcm_error *err)
{
    int rc = VCM_OK;

    merge(items);
    for (size_t i = 0; rc == VCM_OK && i < items->span_count; i++)
        if (items->spans[i].file != SIZE_MAX)
            rc = fill(&items->spans[i], items, err);
    return rc;
}
