#include "symbols/definitions.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "symbols/extractor.h"
#include "symbols/index.h"

#include "base/banned.h"

struct vcm_definitions {
    struct vcm_kv *store; /* NULL: there is none */
    struct vcm_extractor *extractor;
};

int vcm_definitions_open(struct vcm_definitions **out, const char *directory,
                         const struct vcm_cancel *cancel, const struct vcm_log *log,
                         struct vcm_error *err)
{
    struct vcm_error ignored = {0};

    *out = NULL;
    struct vcm_definitions *definitions = calloc(1, sizeof *definitions);
    if (!definitions)
        return vcm_error_memory(err);
    int rc = vcm_extractor_open(&definitions->extractor, err);
    if (rc != VCM_OK) {
        vcm_definitions_close(definitions);
        return rc;
    }
    vcm_extractor_set_cancel(definitions->extractor, cancel);
    /* The store only saves work. */
    if (directory)
        vcm_index_open_store(&definitions->store, directory, log, &ignored);
    *out = definitions;
    return VCM_OK;
}

void vcm_definitions_close(struct vcm_definitions *definitions)
{
    if (!definitions)
        return;
    vcm_kv_handle_close(definitions->store);
    vcm_extractor_close(definitions->extractor);
    free(definitions);
}

bool vcm_definitions_are_known(struct vcm_slice path)
{
    return vcm_language_is_known(vcm_language_of_path(path));
}

/* NOT_FOUND when the store does not have the blob. The stored bytes are copied into the arena of
 * the symbols. */
static int recall(struct vcm_symbols *out, struct vcm_definitions *definitions,
                  const struct vcm_index_file *file)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_slice value = {NULL, 0};
    struct vcm_error ignored = {0};

    int rc = vcm_kv_handle_read_begin(&txn, definitions->store, &ignored);
    if (rc == VCM_OK)
        rc = vcm_index_stored(&value, txn, file, &ignored);
    if (rc == VCM_OK) {
        const char *copy = vcm_arena_copy(&out->arena, value);
        rc = copy ? vcm_symbols_decode(out, vcm_slice_of(copy, value.len), false, &ignored)
                  : VCM_NOT_FOUND;
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

int vcm_definitions_read(struct vcm_symbols *out, struct vcm_definitions *definitions,
                         struct vcm_slice path, const struct vcm_git_id *blob,
                         struct vcm_slice text, struct vcm_error *err)
{
    struct vcm_index_file file = {.path = path, .language = vcm_language_of_path(path)};

    if (!vcm_language_is_known(file.language))
        return VCM_OK;
    if (blob && definitions->store) {
        file.blob = *blob;
        if (recall(out, definitions, &file) == VCM_OK)
            return VCM_OK;
        vcm_symbols_release(out);
        vcm_symbols_init(out);
    }
    if (text.len > VCM_LIMIT_SYMBOLS_FILE_BYTES) {
        out->state = VCM_SYMBOL_TOO_LARGE;
        return VCM_OK;
    }
    return vcm_extractor_run(out, definitions->extractor, file.language, text, err);
}

/* A field or a value of one line encloses nothing: its line names it. */
static bool encloses(const struct vcm_symbol *symbol, uint32_t line)
{
    bool is_line = symbol->start_line == symbol->end_line &&
                   (vcm_symbol_is_value(symbol->kind) || symbol->kind == VCM_SYMBOL_FIELD ||
                    symbol->kind == VCM_SYMBOL_ENUMERATOR);

    return symbol->start_line <= line && line <= symbol->end_line && !is_line;
}

const struct vcm_symbol *vcm_definitions_around(const struct vcm_symbols *symbols, uint32_t line)
{
    const struct vcm_symbol *best = NULL;

    for (uint32_t i = 0; i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        if (!encloses(symbol, line))
            continue;
        if (!best || symbol->end_line - symbol->start_line <= best->end_line - best->start_line)
            best = symbol;
    }
    return best;
}

void vcm_definitions_append_name(struct vcm_buf *out, const struct vcm_symbol *symbol)
{
    if (symbol->container.len > 0) {
        vcm_utf8_replace(out, symbol->container);
        vcm_buf_append_byte(out, '.');
    }
    vcm_utf8_replace(out, symbol->name);
}
