#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/secret.h"

#include "base/banned.h"

/* Longer lines are cut: a log line is for a person. */
#define LINE_BYTES 2048

void vcm_log_write(const struct vcm_log *log, enum vcm_log_level level, const char *format, ...)
{
    if (!log || !log->write || level > log->level)
        return;

    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (len < 0)
        return;

    for (char *p = line; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    vcm_secret_strip_text(line);
    log->write(log->context, level, line);
}
