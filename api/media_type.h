/*
 * media_type.h - what kind of file a binary one is: by the end of its name, else by how it begins.
 * Private to api/.
 */
#ifndef VCM_API_MEDIA_TYPE_H
#define VCM_API_MEDIA_TYPE_H

#include "base/buf.h"

/* "image/png"; "application/octet-stream" when nothing tells. `head` holds the first bytes, or
 * nothing when they are not known. A static string. */
const char *vcm_media_type_of(struct vcm_slice path, struct vcm_slice head);

#endif
