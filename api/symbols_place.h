/*
 * symbols_place.h - where the store of symbols is: the folder `symbols` of the home or, when the
 * home cannot be written, a copy in a temporary folder that is removed afterwards.
 */
#ifndef VCM_API_SYMBOLS_PLACE_H
#define VCM_API_SYMBOLS_PLACE_H

#include "api/handle.h"

struct vcm_symbols_place {
    struct vcm_buf directory;
    bool temporary;
};

#define VCM_SYMBOLS_PLACE_NAME "symbols"

void vcm_symbols_place_init(struct vcm_symbols_place *place);
/* Removes a copy. */
void vcm_symbols_place_release(struct vcm_symbols_place *place);

/* The folder of the home; makes it. `directory` is set also when that fails. */
int vcm_symbols_place_settle(struct vcm_symbols_place *place, struct vcm *vcm,
                             struct vcm_error *err);

/* Removes the store of symbols, which is damaged; `why` goes to the log. The next call makes it
 * anew. Processes that have it open go on reading what they have. */
int vcm_symbols_place_drop(struct vcm *vcm, const char *why, struct vcm_error *err);

/* Copies the store of the home, if there is one, to a temporary folder, which takes its place. */
int vcm_symbols_place_copy(struct vcm_symbols_place *place, struct vcm_error *err);

#endif
