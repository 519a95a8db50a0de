/*
 * layout_columns.h - puts the lines of pages in two columns in reading order. Private to layout.c.
 */
#ifndef VCM_KB_LAYOUT_COLUMNS_H
#define VCM_KB_LAYOUT_COLUMNS_H

#include "kb/layout.h"

/* On pages with two columns of prose the left column comes before the right one, between the lines
 * that span both; other pages, tables among them, are not changed. */
int vcm_layout_columns_order(struct vcm_layout *layout, struct vcm_error *err);

#endif
