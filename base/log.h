/*
 * log.h - log lines go to a sink that the program's edge provides; nothing below it prints.
 */
#ifndef VCM_BASE_LOG_H
#define VCM_BASE_LOG_H

#include "base/public.h"

/* Does nothing for a NULL log or a NULL write. Control characters in the line become '?'. */
void vcm_log_write(const struct vcm_log *log, enum vcm_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
