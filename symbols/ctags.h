/*
 * ctags.h - definitions of languages that no grammar here reads, by the ctags program of the
 * system.
 *
 * It is handed the bytes of a file on its standard input, never a path, and told the language; it
 * reads no options of the repository, the home or the environment, and enters its own sandbox
 * before it parses. Starting it costs more than most files do: a process reads many, one after
 * another. A file that ends it is tried again in a process of its own, so that no file is named
 * `no_ctags` for the fault of another. Time, memory and output are bounded. Equal bytes give equal
 * symbols as long as ctags stays the same. Any number of threads.
 */
#ifndef VCM_SYMBOLS_CTAGS_H
#define VCM_SYMBOLS_CTAGS_H

#include "symbols/languages/language.h"
#include "symbols/symbols.h"

struct vcm_ctags;

/* Whether PATH has a program of that name; what it is shows when it runs. */
bool vcm_ctags_is_there(void);

/* Whether it is universal-ctags, able to do what is asked of it here: tries a small file. */
bool vcm_ctags_works(void);

/* Starts nothing yet. */
int vcm_ctags_open(struct vcm_ctags **out, struct vcm_error *err);

/* Ends the processes that wait for another file. */
void vcm_ctags_close(struct vcm_ctags *ctags);

/* Fills symbols that are initialised. Without an answer the state is NO_CTAGS, which is no failure;
 * TOO_COSTLY, TOO_MANY over the limits. INTERNAL without memory. */
int vcm_ctags_run(struct vcm_symbols *out, struct vcm_ctags *ctags, enum vcm_language language,
                  struct vcm_slice text, struct vcm_error *err);

#endif
