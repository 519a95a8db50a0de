/*
 * visibility.h - the visibility of a definition, from the words before its name and the form of the
 * name, by the rules of its language. Its container and the file may change it
 * (weave_visibility.h). Private to this folder.
 */
#ifndef VCM_SYMBOLS_VISIBILITY_H
#define VCM_SYMBOLS_VISIBILITY_H

#include "symbols/languages/language.h"

/* Where a definition is. */
struct vcm_visibility_place {
    bool in_type;
    bool promised; /* by an interface, or in the head of a type: public unless a word says no */
};

/* Words that several languages have. */
#define VCM_VISIBILITY_WORD_PROTECTED                                                              \
    {                                                                                              \
        "protected", VCM_SYMBOL_PROTECTED                                                          \
    }
#define VCM_VISIBILITY_WORD_PRIVATE                                                                \
    {                                                                                              \
        "private", VCM_SYMBOL_PRIVATE                                                              \
    }
#define VCM_VISIBILITY_WORD_INTERNAL                                                               \
    {                                                                                              \
        "internal", VCM_SYMBOL_INTERNAL                                                            \
    }
#define VCM_VISIBILITY_WORD_PUBLIC                                                                 \
    {                                                                                              \
        "public", VCM_SYMBOL_PUBLIC                                                                \
    }

/* Whether a word stands before the name of a symbol, by itself and in no string. */
bool vcm_visibility_has_word(const struct vcm_symbol *symbol, const char *word);

/* Of a symbol that has its name, kind and signature. */
enum vcm_symbol_visibility vcm_visibility_of(const struct vcm_language_descriptor *language,
                                             const struct vcm_symbol *symbol,
                                             const struct vcm_visibility_place *place);

/* Whether a word before it in its container ("private" in a line of its own) is about it too. */
bool vcm_visibility_follows(const struct vcm_language_descriptor *language,
                            const struct vcm_symbol *symbol);

#endif
