#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

#include "base/banned.h"

static void the_first_cause_wins(void **state)
{
    (void)state;
    struct vcm_error err = {0};

    assert_int_equal(vcm_error_set(&err, VCM_NOT_FOUND, "no '%s'", "x"), VCM_NOT_FOUND);
    assert_int_equal(vcm_error_set(&err, VCM_INTERNAL, "later"), VCM_NOT_FOUND);
    assert_int_equal(vcm_error_sys(&err, VCM_IO_ERROR, EIO, "later"), VCM_NOT_FOUND);
    assert_int_equal(vcm_error_memory(&err), VCM_NOT_FOUND);
    assert_string_equal(err.message, "no 'x'");
    assert_int_equal(err.sys_errno, 0);
    vcm_error_reset(&err);
    assert_int_equal(err.code, VCM_OK);
    assert_int_equal(vcm_error_memory(&err), VCM_INTERNAL);
}

static void without_an_error_the_code_still_comes_back(void **state)
{
    (void)state;
    vcm_error_reset(NULL);
    assert_int_equal(vcm_error_set(NULL, VCM_TIMEOUT, "x"), VCM_TIMEOUT);
    assert_int_equal(vcm_error_sys(NULL, VCM_IO_ERROR, EIO, "x"), VCM_IO_ERROR);
    assert_int_equal(vcm_error_memory(NULL), VCM_INTERNAL);
    assert_int_equal(vcm_error_wrap(NULL, VCM_TIMEOUT, "x"), VCM_TIMEOUT);
    vcm_error_detail(NULL, "k", "v");
    vcm_error_detail_list(NULL, "k", NULL, 0);
}

static void a_failed_call_tells_its_errno(void **state)
{
    (void)state;
    struct vcm_error err = {0};

    vcm_error_sys(&err, VCM_IO_ERROR, ENOENT, "cannot open '%s'", "f");
    assert_string_equal(err.message, "cannot open 'f': No such file or directory");
    assert_int_equal(err.sys_errno, ENOENT);
}

static void a_message_is_one_line(void **state)
{
    (void)state;
    struct vcm_error err = {0};

    vcm_error_set(&err, VCM_INTERNAL, "a\nb\r\tc\x1b\x7f");
    assert_string_equal(err.message, "a b  c  ");
    vcm_error_wrap(&err, VCM_INTERNAL, "x\ny");
    assert_string_equal(err.context, "x y");
}

static void a_long_message_is_not_cut_inside_a_character(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 4; shift++) {
        struct vcm_error err = {0};
        char text[1024];
        size_t len = shift;
        memset(text, 'x', len);
        for (; len + 5 < sizeof text; len += 4)
            memcpy(text + len, "\xf0\x9f\x98\x80", 4);
        text[len] = '\0';
        vcm_error_set(&err, VCM_INTERNAL, "%s", text);
        assert_true(strlen(err.message) > sizeof err.message - 6);
        assert_true(vcm_utf8_valid(vcm_slice_of_string(err.message)));
        vcm_error_wrap(&err, VCM_INTERNAL, "%s", text);
        assert_true(vcm_utf8_valid(vcm_slice_of_string(err.context)));
    }
}

static void context_is_put_in_front(void **state)
{
    (void)state;
    struct vcm_error err = {0};

    assert_int_equal(vcm_error_wrap(&err, VCM_OK, "nothing"), VCM_OK);
    assert_string_equal(err.context, "");
    vcm_error_set(&err, VCM_NOT_FOUND, "gone");
    assert_int_equal(vcm_error_wrap(&err, VCM_NOT_FOUND, "tools/%s", "a.c"), VCM_NOT_FOUND);
    vcm_error_wrap(&err, VCM_NOT_FOUND, "map '%s'", "design");
    assert_string_equal(err.context, "map 'design' > tools/a.c");
    assert_string_equal(err.message, "gone");
}

static void details_are_members_of_a_json_object(void **state)
{
    (void)state;
    static const char *const values[] = {"one", "t\"o"};
    struct vcm_error err = {0};

    vcm_error_detail(&err, "a", "x\\y\n");
    vcm_error_detail_list(&err, "list", values, 2);
    vcm_error_detail_list(&err, "none", NULL, 0);
    assert_string_equal(err.details, "\"a\":\"x\\\\y?\",\"list\":[\"one\",\"t\\\"o\"],\"none\":[]");
}

/* Whatever the lengths, the details stay JSON. */
static void details_that_do_not_fit_are_left_out(void **state)
{
    (void)state;
    static char value[1100];
    const char *values[40];
    struct vcm_arena arena;

    vcm_arena_init(&arena, 1 << 20);
    for (size_t len = 0; len + 1 < sizeof value; len++) {
        struct vcm_error err = {0};
        char text[sizeof err.details + 3];
        struct vcm_json *json;
        memset(value, len % 2 ? '"' : 'x', len);
        value[len] = '\0';
        for (size_t i = 0; i < 40; i++)
            values[i] = value + len - len % 30;
        vcm_error_detail(&err, "first", "kept");
        vcm_error_detail(&err, "k", value);
        vcm_error_detail_list(&err, "list", values, 40);
        vcm_error_detail(&err, "last", value + len / 2);
        snprintf(text, sizeof text, "{%s}", err.details);
        if (vcm_json_parse(&json, &arena, vcm_slice_of_string(text), NULL) != VCM_OK)
            fail_msg("%zu: %s", len, text);
        assert_string_equal(vcm_json_get_text(json, "first", ""), "kept");
        vcm_arena_release(&arena);
    }
}

static void every_code_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(vcm_error_code_name(VCM_OK), "OK");
    assert_string_equal(vcm_error_code_name(VCM_INVALID_REPO_MAP), "INVALID_REPO_MAP");
    assert_string_equal(vcm_error_code_name(VCM_INTERRUPTED), "INTERRUPTED");
    assert_string_equal(vcm_error_code_name((enum vcm_code)1000), "INTERNAL");
    for (int code = 0; code <= VCM_INTERRUPTED; code++)
        assert_non_null(vcm_error_code_name((enum vcm_code)code));
}

static void what_may_pass_by_itself_can_be_tried_again(void **state)
{
    (void)state;
    assert_true(vcm_error_retryable(VCM_TIMEOUT));
    assert_true(vcm_error_retryable(VCM_STORE_BUSY));
    assert_true(vcm_error_retryable(VCM_NETWORK_ERROR));
    assert_false(vcm_error_retryable(VCM_NOT_FOUND));
    assert_false(vcm_error_retryable(VCM_OK));
}

/* Whether the call ends at an assertion, in a process of its own. */
static bool asserts(void (*call)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        fclose(stderr); /* the message of the assertion */
        signal(SIGABRT, SIG_DFL);
        call();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void set_to_stop(void)
{
    struct vcm_error err = {0};
    vcm_error_fill(&err, (enum vcm_code)VCM_STOP, "x");
}

static void set_sys_to_retry(void)
{
    struct vcm_error err = {0};
    vcm_error_sys(&err, (enum vcm_code)VCM_RETRY, EIO, "x");
}

static void set_to_not_found(void)
{
    struct vcm_error err = {0};
    vcm_error_wrap(&err, vcm_error_set(&err, VCM_NOT_FOUND, "x"), "y");
}

static void private_codes_are_no_codes_of_an_error(void **state)
{
    (void)state;
    const int private[] = {VCM_STOP, VCM_NO_ROOM, VCM_RETRY};

    for (size_t i = 0; i < sizeof private / sizeof private[0]; i++) {
        assert_true(vcm_error_is_private(private[i]));
        assert_string_equal(vcm_error_code_name((enum vcm_code) private[i]), "INTERNAL");
    }
    for (int code = VCM_OK; code <= VCM_INTERRUPTED; code++)
        assert_false(vcm_error_is_private(code));
    assert_false(vcm_error_is_private(-1));
#ifndef NDEBUG
    assert_true(asserts(set_to_stop));
    assert_true(asserts(set_sys_to_retry));
#endif
    struct vcm_error err = {0};
    assert_int_equal(vcm_error_wrap(&err, VCM_NO_ROOM, "x"), VCM_NO_ROOM);
    assert_string_equal(err.context, "");
    assert_false(asserts(set_to_not_found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_wins),
        cmocka_unit_test(without_an_error_the_code_still_comes_back),
        cmocka_unit_test(a_failed_call_tells_its_errno),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_long_message_is_not_cut_inside_a_character),
        cmocka_unit_test(context_is_put_in_front),
        cmocka_unit_test(details_are_members_of_a_json_object),
        cmocka_unit_test(details_that_do_not_fit_are_left_out),
        cmocka_unit_test(every_code_has_its_name),
        cmocka_unit_test(what_may_pass_by_itself_can_be_tried_again),
        cmocka_unit_test(private_codes_are_no_codes_of_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
