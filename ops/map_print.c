#include "ops/map_print.h"

#include <stdio.h>
#include <string.h>

#include "ops/shared.h"

#include "base/banned.h"

static bool has_failed(const struct vcm_json *source)
{
    return strcmp(vcm_json_get_text(source, "status", ""), "error") == 0;
}

static uint64_t count_of(const struct vcm_json *object, const char *key)
{
    return (uint64_t)vcm_json_get_int(object, key, 0);
}

static void print_head(struct vcm_print *out, const struct vcm_json *document)
{
    const char *status = vcm_json_get_text(document, "status", "");
    const char *branch = vcm_json_get_text(document, "branch", NULL);
    char number[VCM_PRINT_NUMBER_BYTES];

    vcm_print_text(out, vcm_shared_status_style(status), status);
    const char *tree = vcm_json_get_text(document, "tree", NULL);
    vcm_print_format(out, VCM_PRINT_PLAIN, "  %s at %s%.12s%s%s%s in %s\n",
                     vcm_json_get_text(document, "repo_root", ""), tree ? "tree " : "",
                     tree ? tree : vcm_json_get_text(document, "commit", ""), branch ? " (" : "",
                     branch ? branch : "", branch ? ")" : "",
                     vcm_print_duration(number, count_of(document, "elapsed_ms")));
}

/* "3 new, 2 dropped" */
static void describe_changes(char *out, size_t size, uint64_t created, uint64_t dropped)
{
    char new_pages[VCM_PRINT_NUMBER_BYTES], old_pages[VCM_PRINT_NUMBER_BYTES];

    vcm_print_count(new_pages, created);
    vcm_print_count(old_pages, dropped);
    if (created == 0 && dropped == 0)
        snprintf(out, size, "nothing");
    else if (dropped == 0)
        snprintf(out, size, "%s new", new_pages);
    else if (created == 0)
        snprintf(out, size, "%s dropped", old_pages);
    else
        snprintf(out, size, "%s new, %s dropped", new_pages, old_pages);
}

/* The sums of the table's last line. */
struct sums {
    uint64_t paged, tracked, pages, tokens, bytes, created, dropped;
};

static void put_numbers(struct vcm_print_table *table, const struct sums *sums, uint64_t elapsed_ms)
{
    char number[VCM_PRINT_NUMBER_BYTES], other[VCM_PRINT_NUMBER_BYTES];
    char text[3 * VCM_PRINT_NUMBER_BYTES];

    snprintf(text, sizeof text, "%s of %s", vcm_print_count(number, sums->paged),
             vcm_print_count(other, sums->tracked));
    vcm_print_table_cell(table, VCM_PRINT_PLAIN, text);
    vcm_print_table_cell(table, VCM_PRINT_PLAIN, vcm_print_count(number, sums->pages));
    vcm_print_table_cell(table, VCM_PRINT_PLAIN, vcm_print_count(number, sums->tokens));
    vcm_print_table_cell(table, VCM_PRINT_PLAIN, vcm_print_bytes(number, sums->bytes));
    describe_changes(text, sizeof text, sums->created, sums->dropped);
    vcm_print_table_cell(table, sums->created + sums->dropped > 0 ? VCM_PRINT_PLAIN : VCM_PRINT_DIM,
                         text);
    vcm_print_table_cell(table, VCM_PRINT_PLAIN, vcm_print_duration(number, elapsed_ms));
}

static void put_failed(struct vcm_print_table *table, unsigned columns)
{
    while (columns-- > 0)
        vcm_print_table_cell(table, VCM_PRINT_DIM, "-");
}

static void put_row(struct vcm_print_table *table, struct sums *total,
                    const struct vcm_json *source)
{
    const struct vcm_json *coverage = vcm_json_get(source, "coverage");
    const char *status = vcm_json_get_text(source, "status", "");
    const struct sums row = {
        .paged = count_of(coverage, "paged"),
        .tracked = count_of(coverage, "tracked"),
        .pages = count_of(source, "pages"),
        .tokens = count_of(source, "tokens"),
        .bytes = count_of(source, "bytes"),
        .created = count_of(source, "pages_created"),
        .dropped = count_of(source, "pages_dropped"),
    };

    vcm_print_table_cell(table, VCM_PRINT_PLAIN, vcm_json_get_text(source, "scope_id", ""));
    vcm_print_table_cell(table, vcm_shared_status_style(status), status);
    if (has_failed(source)) {
        put_failed(table, 6);
        return;
    }
    put_numbers(table, &row, count_of(source, "elapsed_ms"));
    total->paged += row.paged;
    total->tracked += row.tracked;
    total->pages += row.pages;
    total->tokens += row.tokens;
    total->bytes += row.bytes;
    total->created += row.created;
    total->dropped += row.dropped;
}

static void print_sources(struct vcm_print *out, const struct vcm_json *document)
{
    static const char *const headings[] = {"SCOPE",  "STATUS", "FILES",   "PAGES",
                                           "TOKENS", "SIZE",   "CHANGED", "TIME"};
    static const bool right[] = {false, false, true, true, true, true, false, true};
    const struct vcm_json *sources = vcm_json_get(document, "sources");
    struct vcm_print_table table;
    struct sums total = {0};

    if (!sources->first)
        return;
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *s = sources->first; s; s = s->next)
        put_row(&table, &total, s);
    if (sources->count > 1) {
        vcm_print_table_cell(&table, VCM_PRINT_BOLD, "total");
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, "");
        put_numbers(&table, &total, count_of(document, "elapsed_ms"));
    }
    vcm_print_table_end(&table);
}

static void print_coverage(struct vcm_print *out, const struct vcm_json *source)
{
    const struct vcm_json *coverage = vcm_json_get(source, "coverage");
    uint64_t tracked = count_of(coverage, "tracked");
    char number[VCM_PRINT_NUMBER_BYTES];

    vcm_print_format(out, VCM_PRINT_PLAIN,
                     "%s: %s file%s tracked: ", vcm_json_get_text(source, "scope_id", ""),
                     vcm_print_count(number, tracked), tracked == 1 ? "" : "s");
    vcm_shared_print_coverage(out, coverage);
    vcm_buf_append_byte(out->out, '\n');
}

/* Prints why a row failed, or the note of a row that did not. */
static void print_message(struct vcm_print *out, const struct vcm_json *source)
{
    const char *message = vcm_json_get_text(source, "message", NULL);

    if (message)
        vcm_print_format(out, has_failed(source) ? VCM_PRINT_BAD : VCM_PRINT_WARNING, "%s: %s\n",
                         vcm_json_get_text(source, "scope_id", ""), message);
}

/* Prints what was ingested, and which files were not. */
static void print_knowledge(struct vcm_print *out, const struct vcm_json *knowledge)
{
    const struct vcm_json *files = vcm_json_get(knowledge, "files");
    char ingested[VCM_PRINT_NUMBER_BYTES], skipped[VCM_PRINT_NUMBER_BYTES];
    char failed[VCM_PRINT_NUMBER_BYTES], removed[VCM_PRINT_NUMBER_BYTES];

    if (!files->first)
        return;
    vcm_print_format(out, VCM_PRINT_PLAIN,
                     "knowledge base: %s ingested, %s already there, %s failed, %s removed\n",
                     vcm_print_count(ingested, count_of(knowledge, "ingested")),
                     vcm_print_count(skipped, count_of(knowledge, "skipped")),
                     vcm_print_count(failed, count_of(knowledge, "failed")),
                     vcm_print_count(removed, count_of(knowledge, "removed")));
    for (const struct vcm_json *f = files->first; f; f = f->next)
        if (strcmp(vcm_json_get_text(f, "status", ""), "failed") == 0)
            vcm_print_format(out, VCM_PRINT_BAD, "%s: %s\n", vcm_json_get_text(f, "path", ""),
                             vcm_json_get_text(f, "message", "cannot be read"));
}

void vcm_map_print(struct vcm_print *out, const struct vcm_json *document)
{
    const struct vcm_json *sources = vcm_json_get(document, "sources");
    const struct vcm_json *unmapped = vcm_json_get(document, "unmapped");

    print_head(out, document);
    print_sources(out, document);
    for (const struct vcm_json *s = sources->first; s; s = s->next)
        if (!has_failed(s))
            print_coverage(out, s);
    for (const struct vcm_json *s = sources->first; s; s = s->next)
        print_message(out, s);
    print_knowledge(out, vcm_json_get(document, "knowledge"));
    for (const struct vcm_json *scope = unmapped->first; scope; scope = scope->next)
        vcm_print_format(out, VCM_PRINT_PLAIN, "unmapped %s: no row names it any more\n",
                         scope->text.data);
}
