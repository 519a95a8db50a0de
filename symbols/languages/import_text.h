/*
 * import_text.h - reads the names that an import makes from the text around its target, as several
 * languages write them. Private to the descriptors.
 */
#ifndef VCM_SYMBOLS_LANGUAGES_IMPORT_TEXT_H
#define VCM_SYMBOLS_LANGUAGES_IMPORT_TEXT_H

#include "symbols/languages/language.h"

/* No list of names is longer, in bytes; of one that is, nothing is known. */
#define VCM_IMPORT_TEXT_MAX ((size_t)4096)

/* Where the next character is that is none of the marks. */
size_t vcm_import_text_skip(struct vcm_slice text, size_t at, const char *marks);

/* The word behind `mark`, if that is what comes next; else "". */
struct vcm_slice vcm_import_text_word_behind(const struct vcm_language_descriptor *language,
                                             struct vcm_slice text, size_t at, const char *mark);

/* The word before the "=" of "shop = require("shop")", whose string begins at `start`. */
struct vcm_slice vcm_import_text_word_assigned(const struct vcm_language_descriptor *language,
                                               struct vcm_slice text, size_t start,
                                               const char *call);

/* Whether all of the module is taken whose string ends at `end`: not of `require("shop").Cart`. */
bool vcm_import_text_is_whole(struct vcm_slice text, size_t end);

/* Appends "a, b as c" of [at, end), as far as it is such a list. With an arrow, "a => b" stands for
 * "a as b", and "_" for all names. */
void vcm_import_text_put_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                               struct vcm_slice text, size_t at, size_t end, const char *arrow);

/* Behind a package: "import java.util.*", "import a.{b, c => d}". False without such a group. */
bool vcm_import_text_put_group(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                               struct vcm_slice text, size_t at, char separator, const char *arrow);

/* How entries of a list are written, beside the names themselves. */
struct vcm_import_text_list {
    bool keys;           /* "from: 2" is the name before the colon */
    const char *comment; /* begins a comment up to the line's end; NULL: none is looked for */
};

/* Appends what is between commas of [at, end), but for those in brackets, blanks in one. */
void vcm_import_text_put_list(struct vcm_buf *out, const struct vcm_import_text_list *list,
                              struct vcm_slice text, size_t at, size_t end);

/* Appends "(a, T (..))" behind `mark`, which ends with the bracket, up to the one that closes it;
 * "-" when none does. False when the mark is not what comes next. */
bool vcm_import_text_put_bracket(struct vcm_buf *out, const struct vcm_import_text_list *list,
                                 struct vcm_slice text, size_t at, const char *mark);

#endif
