#include "ops/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define TABLE_BYTES_MAX (512 * VCM_MIB)
#define COLUMNS_MAX     16u
#define RESET           "\033[0m"

static const char *const escapes[] = {
    [VCM_PRINT_PLAIN] = "",        [VCM_PRINT_BOLD] = "\033[1m",     [VCM_PRINT_DIM] = "\033[2m",
    [VCM_PRINT_GOOD] = "\033[32m", [VCM_PRINT_WARNING] = "\033[33m", [VCM_PRINT_BAD] = "\033[31m",
};

void vcm_print_slice(struct vcm_print *print, enum vcm_print_style style, struct vcm_slice text)
{
    bool styled = print->color && style != VCM_PRINT_PLAIN && text.len > 0;

    if (styled)
        vcm_buf_append_string(print->out, escapes[style]);
    vcm_utf8_append_visible(print->out, text, true);
    if (styled)
        vcm_buf_append_string(print->out, RESET);
}

void vcm_print_text(struct vcm_print *print, enum vcm_print_style style, const char *text)
{
    vcm_print_slice(print, style, vcm_slice_of_string(text));
}

void vcm_print_format(struct vcm_print *print, enum vcm_print_style style, const char *format, ...)
{
    struct vcm_buf text = VCM_BUF_INIT(print->out->max);
    va_list args;

    va_start(args, format);
    vcm_buf_append_format_list(&text, format, args);
    va_end(args);
    vcm_print_text(print, style, vcm_buf_text(&text));
    vcm_buf_release(&text);
}

void vcm_print_table_begin(struct vcm_print_table *table, struct vcm_print *print,
                           const char *const *headings, const bool *right, unsigned columns)
{
    memset(table, 0, sizeof *table);
    vcm_arena_init(&table->arena, TABLE_BYTES_MAX);
    table->print = print;
    table->right = right;
    table->columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
    for (unsigned i = 0; i < table->columns; i++)
        vcm_print_table_cell(table, VCM_PRINT_BOLD, headings[i]);
}

void vcm_print_table_cell(struct vcm_print_table *table, enum vcm_print_style style,
                          const char *text)
{
    struct vcm_print_cell *cell = vcm_arena_alloc(&table->arena, sizeof *cell);
    struct vcm_buf visible = VCM_BUF_INIT(TABLE_BYTES_MAX);

    vcm_utf8_append_visible(&visible, vcm_slice_of_string(text), false);
    char *copy = vcm_arena_copy(&table->arena, vcm_buf_slice(&visible));
    if (!cell || !copy || visible.fault != VCM_BUF_FINE)
        table->failed = true;
    vcm_buf_release(&visible);
    if (table->failed)
        return;
    cell->text = copy;
    cell->style = style;
    if (table->last)
        table->last->next = cell;
    else
        table->first = cell;
    table->last = cell;
}

static void append_spaces(struct vcm_buf *out, size_t count)
{
    while (count-- > 0)
        vcm_buf_append_byte(out, ' ');
}

static void print_cell(struct vcm_print_table *table, const struct vcm_print_cell *cell,
                       size_t width, bool right, bool last)
{
    size_t used = vcm_utf8_columns(vcm_slice_of_string(cell->text));
    size_t pad = width > used ? width - used : 0;

    if (right)
        append_spaces(table->print->out, pad);
    vcm_print_text(table->print, cell->style, cell->text);
    if (!right && !last)
        append_spaces(table->print->out, pad);
    vcm_buf_append_string(table->print->out, last ? "\n" : "  ");
}

void vcm_print_table_end(struct vcm_print_table *table)
{
    size_t widths[COLUMNS_MAX] = {0};
    unsigned column = 0;

    for (const struct vcm_print_cell *cell = table->first; cell; cell = cell->next) {
        size_t width = vcm_utf8_columns(vcm_slice_of_string(cell->text));
        if (width > widths[column])
            widths[column] = width;
        column = (column + 1) % table->columns;
    }
    column = 0;
    for (const struct vcm_print_cell *cell = table->first; cell; cell = cell->next) {
        print_cell(table, cell, widths[column], table->right[column], column + 1 == table->columns);
        column = (column + 1) % table->columns;
    }
    if (table->failed)
        table->print->out->fault = VCM_BUF_NO_MEMORY;
    vcm_arena_release(&table->arena);
}

/* Members with texts of several lines. */
static bool has_lines(struct vcm_slice key)
{
    static const char *const keys[] = {"content", "map", "raw", "script", "snippet", "text"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (vcm_slice_equal(key, vcm_slice_of_string(keys[i])))
            return true;
    return false;
}

bool vcm_print_quote_names(struct vcm_json *root, struct vcm_arena *arena)
{
    for (struct vcm_json *node = root; node; node = node->next) {
        if (!vcm_print_quote_names(node->first, arena))
            return false;
        if (node->kind != VCM_JSON_STRING || has_lines(node->key))
            continue;
        struct vcm_buf quoted = VCM_BUF_INIT(8 * node->text.len + 2);
        vcm_utf8_append_quoted(&quoted, node->text);
        const char *copy = vcm_slice_equal(vcm_buf_slice(&quoted), node->text)
                               ? node->text.data
                               : vcm_arena_copy(arena, vcm_buf_slice(&quoted));
        bool failed = quoted.fault != VCM_BUF_FINE || !copy;
        node->text = vcm_slice_of(copy, quoted.len);
        vcm_buf_release(&quoted);
        if (failed)
            return false;
    }
    return true;
}

const char *vcm_print_count(char out[VCM_PRINT_NUMBER_BYTES], uint64_t value)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *p = out;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return out;
}

const char *vcm_print_bytes(char out[VCM_PRINT_NUMBER_BYTES], uint64_t value)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double scaled = (double)value / 1024;
    size_t unit = 0;

    if (value < 1024) {
        snprintf(out, VCM_PRINT_NUMBER_BYTES, "%" PRIu64 " B", value);
        return out;
    }
    while (scaled >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) {
        scaled /= 1024;
        unit++;
    }
    snprintf(out, VCM_PRINT_NUMBER_BYTES, "%.1f %s", scaled, units[unit]);
    return out;
}

const char *vcm_print_duration(char out[VCM_PRINT_NUMBER_BYTES], uint64_t ms)
{
    if (ms < 1000)
        snprintf(out, VCM_PRINT_NUMBER_BYTES, "%" PRIu64 " ms", ms);
    else if (ms < 60 * 1000)
        snprintf(out, VCM_PRINT_NUMBER_BYTES, "%.1f s", (double)ms / 1000);
    else
        snprintf(out, VCM_PRINT_NUMBER_BYTES, "%" PRIu64 " m %02" PRIu64 " s", ms / 60000,
                 ms / 1000 % 60);
    return out;
}
