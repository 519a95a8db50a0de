/*
 * layout_columns.h - puts the lines of pages in two columns in reading order. Private to layout.c.
 */
#ifndef VCM_KB_LAYOUT_COLUMNS_H
#define VCM_KB_LAYOUT_COLUMNS_H

#include "kb/layout.h"

/* On pages that are set in two columns of prose the left one comes before the right one, between
 * the lines that go over both; other pages, tables among them, stay as they are. */
int vcm_layout_columns_order(struct vcm_layout *layout, struct vcm_error *err);

#endif
