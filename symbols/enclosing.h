/*
 * enclosing.h - the definition around a place of a file, for the parts into which it is cut.
 *
 * A line encloses the deeper indented lines behind it. Of the lines that enclose a place, from the
 * outermost in, those are named that are heads of definitions (head.h): "class Till > def
 * count(self)". Texts and comments of several lines, labels and directives have no say. Of Markdown
 * it is the section. Nothing is parsed: that would take several times as long as all the rest of
 * mapping.
 *
 * Depends on the path and the text alone, not on an index or on ctags: it is stored with pages, and
 * a change of these rules is a new version of the cutting rules (docs/FORMAT.md). Takes time in
 * proportion to the text. One thread at a time.
 */
#ifndef VCM_SYMBOLS_ENCLOSING_H
#define VCM_SYMBOLS_ENCLOSING_H

#include "base/buf.h"

struct vcm_enclosing;

int vcm_enclosing_open(struct vcm_enclosing **out, struct vcm_error *err);
void vcm_enclosing_close(struct vcm_enclosing *enclosing);

/* Begins a file. The text is valid UTF-8 and stays until the last vcm_enclosing_find() of it. */
void vcm_enclosing_begin(struct vcm_enclosing *enclosing, struct vcm_slice path,
                         struct vcm_slice text);

/* Appends what encloses a part that begins at `offset`: one line without control characters of at
 * most VCM_LIMIT_CONTEXT_LINE_BYTES; nothing when the part begins with a definition, or with the
 * comment above one, and when nothing encloses it. Offsets ascend. */
void vcm_enclosing_find(struct vcm_buf *out, struct vcm_enclosing *enclosing, size_t offset);

#endif
