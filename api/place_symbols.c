#include "api/place_symbols.h"

#include <string.h>

#include "symbols/extractor.h"
#include "symbols/lookup.h"

#include "base/banned.h"

void vcm_place_symbols_init(struct vcm_place_symbols *symbols, struct vcm_place *place)
{
    *symbols = (struct vcm_place_symbols){.place = place};
    vcm_place_index_init(&symbols->index);
}

void vcm_place_symbols_release(struct vcm_place_symbols *symbols)
{
    vcm_place_index_release(&symbols->index);
    vcm_extractor_close(symbols->extractor);
    symbols->extractor = NULL;
}

int vcm_place_symbols_index(struct vcm_index **out, struct vcm_place_symbols *symbols,
                            struct vcm_error *err)
{
    int rc = VCM_OK;

    if (!symbols->is_complete)
        rc = vcm_place_index_open(&symbols->index, symbols->place, err);
    symbols->is_complete = rc == VCM_OK;
    *out = symbols->index.index;
    return rc;
}

static int extract(struct vcm_symbols *out, struct vcm_place_symbols *symbols,
                   enum vcm_language language, struct vcm_slice text, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (text.len > VCM_LIMIT_SYMBOLS_FILE_BYTES) {
        out->state = VCM_SYMBOL_TOO_LARGE;
        return VCM_OK;
    }
    if (!symbols->extractor) {
        rc = vcm_extractor_open(&symbols->extractor, err);
        if (rc == VCM_OK)
            vcm_extractor_set_cancel(symbols->extractor, symbols->place->vcm->cancel);
    }
    return rc == VCM_OK ? vcm_extractor_run(out, symbols->extractor, language, text, err) : rc;
}

int vcm_place_symbols_read(struct vcm_symbols *out, enum vcm_language *language,
                           struct vcm_place_symbols *symbols, const struct vcm_place_file *file,
                           struct vcm_slice text, bool references, struct vcm_error *err)
{
    struct vcm_error ignored = {0};
    size_t at = 0;

    *language = vcm_language_of_path(file->path);
    if (!vcm_language_is_known(*language))
        return VCM_OK;
    if (!symbols->is_complete && !symbols->was_recalled)
        vcm_place_index_open_stored(&symbols->index, symbols->place);
    symbols->was_recalled = true;
    if (vcm_place_index_find(&at, &symbols->index, file->path)) {
        const struct vcm_index *index = symbols->index.index;
        *language = index->files[at].language;
        if (file->has_blob && memcmp(&index->files[at].blob, &file->blob, sizeof file->blob) == 0 &&
            (references ? vcm_index_read : vcm_index_read_definitions)(out, index, at, &ignored) ==
                VCM_OK &&
            vcm_symbol_state_lasts(out->state))
            return VCM_OK;
        vcm_symbols_release(out);
        vcm_symbols_init(out);
    }
    return extract(out, symbols, *language, text, err);
}

struct finding {
    struct vcm_place_symbols *symbols;
    const struct vcm_index *index;
    struct vcm_slice text, name; /* the whole, and its last part */
    vcm_place_definition_fn visit;
    void *context;
};

static int pass_indexed(void *context, const struct vcm_lookup_found *found, struct vcm_error *err)
{
    const struct finding *finding = context;
    const struct vcm_index_file *at = &finding->index->files[found->file];
    const struct vcm_place_file file = {.path = at->path,
                                        .source = VCM_PLACE_COMMIT,
                                        .kind = VCM_GIT_FILE,
                                        .has_blob = true,
                                        .blob = at->blob};

    return finding->visit(finding->context,
                          &(struct vcm_place_definition){
                              .file = &file, .language = at->language, .symbol = found->symbol},
                          err);
}

int vcm_place_symbols_match(const struct vcm_symbols *symbols, enum vcm_language language,
                            const struct vcm_place_file *file, struct vcm_slice text,
                            vcm_place_definition_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < symbols->definition_count; i++)
        if (vcm_lookup_matches(&symbols->definitions[i], text))
            rc = visit(context,
                       &(struct vcm_place_definition){
                           .file = file, .language = language, .symbol = &symbols->definitions[i]},
                       err);
    return rc;
}

/* A file that does not have the name in its text does not define it. */
static int search_text(void *context, const struct vcm_place_file *file, struct vcm_error *err)
{
    const struct finding *finding = context;
    const struct vcm_place_lines all = {.peek = true};
    struct vcm_error ignored = {0};
    struct vcm_place_text text;
    struct vcm_symbols symbols;
    enum vcm_language language;

    if (!vcm_language_is_known(vcm_language_of_path(file->path)))
        return VCM_OK;
    vcm_place_text_init(&text);
    vcm_symbols_init(&symbols);
    int rc = vcm_cancel_check(finding->symbols->place->vcm->cancel, err);
    if (rc == VCM_OK &&
        vcm_place_text_read(&text, finding->symbols->place, file, &all, &ignored) == VCM_OK &&
        memmem(vcm_buf_text(&text.text), text.text.len, finding->name.data, finding->name.len)) {
        rc = vcm_place_symbols_read(&symbols, &language, finding->symbols, file,
                                    vcm_buf_slice(&text.text), false, err);
        if (rc == VCM_OK)
            rc = vcm_place_symbols_match(&symbols, language, file, finding->text, finding->visit,
                                         finding->context, err);
    }
    vcm_symbols_release(&symbols);
    vcm_place_text_release(&text);
    return rc;
}

int vcm_place_symbols_find(struct vcm_place_symbols *symbols, struct vcm_slice text,
                           vcm_place_definition_fn visit, void *context, struct vcm_error *err)
{
    struct finding finding = {.symbols = symbols,
                              .text = text,
                              .name = vcm_lookup_last_part(text),
                              .visit = visit,
                              .context = context};
    struct vcm_index *index = NULL;

    if (text.len == 0)
        return VCM_OK;
    if (symbols->place->source == VCM_PLACE_PAGE)
        return vcm_place_each(symbols->place, "", search_text, &finding, err);
    int rc = vcm_place_symbols_index(&index, symbols, err);
    finding.index = index;
    if (rc == VCM_OK)
        rc =
            vcm_lookup_visit(index, text, pass_indexed, &finding, symbols->place->vcm->cancel, err);
    return rc;
}
