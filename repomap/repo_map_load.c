#include "repomap/repo_map_load.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "base/text.h"
#include "repomap/repo_map_value.h"
#include "repomap/repo_map_schema.h"

#include "base/banned.h"

#define ARENA_MAX     (32 * VCM_MIB)
#define START_OF_FILE ((struct vcm_repo_map_place){1, 1})

#define fail(load, place, ...) vcm_problem_add((load)->problems, false, place, __VA_ARGS__)

/* The nodes of a mapping, by the index of their key. */
struct found {
    const struct vcm_yaml *nodes[VCM_SCHEMA_KEYS_MAX];
};

static void fail_unknown(struct vcm_load *load, const struct vcm_schema_level *level,
                         const struct vcm_yaml *key, const char *where)
{
    const char *names[VCM_SCHEMA_KEYS_MAX];
    char place[VCM_LOAD_WHERE_MAX + VCM_LOAD_SHOWN_MAX + 8];

    for (unsigned i = 0; i < level->count; i++)
        names[i] = level->keys[i].name;
    const char *nearest = vcm_text_nearest(key->text, names, level->count);
    snprintf(place, sizeof place, "%s%s%.*s%s", where, where[0] != '\0' ? "." : "",
             VCM_LOAD_SHOWN(key->text));
    fail(load, VCM_LOAD_PLACE(key), place, "unknown key '%.*s%s'%s%s%s", VCM_LOAD_SHOWN(key->text),
         nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static void member_place(char out[VCM_LOAD_WHERE_MAX], const char *where, const char *key)
{
    snprintf(out, VCM_LOAD_WHERE_MAX, "%s%s%s", where, where[0] != '\0' ? "." : "", key);
}

/* Finds the keys of a level in a mapping; adds a problem for unknown, repeated and missing ones. */
static void find_keys(struct found *found, struct vcm_load *load,
                      const struct vcm_schema_level *level, const struct vcm_yaml *mapping,
                      const char *where)
{
    char place[VCM_LOAD_WHERE_MAX];

    memset(found, 0, sizeof *found);
    for (const struct vcm_yaml *node = mapping->first; node; node = node->next) {
        int index = vcm_repo_map_schema_find(level, node->key->text);
        if (index < 0) {
            fail_unknown(load, level, node->key, where);
        } else if (found->nodes[index]) {
            member_place(place, where, level->keys[index].name);
            fail(load, VCM_LOAD_PLACE(node->key), place,
                 "the key is given twice; the first is on line %u", found->nodes[index]->key->line);
        } else {
            found->nodes[index] = node;
        }
    }
    for (unsigned i = 0; i < level->count; i++) {
        if (!level->keys[i].required || found->nodes[i])
            continue;
        member_place(place, where, level->keys[i].name);
        fail(load, VCM_LOAD_PLACE(mapping), place, "the key is missing; a %s must have it",
             level->what);
    }
}

static void store(struct vcm_repo_map_row *row, enum vcm_repo_map_field field,
                  const struct vcm_load_value *value)
{
    switch (field) {
    case VCM_REPO_MAP_NAME:
        row->name = value->text;
        break;
    case VCM_REPO_MAP_TYPE:
        row->type = value->text;
        break;
    case VCM_REPO_MAP_ORIGIN_URL:
        row->origin_url = value->text;
        break;
    case VCM_REPO_MAP_SUBMODULE:
        row->submodule = value->text;
        break;
    case VCM_REPO_MAP_BRANCH:
        row->branch = value->text;
        break;
    case VCM_REPO_MAP_COMMIT:
        row->commit = value->text;
        break;
    case VCM_REPO_MAP_START_DIR:
        row->start_dir = value->text;
        break;
    case VCM_REPO_MAP_INCLUDE_GLOBS:
        row->include_globs = value->list;
        break;
    case VCM_REPO_MAP_EXCLUDE_GLOBS:
        row->exclude_globs = value->list;
        break;
    case VCM_REPO_MAP_BINARY_POLICY:
        row->include_binaries = value->text && strcmp(value->text, "include") == 0;
        break;
    case VCM_REPO_MAP_STATIC:
        row->is_static = value->boolean;
        break;
    case VCM_REPO_MAP_CHUNK_TARGET_TOKENS:
        row->chunk_target_tokens = (uint32_t)value->integer;
        break;
    case VCM_REPO_MAP_CHUNK_OVERLAP_TOKENS:
        row->chunk_overlap_tokens = (uint32_t)value->integer;
        break;
    case VCM_REPO_MAP_FLUSH_THRESHOLD:
        row->flush_threshold = (uint32_t)value->integer;
        break;
    case VCM_REPO_MAP_FLUSH_TOKEN_BUDGET:
        row->flush_token_budget = (uint32_t)value->integer;
        break;
    case VCM_REPO_MAP_PINNED:
        row->pinned = value->boolean;
        break;
    case VCM_REPO_MAP_FIELDS:
        break;
    }
}

static void check_chunks(struct vcm_load *load, const struct vcm_repo_map_row *row,
                         const char *where)
{
    enum vcm_repo_map_field field = VCM_REPO_MAP_CHUNK_OVERLAP_TOKENS;
    const char *by_default = "";
    char place[VCM_LOAD_WHERE_MAX];

    if (row->chunk_overlap_tokens < row->chunk_target_tokens ||
        (row->type && !vcm_repo_map_takes(row->type, field)))
        return;
    if (!vcm_repo_map_row_sets(row, field)) {
        field = VCM_REPO_MAP_CHUNK_TARGET_TOKENS;
        by_default = " by default";
    }
    member_place(place, where, vcm_schema_source_keys[field].name);
    fail(load, row->places[field], place,
         "chunk_overlap_tokens (%" PRIu32 "%s) must be less than chunk_target_tokens (%" PRIu32 ")",
         row->chunk_overlap_tokens, by_default, row->chunk_target_tokens);
}

static void warn_of_other_types(struct vcm_load *load, const struct vcm_repo_map_row *row,
                                const char *where)
{
    char place[VCM_LOAD_WHERE_MAX];

    for (unsigned i = 0; row->type && i < VCM_REPO_MAP_FIELDS; i++) {
        if (!vcm_repo_map_row_sets(row, i) || vcm_repo_map_takes(row->type, i))
            continue;
        member_place(place, where, vcm_schema_source_keys[i].name);
        vcm_problem_add(load->problems, true, row->places[i], place,
                        "has no effect: it belongs to '%s' sources, and this is a '%s'",
                        vcm_schema_source_keys[i].only_type, row->type);
    }
}

static void read_source(struct vcm_repo_map_row *row, struct vcm_load *load,
                        const struct vcm_yaml *node, const char *where)
{
    struct found found;
    bool good = true;

    *row = vcm_repo_map_default.rows[0];
    row->name = NULL;
    row->type = NULL;
    row->place = VCM_LOAD_PLACE(node);
    if (node->kind != VCM_YAML_MAPPING) {
        vcm_repo_map_value_fail_kind(load, node, where, "a mapping with at least name and type");
        return;
    }
    find_keys(&found, load, &vcm_schema_source, node, where);
    for (unsigned i = 0; i < vcm_schema_source.count; i++) {
        struct vcm_load_value value;
        char place[VCM_LOAD_WHERE_MAX];
        if (!found.nodes[i])
            continue;
        row->places[i] = VCM_LOAD_PLACE(found.nodes[i]);
        row->set |= 1u << i;
        member_place(place, where, vcm_schema_source.keys[i].name);
        bool fine = vcm_repo_map_value_read(&value, load, &vcm_schema_source.keys[i],
                                            found.nodes[i], place);
        if (fine)
            store(row, i, &value);
        else if (vcm_schema_source.keys[i].type == VCM_SCHEMA_INT)
            good = false;
    }
    if (good)
        check_chunks(load, row, where);
    warn_of_other_types(load, row, where);
}

static void read_route(struct vcm_repo_map_route *route, struct vcm_load *load,
                       const struct vcm_yaml *node, const char *where)
{
    enum { PATHS, INGEST_TO, PROFILE };
    struct found found;

    route->place = VCM_LOAD_PLACE(node);
    if (node->kind != VCM_YAML_MAPPING) {
        vcm_repo_map_value_fail_kind(load, node, where, "a mapping with at least paths");
        return;
    }
    find_keys(&found, load, &vcm_schema_route, node, where);
    for (unsigned i = 0; i < vcm_schema_route.count; i++) {
        struct vcm_load_value value;
        char place[VCM_LOAD_WHERE_MAX];
        if (!found.nodes[i])
            continue;
        member_place(place, where, vcm_schema_route.keys[i].name);
        if (!vcm_repo_map_value_read(&value, load, &vcm_schema_route.keys[i], found.nodes[i],
                                     place))
            continue;
        if (i == PATHS) {
            route->paths = value.list;
        } else if (i == PROFILE) {
            route->profile = value.text;
        } else if (i == INGEST_TO && value.text) {
            route->sets_ingest_to = true;
            if (strcmp(value.text, vcm_schema_destinations[VCM_REPO_MAP_TO_VCM]) == 0)
                route->ingest_to = VCM_REPO_MAP_TO_VCM;
        }
    }
}

static void check_name(struct vcm_load *load, const struct vcm_repo_map_row *rows, unsigned index,
                       const char *where)
{
    const struct vcm_repo_map_row *row = &rows[index];
    char place[VCM_LOAD_WHERE_MAX];

    for (unsigned i = 0; row->name && i < index; i++) {
        if (!rows[i].name || strcmp(rows[i].name, row->name) != 0)
            continue;
        member_place(place, where, "name");
        fail(load, row->places[VCM_REPO_MAP_NAME], place,
             "'%s' is the name of the source on line %u already", row->name,
             rows[i].places[VCM_REPO_MAP_NAME].line);
        return;
    }
}

static void read_sources(struct vcm_load *load, const struct vcm_yaml *node, const char *name)
{
    if (node->kind != VCM_YAML_SEQUENCE) {
        vcm_repo_map_value_fail_kind(load, node, name, "a list");
        return;
    }
    struct vcm_repo_map_row *rows = vcm_repo_map_value_take(load, node->count, sizeof *rows);
    unsigned i = 0;
    for (const struct vcm_yaml *item = node->first; item && !load->failed; item = item->next) {
        char where[VCM_LOAD_WHERE_MAX];
        snprintf(where, sizeof where, "%s[%u]", name, i);
        read_source(&rows[i], load, item, where);
        check_name(load, rows, i, where);
        i++;
    }
    load->map->rows = rows;
    load->map->row_count = i;
}

static void read_routes(struct vcm_load *load, const struct vcm_yaml *node, const char *name)
{
    if (node->kind != VCM_YAML_SEQUENCE) {
        vcm_repo_map_value_fail_kind(load, node, name, "a list");
        return;
    }
    struct vcm_repo_map_route *routes = vcm_repo_map_value_take(load, node->count, sizeof *routes);
    unsigned i = 0;
    for (const struct vcm_yaml *item = node->first; item && !load->failed; item = item->next) {
        char where[VCM_LOAD_WHERE_MAX];
        snprintf(where, sizeof where, "%s[%u]", name, i);
        read_route(&routes[i++], load, item, where);
    }
    load->map->routes = routes;
    load->map->route_count = i;
}

static void read_top(struct vcm_load *load, const struct vcm_yaml *root)
{
    struct found found;
    struct vcm_load_value value;

    if (!root) {
        fail(load, START_OF_FILE, "",
             "the file is empty; it needs at least 'schema_version: 1' and 'sources: []'");
        return;
    }
    if (root->kind != VCM_YAML_MAPPING) {
        vcm_repo_map_value_fail_kind(load, root, "",
                                     "a mapping with at least schema_version and sources");
        return;
    }
    find_keys(&found, load, &vcm_schema_top, root, "");
    for (unsigned i = 0; i < vcm_schema_top.count; i++) {
        const struct vcm_schema_key *key = &vcm_schema_top.keys[i];
        if (!found.nodes[i])
            continue;
        if (key->type == VCM_SCHEMA_SOURCES)
            read_sources(load, found.nodes[i], key->name);
        else if (key->type == VCM_SCHEMA_ROUTES)
            read_routes(load, found.nodes[i], key->name);
        else
            vcm_repo_map_value_read(&value, load, key, found.nodes[i], key->name);
    }
}

/* Adds a problem for text that is not YAML. Other failures are not the map's fault and are
 * returned. */
static int read_yaml(struct vcm_load *load, struct vcm_arena *arena, struct vcm_slice yaml,
                     struct vcm_error *err)
{
    struct vcm_error reason = {0};
    struct vcm_yaml_mark mark;
    struct vcm_yaml *root = NULL;

    int rc = vcm_yaml_parse(&root, &mark, arena, yaml, &reason);
    if (rc == VCM_OK) {
        read_top(load, root);
    } else if (rc == VCM_INVALID_ARGUMENT) {
        struct vcm_repo_map_place place = {mark.line, mark.column};
        fail(load, mark.line > 0 ? place : START_OF_FILE, "", "no valid YAML: %s", reason.message);
        rc = VCM_OK;
    } else if (err) {
        *err = reason;
    }
    if (rc == VCM_OK && load->failed)
        rc = vcm_error_memory(err);
    return rc;
}

int vcm_repo_map_load(struct vcm_repo_map *map, struct vcm_problem_list *problems,
                      struct vcm_slice yaml, const struct vcm_repo_map_types *types,
                      struct vcm_error *err)
{
    struct vcm_load load = {.map = map, .problems = problems, .types = types};
    struct vcm_arena arena;

    memset(map, 0, sizeof *map);
    map->has_file = true;
    vcm_arena_init(&map->arena, ARENA_MAX);
    vcm_arena_init(&arena, ARENA_MAX);
    int rc = read_yaml(&load, &arena, yaml, err);
    vcm_arena_release(&arena);
    if (rc == VCM_OK)
        rc = vcm_problem_list_finish(problems, err);
    if (rc == VCM_OK)
        rc = vcm_problem_list_to_error(problems, VCM_REPO_MAP_PATH, err);
    if (rc != VCM_OK)
        vcm_repo_map_release(map);
    return rc;
}
