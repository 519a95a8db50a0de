/*
 * strstr() for our own objects in a build with AddressSanitizer: the text has to end with a NUL
 * inside its memory, even if what is sought stands before that.
 *
 * The sanitizer checks the same (strict_string_checks), but for every library: libgit2 seeks each
 * certificate in the rest of the system's bundle when it starts, and strlen() of all those rests
 * took a third of a command's time. scripts/test switches that off (intercept_strstr=0).
 */
#include <string.h>

#include "base/banned.h"

char *__wrap_strstr(const char *text, const char *part);

char *__wrap_strstr(const char *text, const char *part)
{
    return memmem(text, strlen(text), part, strlen(part));
}
