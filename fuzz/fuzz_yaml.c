/*
 * fuzz_yaml.c - a tree from yaml.c is within its limits and every node has a place.
 */
#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "fuzz/check.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t check_node(const struct vcm_yaml *node, unsigned depth)
{
    bool container = node->kind == VCM_YAML_SEQUENCE || node->kind == VCM_YAML_MAPPING;
    size_t nodes = 1;
    unsigned children = 0;

    FUZZ_CHECK(node->line > 0 && node->column > 0);
    FUZZ_CHECK(node->end_line > node->line ||
               (node->end_line == node->line && node->end_column >= node->column));
    if (container) {
        FUZZ_CHECK(depth < VCM_LIMIT_YAML_DEPTH);
    } else {
        FUZZ_CHECK(!node->first && vcm_utf8_valid(node->text));
        FUZZ_CHECK(strlen(node->text.data) == node->text.len);
    }
    for (const struct vcm_yaml *child = node->first; child; child = child->next) {
        FUZZ_CHECK((child->key != NULL) == (node->kind == VCM_YAML_MAPPING));
        if (child->key)
            nodes += check_node(child->key, depth + 1);
        nodes += check_node(child, depth + 1);
        children++;
    }
    FUZZ_CHECK(children == node->count);
    return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_error err = {0};
    struct vcm_yaml_mark mark;
    struct vcm_arena arena;
    struct vcm_yaml *yaml;

    vcm_arena_init(&arena, 64 * VCM_MIB);
    int rc = vcm_yaml_parse(&yaml, &mark, &arena, vcm_slice_of(data, size), &err);
    if (rc == VCM_OK) {
        FUZZ_CHECK(mark.line == 0 && mark.column == 0);
        if (yaml)
            FUZZ_CHECK(check_node(yaml, 0) <= VCM_LIMIT_YAML_NODES);
    } else {
        FUZZ_CHECK(!yaml && rc == VCM_INVALID_ARGUMENT && err.message[0] != '\0');
        FUZZ_CHECK((mark.line == 0) == (size > VCM_LIMIT_YAML_BYTES));
    }
    vcm_arena_release(&arena);
    return 0;
}
