#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/secret.h"

#include "base/banned.h"

struct expectation {
    const char *text, *stripped;
};

static void check(void (*strip)(char *), const struct expectation *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s", all[i].text);
        strip(text);
        if (strcmp(text, all[i].stripped) != 0)
            fail_msg("'%s' became '%s'", all[i].text, text);
    }
}

static void a_url_loses_its_secrets_and_a_path_nothing(void **state)
{
    static const struct expectation all[] = {
        {"https://u:p@h/x", "https://h/x"},
        {"https://token@h:8443/x", "https://h:8443/x"},
        {"https://u:p@q@h/x@y", "https://h/x@y"},
        {"https://u:it's a@h/x", "https://h/x"},
        {"https://h/x?private_token=t", "https://h/x"},
        {"https://h/x#token=t", "https://h/x"},
        {"https://h?t=1/x", "https://h"},
        {"HTTPS://u:p@h", "HTTPS://h"},
        {"ssh://u:p@h/x", "ssh://u@h/x"},
        {"git+ssh://u:p@h/x", "git+ssh://u@h/x"},
        {"ssh://git@h/x", "ssh://git@h/x"},
        {"git@h:x", "git@h:x"},
        {"git@h:x@y", "git@h:x@y"},
        {"u:p@h:x", "u@h:x"},
        {"git:x?y", "git:x?y"},
        {"https:/u:p@h/x", "https:/h/x"},
        {"https//u:p@h/x", "https//h/x"},
        {"https:u:p@h/x", "https:h/x"},
        {"ext::https://u:p@h/x", "ext::https://h/x"},
        {"file:///a?b#c@d", "file:///a?b#c@d"},
        {"/a/b:c@d", "/a/b:c@d"},
        {"a?b", "a?b"},
        {"", ""},
        {"https://", "https://"},
        {"https://u:p@", "https://"},
        {"https://u:a/p@h/x", "https://h/x"},
        {"https://u:a?p@h/x", "https://h/x"},
        {"https://u:a#p@h/x", "https://h/x"},
        {"ssh://u:a/p@h/x", "ssh://u@h/x"},
        {"https://h:8080/x@y", "https://h:8080/x@y"},
        {"https://[::1]:80/x@y", "https://[::1]:80/x@y"},
        {" https://u:p@h/x", " https://h/x"},
    };

    (void)state;
    check(vcm_secret_strip_url, all, sizeof all / sizeof all[0]);
}

static void a_text_loses_the_secrets_of_every_url_and_nothing_else(void **state)
{
    static const struct expectation all[] = {
        {"no 'https://u:p@h/x' and 'http://t@g' here", "no 'https://h/x' and 'http://g' here"},
        {"'https://h/x?token=t' is refused", "'https://h/x' is refused"},
        {"'https://h' has no branch 'a@b'", "'https://h' has no branch 'a@b'"},
        {"the scope repo-12345678:row@worktree", "the scope repo-12345678:row@worktree"},
        {"use https: or ssh: what? a@b", "use https: or ssh: what? a@b"},
        {"write to me@example.org, why?", "write to me@example.org, why?"},
        {"no 'https://u:a b@h/x', no 'c@d'", "no 'https://h/x', no 'c@d'"},
        {"no \"https://u:a/b c@h/x\" here", "no \"https://h/x\" here"},
        {"https://u:a/b@h/x is none", "https://h/x is none"},
        {"a server at https://h:port is not me@h", "a server at https://h:port is not me@h"},
    };

    (void)state;
    check(vcm_secret_strip_text, all, sizeof all / sizeof all[0]);
}

static void an_error_has_no_secret_even_when_it_is_cut(void **state)
{
    char password[4000];
    struct vcm_error err = {0};

    (void)state;
    memset(password, 'p', sizeof password - 1);
    password[sizeof password - 1] = '\0';
    vcm_error_set(&err, VCM_NOT_FOUND, "no directory 'https://u:%s@h/x'", password);
    vcm_error_wrap(&err, (int)err.code, "https://u:%s@h/x", password);
    assert_string_equal(err.message, "no directory 'https://h/x'");
    assert_string_equal(err.context, "https://h/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_loses_its_secrets_and_a_path_nothing),
        cmocka_unit_test(a_text_loses_the_secrets_of_every_url_and_nothing_else),
        cmocka_unit_test(an_error_has_no_secret_even_when_it_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
