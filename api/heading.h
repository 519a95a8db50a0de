/*
 * heading.h - the headings of parts, for mapping: symbols/enclosing.h as vcm/page/heading.h asks
 * for it. Private to api/.
 */
#ifndef VCM_API_HEADING_H
#define VCM_API_HEADING_H

#include "vcm/page/heading.h"

extern const struct vcm_heading_functions vcm_heading_functions;

#endif
