/*
 * ctags.h - definitions in languages without a grammar, from the system's ctags program.
 *
 * It gets the bytes of a file on its standard input, never a path, and the language; it reads no
 * options of the repository, the home or the environment, and enters its own sandbox before it
 * parses. Starting it costs more than reading most files, so a process reads many files, one after
 * another. When it ends during a file, that file is tried again in a process of its own, so that no
 * file is reported as `no_ctags` because of another one. Time, memory and output are bounded. Equal
 * bytes give equal symbols as long as ctags stays the same. Any number of threads.
 */
#ifndef VCM_SYMBOLS_CTAGS_H
#define VCM_SYMBOLS_CTAGS_H

#include "symbols/languages/language.h"
#include "symbols/symbols.h"

struct vcm_ctags;

/* Whether PATH has a program of that name; whether it is usable shows only when it runs. */
bool vcm_ctags_is_there(void);

/* Whether it is universal-ctags, able to do what is asked of it here: tries a small file. */
bool vcm_ctags_works(void);

/* Starts no process yet. */
int vcm_ctags_open(struct vcm_ctags **out, struct vcm_error *err);

/* Ends the idle processes. */
void vcm_ctags_close(struct vcm_ctags *ctags);

/* Fills symbols that are initialised. Without an answer the state is NO_CTAGS, which is no failure;
 * TOO_COSTLY, TOO_MANY over the limits. INTERNAL without memory. */
int vcm_ctags_run(struct vcm_symbols *out, struct vcm_ctags *ctags, enum vcm_language language,
                  struct vcm_slice text, struct vcm_error *err);

#endif
