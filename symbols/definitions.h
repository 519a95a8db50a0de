/*
 * definitions.h - the definitions of single files, without an index of their repository.
 *
 * They come from the store of symbols when that has the blob, and are read from the text otherwise;
 * nothing is written. Any number of threads may use one handle.
 */
#ifndef VCM_SYMBOLS_DEFINITIONS_H
#define VCM_SYMBOLS_DEFINITIONS_H

#include "base/cancel.h"
#include "base/log.h"
#include "git/repo.h"
#include "symbols/symbols.h"

struct vcm_definitions;

/* `directory` is that of the store; without a store there, and with NULL, every text is read. */
int vcm_definitions_open(struct vcm_definitions **out, const char *directory,
                         const struct vcm_cancel *cancel, const struct vcm_log *log,
                         struct vcm_error *err);
void vcm_definitions_close(struct vcm_definitions *definitions);

/* Whether symbols are read from files of this name. */
bool vcm_definitions_are_known(struct vcm_slice path);

/* Fills symbols that are initialised, without references when they come from the store: of the text
 * of the file `path`, whose blob is `blob` (NULL when it has none). The symbols own what they point
 * to. */
int vcm_definitions_read(struct vcm_symbols *out, struct vcm_definitions *definitions,
                         struct vcm_slice path, const struct vcm_git_id *blob,
                         struct vcm_slice text, struct vcm_error *err);

/* The innermost definition around a line, itself among them, fields and values of one line not
 * counted; NULL for none. */
const struct vcm_symbol *vcm_definitions_around(const struct vcm_symbols *symbols, uint32_t line);

/* Appends its name behind that of its container: "Till.count". */
void vcm_definitions_append_name(struct vcm_buf *out, const struct vcm_symbol *symbol);

#endif
