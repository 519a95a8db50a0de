/*
 * screen.h - a stream that is drawn on a terminal again and again, and the keys that steer it.
 *
 * While it is open, the terminal passes keys on one by one and does not echo them; closing puts the
 * terminal back, and so do the signals that end the process. One screen per process.
 */
#ifndef VCM_CLI_SCREEN_H
#define VCM_CLI_SCREEN_H

#include "base/buf.h"
#include "base/cancel.h"

struct vcm_screen {
    const struct vcm_cancel *cancel;
    struct vcm_buf drawn; /* without the last line */
    bool keys;            /* it is open, and reads keys */
};

/* Begins to read keys if standard input and output are a terminal that can be drawn on; else the
 * screen has no keys, and the other functions do nothing. */
void vcm_screen_open(struct vcm_screen *screen, const struct vcm_cancel *cancel);
void vcm_screen_close(struct vcm_screen *screen);

/* Adds the last line, with the keys, to what is about to be written, and keeps a copy. */
void vcm_screen_finish(struct vcm_screen *screen, struct vcm_buf *text);

/* Obeys the keys that were pressed. Returns false when the user wants to end. While it is paused,
 * or shows its help, it waits here for a key or the cancel flag. */
bool vcm_screen_obey(struct vcm_screen *screen);

/* Puts the terminal back; may be called in a signal handler, and when there is no screen. */
void vcm_screen_restore(void);

#endif
