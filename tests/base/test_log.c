#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"

#include "base/banned.h"

static void keep_line(void *context, enum vcm_log_level level, const char *line)
{
    vcm_buf_append_format(context, "%d:%s|", (int)level, line);
}

static void lines_reach_the_sink_up_to_the_level(void **state)
{
    (void)state;
    struct vcm_buf seen = VCM_BUF_INIT(8192);
    struct vcm_log log = {keep_line, &seen, VCM_LOG_INFO};

    vcm_log_write(&log, VCM_LOG_ERROR, "bad %s", "thing");
    vcm_log_write(&log, VCM_LOG_INFO, "%d done", 3);
    vcm_log_write(&log, VCM_LOG_DEBUG, "not shown");
    assert_string_equal(vcm_buf_text(&seen), "0:bad thing|2:3 done|");
    vcm_buf_release(&seen);
}

static void control_characters_do_not_reach_the_sink(void **state)
{
    (void)state;
    struct vcm_buf seen = VCM_BUF_INIT(8192);
    struct vcm_log log = {keep_line, &seen, VCM_LOG_DEBUG};

    vcm_log_write(&log, VCM_LOG_WARNING, "a\nb\x1b[31m\x7f\xc3\xa9");
    assert_string_equal(vcm_buf_text(&seen), "1:a?b?[31m?\xc3\xa9|");
    vcm_buf_release(&seen);
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    struct vcm_buf seen = VCM_BUF_INIT(8192);
    struct vcm_log log = {keep_line, &seen, VCM_LOG_DEBUG};

    vcm_log_write(&log, VCM_LOG_WARNING, "%06000d", 1);
    assert_in_range(seen.len, 100, 5999);
    vcm_buf_release(&seen);
}

static void without_a_sink_nothing_happens(void **state)
{
    (void)state;
    struct vcm_log log = {NULL, NULL, VCM_LOG_DEBUG};

    vcm_log_write(NULL, VCM_LOG_ERROR, "x");
    vcm_log_write(&log, VCM_LOG_ERROR, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_reach_the_sink_up_to_the_level),
        cmocka_unit_test(control_characters_do_not_reach_the_sink),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(without_a_sink_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
