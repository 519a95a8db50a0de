/*
 * print.h - prints text for people: tables with fitting columns, readable numbers, colours.
 *
 * Prints into a buffer; the caller decides where it goes. Control characters in text from outside
 * are replaced or quoted, so that a file name can neither control the terminal nor forge a line.
 */
#ifndef VCM_OPS_PRINT_H
#define VCM_OPS_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum vcm_print_style {
    VCM_PRINT_PLAIN,
    VCM_PRINT_BOLD,
    VCM_PRINT_DIM,
    VCM_PRINT_GOOD,
    VCM_PRINT_WARNING,
    VCM_PRINT_BAD,
};

struct vcm_print {
    struct vcm_buf *out;
    bool color;
    bool terminal; /* output is a terminal: replace control characters of files */
};

/* A table is filled cell by cell and printed at the end. */
struct vcm_print_table {
    struct vcm_print *print;
    struct vcm_arena arena;
    unsigned columns;
    const bool *right; /* for each column whether it is aligned to the right */
    struct vcm_print_cell *first, *last;
    bool failed;
};

struct vcm_print_cell {
    const char *text;
    enum vcm_print_style style;
    struct vcm_print_cell *next;
};

/* Appends `text` in a style as vcm_utf8_append_visible() shows it, with its lines. */
void vcm_print_slice(struct vcm_print *print, enum vcm_print_style style, struct vcm_slice text);
void vcm_print_text(struct vcm_print *print, enum vcm_print_style style, const char *text);
void vcm_print_format(struct vcm_print *print, enum vcm_print_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void vcm_print_table_begin(struct vcm_print_table *table, struct vcm_print *print,
                           const char *const *headings, const bool *right, unsigned columns);
void vcm_print_table_cell(struct vcm_print_table *table, enum vcm_print_style style,
                          const char *text);
void vcm_print_table_end(struct vcm_print_table *table);

/* Quotes every string of a document that has control characters (vcm_utf8_append_quoted()), except
 * texts of several lines, so that no name can forge a line of the output. Nodes are at most as deep
 * as the parser allows. False without memory. */
bool vcm_print_quote_names(struct vcm_json *root, struct vcm_arena *arena);

#define VCM_PRINT_NUMBER_BYTES 40

/* "1,234,567" */
const char *vcm_print_count(char out[VCM_PRINT_NUMBER_BYTES], uint64_t value);
/* "12.3 MiB" */
const char *vcm_print_bytes(char out[VCM_PRINT_NUMBER_BYTES], uint64_t value);
/* "450 ms", "3.2 s", "4 m 05 s" */
const char *vcm_print_duration(char out[VCM_PRINT_NUMBER_BYTES], uint64_t ms);

#endif
