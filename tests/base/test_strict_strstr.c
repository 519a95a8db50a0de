/* tests/support/strict_strstr.c stands in for strstr() here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/banned.h"

static void it_finds_what_strstr_finds(void **state)
{
    char text[] = "one two three";

    (void)state;
    assert_ptr_equal(strstr(text, "one"), text);
    assert_ptr_equal(strstr(text, "two"), text + 4);
    assert_ptr_equal(strstr(text, "three"), text + 8);
    assert_ptr_equal(strstr(text, ""), text);
    assert_null(strstr(text, "four"));
    assert_null(strstr("", "a"));
}

static void search_without_end(void)
{
    char *text = malloc(4);

    if (!text || !freopen("/dev/null", "w", stderr))
        _exit(0);
    memset(text, 'a', 4);
    volatile bool found = strstr(text, "aa") != NULL;
    _exit(found ? 0 : 1);
}

static void a_text_without_an_end_is_reported_even_if_the_words_come_first(void **state)
{
    int status = 0;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        search_without_end();
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) || WIFSIGNALED(status));
    assert_int_not_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_what_strstr_finds),
        cmocka_unit_test(a_text_without_an_end_is_reported_even_if_the_words_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
