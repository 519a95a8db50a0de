/*
 * media_type.h - the media type of a binary file: by its extension, else by its first bytes.
 * Private to api/.
 */
#ifndef VCM_API_MEDIA_TYPE_H
#define VCM_API_MEDIA_TYPE_H

#include "base/buf.h"

/* "image/png"; "application/octet-stream" when the type is not known. `head` holds the first bytes;
 * it is empty when they are not known. A static string. */
const char *vcm_media_type_of(struct vcm_slice path, struct vcm_slice head);

#endif
