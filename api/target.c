#include "api/target.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/names.h"
#include "api/target_parse.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"

#include "base/banned.h"

#define CANDIDATES_MAX  8u
#define CANDIDATE_BYTES ((size_t)240)
#define MATCHES_MAX     10000u

void vcm_target_init(struct vcm_target *target)
{
    *target = (struct vcm_target){.first = 0};
    vcm_buf_init(&target->path, VCM_LIMIT_TREE_PATH_BYTES);
    vcm_buf_init(&target->name, VCM_LIMIT_TREE_PATH_BYTES);
    vcm_buf_init(&target->signature, VCM_LIMIT_TREE_PATH_BYTES);
}

void vcm_target_release(struct vcm_target *target)
{
    vcm_buf_release(&target->signature);
    vcm_buf_release(&target->name);
    vcm_buf_release(&target->path);
}

/* Paths */

/* NOT_FOUND, with `err` untouched, when there is no such file. */
static int find_path(struct vcm_target *out, struct vcm_place *place, const char *text,
                     struct vcm_error *err)
{
    struct vcm_error outside = {0}, left_out = {0};
    int rc = VCM_NOT_FOUND;

    for (int local = 0; rc == VCM_NOT_FOUND && local < 2; local++) {
        vcm_buf_clear(&out->path);
        /* What leads out of the repository is no file of it; it may be a name, as "../x" is not. */
        if (vcm_place_path(&out->path, place, text, local == 1, &outside) == VCM_OK)
            rc = vcm_place_find(&out->file, place, vcm_buf_text(&out->path), &left_out);
    }
    if (rc != VCM_OK && left_out.code != VCM_OK && err)
        *err = left_out;
    out->kind = VCM_TARGET_FILE;
    return rc;
}

static int find_slice(struct vcm_target *out, struct vcm_place *place, struct vcm_slice path,
                      struct vcm_error *err)
{
    char *text = strndup(path.data, path.len);
    int rc = text ? find_path(out, place, text, err) : vcm_error_memory(err);

    free(text);
    return rc;
}

static int find_directory(bool *found, struct vcm_target *out, struct vcm_place *place,
                          const char *text, struct vcm_error *err)
{
    struct vcm_error outside = {0};
    int rc = VCM_OK;

    *found = false;
    for (int local = 0; rc == VCM_OK && !*found && local < 2; local++) {
        vcm_buf_clear(&out->path);
        if (vcm_place_path(&out->path, place, text, local == 1, &outside) == VCM_OK)
            rc = vcm_place_has_directory(found, place, vcm_buf_text(&out->path), err);
    }
    out->kind = VCM_TARGET_DIRECTORY;
    return rc;
}

/* Definitions */

struct match {
    struct vcm_place_file file;
    struct vcm_slice container, name, signature; /* in the arena, as file.path is */
    uint32_t line, start_line, end_line;
    enum vcm_symbol_kind kind;
    enum vcm_language language;
    bool dropped;
};

struct matches {
    struct vcm_arena arena;
    struct match *list;
    size_t count, capacity;
    uint32_t only_line; /* 0 for any */
};

static struct vcm_slice keep(struct matches *matches, struct vcm_slice text, bool *failed)
{
    const char *copy = vcm_arena_copy(&matches->arena, text);

    *failed = *failed || !copy;
    return vcm_slice_of(copy, copy ? text.len : 0);
}

static int take_match(void *context, const struct vcm_place_definition *found,
                      struct vcm_error *err)
{
    struct matches *matches = context;
    bool failed = false;

    int rc =
        vcm_array_reserve(&matches->list, &matches->capacity, matches->count + 1, MATCHES_MAX, err);
    if (rc != VCM_OK)
        return rc;
    struct match *match = &matches->list[matches->count++];
    *match = (struct match){
        .file = *found->file,
        .container = keep(matches, found->symbol->container, &failed),
        .name = keep(matches, found->symbol->name, &failed),
        .signature = keep(matches, found->symbol->signature, &failed),
        .line = found->symbol->line,
        .start_line = found->symbol->start_line,
        .end_line = found->symbol->end_line,
        .kind = found->symbol->kind,
        .language = found->language,
    };
    match->file.path = keep(matches, found->file->path, &failed);
    return failed ? vcm_error_memory(err) : VCM_OK;
}

static bool is_same_file(const struct match *a, const struct match *b)
{
    return a->file.scope == b->file.scope && vcm_slice_equal(a->file.path, b->file.path);
}

/* Whether `a` is a part of `b`: the constructor of a class, the name of a struct behind it. */
static bool is_within(const struct match *a, const struct match *b)
{
    return is_same_file(a, b) && a->start_line >= b->start_line && a->end_line <= b->end_line;
}

/* A declaration gives way to the definition, and what is inside of another to that. */
static size_t prefer(struct matches *matches)
{
    size_t left = 0, defined = 0;

    for (size_t i = 0; i < matches->count; i++)
        defined += matches->list[i].kind != VCM_SYMBOL_PROTOTYPE;
    for (size_t i = 0; i < matches->count; i++) {
        struct match *match = &matches->list[i];
        match->dropped = defined > 0 && match->kind == VCM_SYMBOL_PROTOTYPE;
        for (size_t j = 0; !match->dropped && j < matches->count; j++)
            match->dropped = j != i && !matches->list[j].dropped &&
                             is_within(match, &matches->list[j]) &&
                             !(j > i && is_within(&matches->list[j], match));
        left += !match->dropped;
    }
    return left;
}

/* Of a named line only the definition there, unless none is there any more. */
static void keep_line(struct matches *matches)
{
    bool has_line = false;

    for (size_t i = 0; i < matches->count; i++)
        has_line = has_line || matches->list[i].line == matches->only_line;
    if (matches->only_line == 0 || !has_line)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++)
        if (matches->list[i].line == matches->only_line)
            matches->list[kept++] = matches->list[i];
    matches->count = kept;
}

static void append_name(struct vcm_buf *out, const struct match *match)
{
    if (match->container.len > 0) {
        vcm_utf8_replace(out, match->container);
        vcm_buf_append_byte(out, '.');
    }
    vcm_utf8_replace(out, match->name);
}

/* "src/a.c:12#Shop.total" */
static void append_id(struct vcm_buf *out, const struct match *match)
{
    vcm_utf8_escape_path(out, match->file.path);
    vcm_buf_append_format(out, ":%u#", match->line);
    append_name(out, match);
}

static int refuse_several(const struct matches *matches, size_t left, const char *text,
                          struct vcm_error *err)
{
    struct vcm_buf ids[CANDIDATES_MAX];
    const char *texts[CANDIDATES_MAX] = {"", ""};
    unsigned count = 0;

    for (size_t i = 0; i < matches->count && count < CANDIDATES_MAX; i++) {
        if (matches->list[i].dropped)
            continue;
        vcm_buf_init(&ids[count], 4 * VCM_LIMIT_TREE_PATH_BYTES);
        append_id(&ids[count], &matches->list[i]);
        texts[count] = vcm_buf_text(&ids[count]);
        count++;
    }
    int rc =
        vcm_error_set(err, VCM_AMBIGUOUS,
                      "'%s' has %zu definitions: '%.*s', '%.*s'%s; the first is picked by "
                      "'vcm read %.*s'",
                      text, left, (int)(CANDIDATE_BYTES / 2), texts[0], (int)(CANDIDATE_BYTES / 2),
                      texts[1], left > 2 ? ", ..." : "", (int)(CANDIDATE_BYTES / 2), texts[0]);
    vcm_error_detail_list(err, "candidates", texts, count);
    for (unsigned i = 0; i < count; i++)
        vcm_buf_release(&ids[i]);
    return rc;
}

/* NOT_FOUND, with `err` untouched, when there is no match. */
static int choose(struct vcm_target *out, struct matches *matches, const char *text,
                  struct vcm_error *err)
{
    keep_line(matches);
    size_t left = prefer(matches);
    if (left == 0)
        return VCM_NOT_FOUND;
    if (left > 1)
        return refuse_several(matches, left, text, err);
    const struct match *match = matches->list;
    while (match->dropped)
        match++;
    vcm_buf_clear(&out->path);
    vcm_buf_append_slice(&out->path, match->file.path);
    append_name(&out->name, match);
    vcm_utf8_replace(&out->signature, match->signature);
    out->kind = VCM_TARGET_SYMBOL;
    out->file = match->file;
    out->line = match->start_line;
    out->end_line = match->end_line;
    out->symbol_kind = match->kind;
    out->language = match->language;
    int rc = vcm_buf_check(&out->path, "a path", err);
    out->file.path = vcm_buf_slice(&out->path);
    return rc == VCM_OK ? vcm_buf_check(&out->name, "a name", err) : rc;
}

/* The definitions of one file, which is read for it. */
static int match_in_file(struct matches *matches, struct vcm_place_symbols *symbols,
                         const struct vcm_place_file *file, struct vcm_slice name,
                         struct vcm_error *err)
{
    const struct vcm_place_lines all = {.peek = true};
    struct vcm_place_text text;
    struct vcm_symbols found;
    enum vcm_language language;

    vcm_place_text_init(&text);
    vcm_symbols_init(&found);
    int rc = vcm_place_text_read(&text, symbols->place, file, &all, err);
    if (rc == VCM_OK)
        rc = vcm_place_symbols_read(&found, &language, symbols, file, vcm_buf_slice(&text.text),
                                    false, err);
    if (rc == VCM_OK)
        rc = vcm_place_symbols_match(&found, language, file, name, take_match, matches, err);
    vcm_symbols_release(&found);
    vcm_place_text_release(&text);
    return rc;
}

static int find_in_file(struct vcm_target *out, struct vcm_place_symbols *symbols, const char *text,
                        struct vcm_error *err)
{
    struct matches matches = {.count = 0};
    struct vcm_target_name named;

    if (!vcm_target_parse_name(&named, text))
        return VCM_NOT_FOUND;
    int rc = find_slice(out, symbols->place, named.path, err);
    if (rc != VCM_OK)
        return rc;
    vcm_arena_init(&matches.arena, 256 * VCM_MIB);
    matches.only_line = named.line;
    rc = match_in_file(&matches, symbols, &out->file, named.name, err);
    if (rc == VCM_OK)
        rc = choose(out, &matches, text, err);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
        rc = vcm_error_set(err, VCM_NOT_FOUND,
                           "'%s' has no definition '%.*s'; 'vcm outline' lists those that it has",
                           vcm_buf_text(&out->path), (int)named.name.len, named.name.data);
    free(matches.list);
    vcm_arena_release(&matches.arena);
    return rc;
}

static int find_definition(struct vcm_target *out, struct vcm_place_symbols *symbols,
                           const char *text, struct vcm_error *err)
{
    struct matches matches = {.count = 0};

    /* No name begins with a digit: a page's id is looked for without an index of all symbols. */
    if (isdigit((unsigned char)text[0]) || strlen(text) > VCM_LIMIT_SYMBOL_NAME_BYTES)
        return VCM_NOT_FOUND;
    vcm_arena_init(&matches.arena, 256 * VCM_MIB);
    int rc = vcm_place_symbols_find(symbols, vcm_slice_of_string(text), take_match, &matches, err);
    if (rc == VCM_OK)
        rc = choose(out, &matches, text, err);
    free(matches.list);
    vcm_arena_release(&matches.arena);
    return rc;
}

/* Pages */

/* NOT_FOUND, with `err` untouched, when the text is no id, or of no page of the home. */
static int find_page(struct vcm_target *out, struct vcm *vcm, const char *text,
                     struct vcm_error *err)
{
    struct vcm_error found = {0};
    struct vcm_kv_txn *txn = NULL;

    if (strlen(text) < VCM_LIMIT_PREFIX_MIN || strlen(text) > VCM_PAGE_ID_HEX ||
        text[strspn(text, "0123456789abcdefABCDEF")] != '\0')
        return VCM_NOT_FOUND;
    int rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return VCM_NOT_FOUND;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_names_find_page(&out->page, txn, text, &found);
    vcm_kv_handle_read_end(txn);
    if (rc == VCM_AMBIGUOUS && err)
        *err = found;
    out->kind = VCM_TARGET_PAGE;
    return rc;
}

/* What is near */

struct near_search {
    struct vcm_slice name; /* the last part of the path that is not there */
    char found[CANDIDATES_MAX][CANDIDATE_BYTES];
    unsigned count;
};

static int note_near(void *context, const struct vcm_place_file *file, struct vcm_error *err)
{
    struct near_search *search = context;
    struct vcm_slice name = vcm_path_base_name(file->path);
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    (void)err;
    if (name.len != search->name.len || strncasecmp(name.data, search->name.data, name.len) != 0)
        return VCM_OK;
    vcm_utf8_escape_path(&path, file->path);
    if (path.len > 0 && path.len < CANDIDATE_BYTES)
        memcpy(search->found[search->count++], vcm_buf_text(&path), path.len + 1);
    vcm_buf_release(&path);
    return search->count < CANDIDATES_MAX ? VCM_OK : VCM_STOP;
}

static int refuse_unknown(struct vcm_place *place, const char *text, struct vcm_slice path,
                          struct vcm_error *err)
{
    struct near_search search = {.name = vcm_path_base_name(path)};
    struct vcm_buf where = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    const char *candidates[CANDIDATES_MAX];
    struct vcm_error ignored = {0};

    if (search.name.len > 0)
        vcm_place_each(place, "", note_near, &search, &ignored);
    for (unsigned i = 0; i < search.count; i++)
        candidates[i] = search.found[i];
    vcm_place_describe(&where, place);
    int rc;
    if (search.count > 0)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "no file '%.*s' in %s; there is '%s'%s",
                           (int)path.len, path.data, vcm_buf_text(&where), candidates[0],
                           search.count > 1 ? " and others by that name" : "");
    else if (strlen(text) > path.len) /* with lines it can be a file only */
        rc = vcm_error_set(err, VCM_NOT_FOUND, "no file '%.*s' in %s", (int)path.len, path.data,
                           vcm_buf_text(&where));
    else
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' is no file, no definition and no page in %s",
                           text, vcm_buf_text(&where));
    if (search.count > 0)
        vcm_error_detail_list(err, "candidates", candidates, search.count);
    vcm_buf_release(&where);
    return rc;
}

/* Whether the search goes on: nothing by this name was found, and nothing went wrong. */
static bool is_nothing(int rc, const struct vcm_error *err)
{
    return rc == VCM_NOT_FOUND && err->code == VCM_OK;
}

static int find_target(struct vcm_target *out, struct vcm_place_symbols *symbols, const char *text,
                       struct vcm_error *err)
{
    struct vcm_place *place = symbols->place;
    struct vcm_target_lines lines;
    bool has_lines = false, is_directory = false;

    int rc = find_path(out, place, text, err);
    if (!is_nothing(rc, err))
        return rc;
    rc = vcm_target_parse_lines(&has_lines, &lines, text, err);
    if (rc == VCM_OK && has_lines) {
        rc = find_slice(out, place, lines.path, err);
        out->first = lines.first;
        out->last = lines.last;
        return is_nothing(rc, err) ? refuse_unknown(place, text, lines.path, err) : rc;
    }
    if (rc == VCM_OK)
        rc = find_directory(&is_directory, out, place, text, err);
    if (rc != VCM_OK || is_directory)
        return rc;
    rc = find_in_file(out, symbols, text, err);
    if (is_nothing(rc, err))
        rc = find_definition(out, symbols, text, err);
    if (is_nothing(rc, err))
        rc = find_page(out, place->vcm, text, err);
    return is_nothing(rc, err) ? refuse_unknown(place, text, vcm_slice_of_string(text), err) : rc;
}

int vcm_target_find(struct vcm_target *out, struct vcm_place_symbols *symbols, const char *text,
                    struct vcm_error *err)
{
    struct vcm_error found = {0};

    int rc = text[0] != '\0' ? find_target(out, symbols, text, &found)
                             : vcm_error_set(&found, VCM_INVALID_ARGUMENT, "an argument is empty");
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}
