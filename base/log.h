/*
 * log.h - log lines go to a sink that the program's edge provides; nothing below it prints.
 */
#ifndef VCM_BASE_LOG_H
#define VCM_BASE_LOG_H

enum vcm_log_level {
    VCM_LOG_ERROR,
    VCM_LOG_WARNING,
    VCM_LOG_INFO,
    VCM_LOG_DEBUG,
};

/* The sink may be called from any thread, with one line at a time and no line break. */
typedef void (*vcm_log_fn)(void *context, enum vcm_log_level level, const char *line);

struct vcm_log {
    vcm_log_fn write;
    void *context;
    enum vcm_log_level level; /* the least important level that is written */
};

/* Does nothing for a NULL log or a NULL write. Control characters in the line become '?'. */
void vcm_log_write(const struct vcm_log *log, enum vcm_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
