#include "repomap/edit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"

#include "base/banned.h"

#define EDITS_MAX (VCM_EDIT_PATTERNS_MAX + 2)

/* Text to insert at an offset, in place of `removed` bytes. */
struct edit {
    size_t at, removed;
    struct vcm_slice text;
};

struct editor {
    struct vcm_slice text;
    const struct vcm_repo_map *map;
    const struct vcm_yaml *root;
    struct vcm_arena arena;
    struct edit edits[EDITS_MAX];
    size_t count;
};

static int refuse(const struct vcm_yaml *node, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "line %u of %s is written in a way that cannot be edited safely; write "
                         "its list one item a line, or make the change by hand",
                         node ? node->line : 1, VCM_REPO_MAP_PATH);
}

/* The length of a YAML 1.1 line break, 0 for anything else. */
static size_t break_length(struct vcm_slice text, size_t at)
{
    static const struct vcm_slice breaks[] = {
        {"\r\n", 2},     {"\n", 1},           {"\r", 1},
        {"\xc2\x85", 2}, {"\xe2\x80\xa8", 3}, {"\xe2\x80\xa9", 3},
    };

    for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++)
        if (text.len - at >= breaks[i].len &&
            memcmp(text.data + at, breaks[i].data, breaks[i].len) == 0)
            return breaks[i].len;
    return 0;
}

/* The offset after the line's break, or the end of the text. */
static size_t line_end(struct vcm_slice text, size_t at)
{
    for (; at < text.len; at++) {
        size_t len = break_length(text, at);
        if (len > 0)
            return at + len;
    }
    return text.len;
}

/* Whether a line begins here. */
static bool is_line_start(struct vcm_slice text, size_t at)
{
    return at == 0 || text.data[at - 1] == '\n' || break_length(text, at - 1) == 1 ||
           (at >= 2 && break_length(text, at - 2) == 2) ||
           (at >= 3 && break_length(text, at - 3) == 3);
}

/* The line break of the text, taken from its first line. */
static const char *newline_of(struct vcm_slice text)
{
    const char *first = text.len > 0 ? memchr(text.data, '\n', text.len) : NULL;

    return first && first > text.data && first[-1] == '\r' ? "\r\n" : "\n";
}

/* Converts a YAML mark to an offset. Marks count characters; a BOM counts as none. */
static size_t offset_of(struct vcm_slice text, unsigned line, unsigned column)
{
    size_t at = text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    for (; line > 1; line--)
        at = line_end(text, at);
    for (; column > 1 && at < text.len && break_length(text, at) == 0; column--)
        at += vcm_utf8_sequence_length((unsigned char)text.data[at]);
    return at < text.len ? at : text.len;
}

static size_t start_of(const struct editor *e, const struct vcm_yaml *node)
{
    return offset_of(e->text, node->line, node->column);
}

static bool is_flow(const struct editor *e, const struct vcm_yaml *node)
{
    size_t at = start_of(e, node);

    return (node->kind == VCM_YAML_SEQUENCE || node->kind == VCM_YAML_MAPPING) &&
           at < e->text.len && (e->text.data[at] == '[' || e->text.data[at] == '{');
}

static const struct vcm_yaml *last_of(const struct vcm_yaml *node)
{
    const struct vcm_yaml *last = node->first;

    while (last && last->next)
        last = last->next;
    return last;
}

/* The offset of a flow collection's closing bracket. Between its last item and the bracket there
 * are only spaces, commas and comments. */
static size_t closing_of(const struct editor *e, const struct vcm_yaml *node)
{
    const struct vcm_yaml *last = last_of(node);
    size_t at = start_of(e, node) + 1;

    if (last && is_flow(e, last))
        at = closing_of(e, last) + 1;
    else if (last)
        at = offset_of(e->text, last->end_line, last->end_column);
    for (; at < e->text.len && e->text.data[at] != ']' && e->text.data[at] != '}'; at++)
        if (e->text.data[at] == '#')
            at = line_end(e->text, at) - 1; /* the last byte of the break */
    return at;
}

/* The offset of the line after a node. */
static size_t behind(const struct editor *e, const struct vcm_yaml *node)
{
    const struct vcm_yaml *last = last_of(node);

    if (is_flow(e, node))
        return line_end(e->text, closing_of(e, node));
    if (last)
        return behind(e, last);
    /* A literal block ends at the beginning of the line after it. */
    size_t at = offset_of(e->text, node->end_line, node->end_column);
    return node->end_line > node->line && node->end_column == 1 ? at : line_end(e->text, at);
}

static int add_edit(struct editor *e, size_t at, size_t removed, const struct vcm_buf *text,
                    struct vcm_error *err)
{
    int rc = vcm_buf_check(text, "an edit", err);
    if (rc != VCM_OK)
        return rc;
    if (e->count == EDITS_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give at most %d paths",
                             VCM_EDIT_PATTERNS_MAX);
    struct vcm_buf lines = VCM_BUF_INIT(2 * VCM_LIMIT_YAML_BYTES);
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] == '\n')
            vcm_buf_append_string(&lines, newline_of(e->text));
        else
            vcm_buf_append_byte(&lines, text->data[i]);
    }
    const char *copy = vcm_arena_copy(&e->arena, vcm_buf_slice(&lines));
    size_t len = lines.len;
    vcm_buf_release(&lines);
    if (!copy)
        return vcm_error_memory(err);
    assert(at <= e->text.len && removed <= e->text.len - at);
    size_t i = e->count++;
    for (; i > 0 && e->edits[i - 1].at > at; i--)
        e->edits[i] = e->edits[i - 1];
    e->edits[i] = (struct edit){at, removed, vcm_slice_of(copy, len)};
    return VCM_OK;
}

/* Whether an insertion here must first end the line before: true for the last line, unless an
 * earlier insertion ended it. */
static bool needs_newline(const struct editor *e, size_t at)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->edits[i].at == at)
            return false;
    return !is_line_start(e->text, at);
}

static void put_line(struct vcm_buf *out, unsigned indent, const char *text)
{
    vcm_buf_append_format(out, "%*s%s\n", (int)indent, "", text);
}

static void put_pattern(struct vcm_buf *out, unsigned indent, const char *pattern)
{
    vcm_buf_append_format(out, "%*s- ", (int)indent, "");
    vcm_jsonw_escape(out, vcm_slice_of_string(pattern));
    vcm_buf_append_byte(out, '\n');
}

static void put_patterns(struct vcm_buf *out, unsigned indent, const char *key,
                         const char *const *patterns, size_t count)
{
    vcm_buf_append_format(out, "%*s%s:\n", (int)indent, "", key);
    for (size_t i = 0; i < count; i++)
        put_pattern(out, indent + 2, patterns[i]);
}

/* Finds the place for another item of the list under a top-level key: its offset, how many bytes it
 * replaces, and its indentation. A missing key is added at the end; an empty list is replaced.
 * `text` may receive the beginning of the insertion. */
static int open_list(size_t *at, size_t *removed, unsigned *indent, struct vcm_buf *text,
                     const struct editor *e, const char *key, struct vcm_error *err)
{
    const struct vcm_yaml *list = vcm_yaml_get(e->root, key);

    *removed = 0;
    *indent = 2;
    if (!list) {
        *at = e->text.len;
        if (needs_newline(e, *at))
            vcm_buf_append_byte(text, '\n');
        vcm_buf_append_format(text, "%s:\n", key);
        return VCM_OK;
    }
    if (is_flow(e, list) && !list->first) {
        *at = start_of(e, list);
        *removed = line_end(e->text, closing_of(e, list) + 1) - *at;
        while (*at > 0 && e->text.data[*at - 1] == ' ') { /* the spaces after the colon */
            --*at;
            ++*removed;
        }
        if (memchr(e->text.data + *at, '#',
                   *removed)) /* a comment inside or after the empty list */
            return refuse(list, err);
        vcm_buf_append_byte(text, '\n');
        return VCM_OK;
    }
    if (is_flow(e, list) || !list->first)
        return refuse(list, err);
    *at = behind(e, list);
    *indent = list->column - 1;
    if (needs_newline(e, *at))
        vcm_buf_append_byte(text, '\n');
    return VCM_OK;
}

static const struct vcm_yaml *item_of(const struct editor *e, const char *key, unsigned index)
{
    const struct vcm_yaml *list = vcm_yaml_get(e->root, key);
    const struct vcm_yaml *node = list ? list->first : NULL;

    while (node && index-- > 0)
        node = node->next;
    return node;
}

/* Makes a route lead to vcm: changes the value of ingest_to, or inserts a line after its paths. */
static int set_route(struct editor *e, unsigned index, struct vcm_error *err)
{
    const struct vcm_yaml *route = item_of(e, "knowledge_routing", index);
    const struct vcm_yaml *value = route ? vcm_yaml_get(route, "ingest_to") : NULL;
    struct vcm_buf text = VCM_BUF_INIT(4096);
    size_t at = 0, removed = 0;

    if (!route)
        return refuse(route, err);
    if (value) {
        at = start_of(e, value);
        removed = offset_of(e->text, value->end_line, value->end_column) - at;
        vcm_buf_append_string(&text, "vcm");
    } else if (is_flow(e, route)) {
        const struct vcm_yaml *paths = vcm_yaml_get(route, "paths");
        at = is_flow(e, paths) ? closing_of(e, paths) + 1 : start_of(e, paths);
        vcm_buf_append_string(&text, ", ingest_to: vcm");
    } else {
        at = behind(e, vcm_yaml_get(route, "paths"));
        if (needs_newline(e, at))
            vcm_buf_append_byte(&text, '\n');
        put_line(&text, route->column - 1, "ingest_to: vcm");
    }
    int rc = add_edit(e, at, removed, &text, err);
    vcm_buf_release(&text);
    return rc;
}

/* A leading slash does not change the meaning of a pattern that has another slash. */
static const char *without_slash(const char *pattern)
{
    const char *inner = pattern[0] == '/' ? strchr(pattern + 1, '/') : NULL;

    return inner && inner[1] != '\0' ? pattern + 1 : pattern;
}

/* The knowledge_base route with this pattern and no other; the number of routes if there is none.
 */
static unsigned own_route(const struct vcm_repo_map *map, const char *pattern)
{
    unsigned i = 0;

    for (; i < map->route_count; i++) {
        const struct vcm_repo_map_route *route = &map->routes[i];
        if (route->ingest_to == VCM_REPO_MAP_TO_KNOWLEDGE_BASE && route->paths.count == 1 &&
            strcmp(without_slash(route->paths.items[0]), without_slash(pattern)) == 0)
            break;
    }
    return i;
}

/* Whether an earlier pattern already changed the same route. */
static bool is_set_already(const struct editor *e, const struct vcm_edit_promotion *promotion,
                           size_t index, unsigned own)
{
    for (size_t i = 0; i < index; i++)
        if (own_route(e->map, promotion->routed[i]) == own)
            return true;
    return false;
}

static int edit_routes(struct editor *e, struct vcm_edit_report *report,
                       const struct vcm_edit_promotion *promotion, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
    size_t at = 0, removed = 0;
    unsigned indent = 0;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < promotion->routed_count; i++) {
        unsigned own = own_route(e->map, promotion->routed[i]);
        if (own == e->map->route_count) {
            report->added[report->added_count++] = promotion->routed[i];
        } else if (!is_set_already(e, promotion, i, own)) {
            rc = set_route(e, own, err);
            report->routes_set++;
        }
    }
    if (rc == VCM_OK && report->added_count > 0) {
        rc = open_list(&at, &removed, &indent, &text, e, "knowledge_routing", err);
        put_line(&text, indent, "- ingest_to: vcm");
        put_patterns(&text, indent + 2, "paths", report->added, report->added_count);
        if (rc == VCM_OK)
            rc = add_edit(e, at, removed, &text, err);
        report->route_added = true;
    }
    vcm_buf_release(&text);
    return rc;
}

/* Whether this is a literature row over the whole tree with include_globs. */
static bool takes_patterns(const struct vcm_repo_map_row *row)
{
    return strcmp(row->type, VCM_REPO_MAP_LITERATURE) == 0 && !row->origin_url && !row->submodule &&
           row->start_dir[0] == '\0' && vcm_repo_map_row_sets(row, VCM_REPO_MAP_INCLUDE_GLOBS) &&
           !vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH) &&
           !vcm_repo_map_row_sets(row, VCM_REPO_MAP_COMMIT);
}

static int extend_row(struct editor *e, unsigned index, const struct vcm_edit_promotion *promotion,
                      struct vcm_error *err)
{
    const struct vcm_yaml *row = item_of(e, "sources", index);
    const struct vcm_yaml *globs = row ? vcm_yaml_get(row, "include_globs") : NULL;
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
    size_t at = 0;

    if (!globs || !globs->first)
        return refuse(row, err);
    if (is_flow(e, globs)) {
        const struct vcm_yaml *last = last_of(globs);
        at = offset_of(e->text, last->end_line, last->end_column);
        for (size_t i = 0; i < promotion->covered_count; i++) {
            vcm_buf_append_string(&text, ", ");
            vcm_jsonw_escape(&text, vcm_slice_of_string(promotion->covered[i]));
        }
    } else {
        at = behind(e, globs);
        if (needs_newline(e, at))
            vcm_buf_append_byte(&text, '\n');
        for (size_t i = 0; i < promotion->covered_count; i++)
            put_pattern(&text, globs->column - 1, promotion->covered[i]);
    }
    int rc = add_edit(e, at, 0, &text, err);
    vcm_buf_release(&text);
    return rc;
}

static bool has_row(const struct vcm_repo_map *map, const char *name)
{
    for (unsigned i = 0; i < map->row_count; i++)
        if (strcmp(map->rows[i].name, name) == 0)
            return true;
    return false;
}

static int add_row(struct editor *e, struct vcm_edit_report *report,
                   const struct vcm_edit_promotion *promotion, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
    size_t at = 0, removed = 0;
    unsigned indent = 0;

    snprintf(report->row_name, sizeof report->row_name, "promoted");
    for (unsigned i = 2; has_row(e->map, report->row_name); i++)
        snprintf(report->row_name, sizeof report->row_name, "promoted-%u", i);
    int rc = open_list(&at, &removed, &indent, &text, e, "sources", err);
    vcm_buf_append_format(&text, "%*s- name: %s\n", (int)indent, "", report->row_name);
    put_line(&text, indent + 2, "type: literature");
    put_patterns(&text, indent + 2, "include_globs", promotion->covered, promotion->covered_count);
    if (rc == VCM_OK)
        rc = add_edit(e, at, removed, &text, err);
    vcm_buf_release(&text);
    report->row = report->row_name;
    report->row_added = true;
    return rc;
}

static int edit_rows(struct editor *e, struct vcm_edit_report *report,
                     const struct vcm_edit_promotion *promotion, struct vcm_error *err)
{
    if (promotion->covered_count == 0)
        return VCM_OK;
    for (unsigned i = 0; i < e->map->row_count; i++)
        if (takes_patterns(&e->map->rows[i])) {
            report->row = e->map->rows[i].name;
            return extend_row(e, i, promotion, err);
        }
    return add_row(e, report, promotion, err);
}

static void apply(struct vcm_buf *out, const struct editor *e)
{
    size_t at = 0;

    for (size_t i = 0; i < e->count; i++) {
        assert(at <= e->edits[i].at && e->edits[i].removed <= e->text.len - e->edits[i].at);
        vcm_buf_append(out, e->text.data + at, e->edits[i].at - at);
        vcm_buf_append_slice(out, e->edits[i].text);
        at = e->edits[i].at + e->edits[i].removed;
    }
    vcm_buf_append(out, e->text.data + at, e->text.len - at);
}

int vcm_edit_promote(struct vcm_buf *out, struct vcm_edit_report *report, struct vcm_slice text,
                     const struct vcm_repo_map *map, const struct vcm_edit_promotion *promotion,
                     struct vcm_error *err)
{
    struct editor e = {.text = text, .map = map};
    struct vcm_yaml_mark mark;
    struct vcm_yaml *root = NULL;

    memset(report, 0, sizeof *report);
    if (promotion->routed_count > VCM_EDIT_PATTERNS_MAX ||
        promotion->covered_count > VCM_EDIT_PATTERNS_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give at most %d paths",
                             VCM_EDIT_PATTERNS_MAX);
    vcm_arena_init(&e.arena, 64 * VCM_MIB);
    int rc = vcm_yaml_parse(&root, &mark, &e.arena, text, err);
    e.root = root;
    if (rc == VCM_OK && (!root || root->kind != VCM_YAML_MAPPING || is_flow(&e, root)))
        rc = refuse(root, err);
    if (rc == VCM_OK)
        rc = edit_rows(&e, report, promotion, err);
    if (rc == VCM_OK)
        rc = edit_routes(&e, report, promotion, err);
    for (size_t i = 1; rc == VCM_OK && i < e.count; i++)
        if (e.edits[i - 1].at + e.edits[i - 1].removed > e.edits[i].at)
            rc = refuse(root, err);
    if (rc == VCM_OK) {
        apply(out, &e);
        rc = vcm_buf_check(out, VCM_REPO_MAP_PATH, err);
    }
    vcm_arena_release(&e.arena);
    return rc;
}
