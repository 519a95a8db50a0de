/*
 * fuzz_symbols.c - whatever a file holds, its symbols lie inside it, are the same a second time,
 * are stored and come back the same. The first byte chooses the language.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "fuzz/check.h"
#include "symbols/extractor.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* Of libFuzzer; not there when a corpus is replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Leaves the language alone, so that a corpus of one language stays one. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    (void)seed;
    if (size == 0 || max_size < 2)
        return size;
    return 1 + LLVMFuzzerMutate(data + 1, size - 1, max_size - 1);
}

static void check_symbols(const struct vcm_symbols *symbols, struct vcm_slice text)
{
    uint32_t lines = 1, last = 0;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    for (uint32_t i = 0; i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        FUZZ_CHECK(symbol->name.len > 0 && symbol->line > 0 && symbol->line <= symbol->end_line);
        FUZZ_CHECK(symbol->end_line <= lines);
        FUZZ_CHECK(symbol->signature.len <= VCM_LIMIT_SIGNATURE_BYTES);
        FUZZ_CHECK(vcm_utf8_valid(symbol->signature) && vcm_utf8_valid(symbol->documentation));
        FUZZ_CHECK(!memchr(symbol->signature.data, '\n', symbol->signature.len));
    }
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        const struct vcm_symbol_reference *reference = &symbols->references[i];
        FUZZ_CHECK(reference->name.len > 0 && reference->line > 0 && reference->line <= lines);
        FUZZ_CHECK(reference->line >= last && reference->from <= symbols->definition_count);
        last = reference->line;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct vcm_extractor *extractor;
    struct vcm_buf stored = VCM_BUF_INIT(VCM_LIMIT_SYMBOLS_BYTES);
    struct vcm_buf again = VCM_BUF_INIT(VCM_LIMIT_SYMBOLS_BYTES);
    struct vcm_symbols symbols, decoded, twice;
    struct vcm_error err = {0};

    if (size == 0)
        return 0;
    struct vcm_slice text = vcm_slice_of(data + 1, size - 1);
    FUZZ_CHECK(extractor || vcm_extractor_open(&extractor, &err) == VCM_OK);
    vcm_symbols_init(&symbols);
    vcm_symbols_init(&decoded);
    enum vcm_language language = (enum vcm_language)(data[0] % VCM_LANGUAGES_COUNT);
    if (vcm_language_ctags_name(language))
        language = VCM_LANGUAGE_NONE; /* another program's business, and a process each time */
    FUZZ_CHECK(vcm_extractor_run(&symbols, extractor, language, text, &err) == VCM_OK);
    check_symbols(&symbols, text);
    vcm_symbols_encode(&stored, &symbols);
    /* Whatever was in memory before. */
    vcm_symbols_init(&twice);
    FUZZ_CHECK(vcm_extractor_run(&twice, extractor, language, text, &err) == VCM_OK);
    vcm_symbols_encode(&again, &twice);
    FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&stored), vcm_buf_slice(&again)));
    vcm_symbols_release(&twice);
    vcm_buf_clear(&again);
    FUZZ_CHECK(vcm_symbols_decode(&decoded, vcm_buf_slice(&stored), true, &err) == VCM_OK);
    vcm_symbols_encode(&again, &decoded);
    FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&stored), vcm_buf_slice(&again)));
    vcm_symbols_release(&decoded);
    /* And bytes that somebody damaged are refused or read, nothing else. */
    (void)vcm_symbols_decode(&decoded, text, true, &err);
    vcm_symbols_release(&decoded);
    vcm_symbols_release(&symbols);
    vcm_buf_release(&again);
    vcm_buf_release(&stored);
    return 0;
}
