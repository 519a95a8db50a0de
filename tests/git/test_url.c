#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "git/url.h"

#include "base/banned.h"

struct expectation {
    const char *text;
    enum vcm_git_transport transport;
    const char *address, *host, *path, *user, *password;
};

static void assert_text(const char *what, const char *got, const char *expected)
{
    if (!got || !expected) {
        assert_true(got == expected);
        return;
    }
    if (strcmp(got, expected) != 0)
        fail_msg("%s: '%s', expected '%s'", what, got, expected);
}

static void the_parts_of_an_address_are_told_apart(void **state)
{
    static const struct expectation expectations[] = {
        {"https://h.org/a/b.git", VCM_GIT_URL_HTTPS, "https://h.org/a/b.git", "h.org", "", NULL,
         NULL},
        {"HTTPS://H.org:8443/x", VCM_GIT_URL_HTTPS, "HTTPS://H.org:8443/x", "h.org:8443", "", NULL,
         NULL},
        {"https://u:p%40w@h/x", VCM_GIT_URL_HTTPS, "https://h/x", "h", "", "u", "p@w"},
        {"https://u:a:b@c@h/x@y", VCM_GIT_URL_HTTPS, "https://h/x@y", "h", "", "u", "a:b@c"},
        {"https://u@h/x", VCM_GIT_URL_HTTPS, "https://h/x", "h", "", "u", NULL},
        {"https://[::1]:443/x", VCM_GIT_URL_HTTPS, "https://[::1]:443/x", "[::1]:443", "", NULL,
         NULL},
        {"ssh://git@h:22/~x/y", VCM_GIT_URL_SSH, "ssh://git@h:22/~x/y", "h:22", "", NULL, NULL},
        {"ssh://git:pw@h/x", VCM_GIT_URL_SSH, "ssh://git@h/x", "h", "", NULL, NULL},
        {"git@h.org:a/b", VCM_GIT_URL_SSH, "git@h.org:a/b", "h.org", "", NULL, NULL},
        {"h:a", VCM_GIT_URL_SSH, "h:a", "h", "", NULL, NULL},
        {"git@[::1]:a", VCM_GIT_URL_SSH, "git@[::1]:a", "[::1]", "", NULL, NULL},
        {"file:///a%20b/c", VCM_GIT_URL_FILE, "file:///a%20b/c", "", "/a b/c", NULL, NULL},
        {"/a/b:c", VCM_GIT_URL_PATH, "/a/b:c", "", "/a/b:c", NULL, NULL},
        {"../x", VCM_GIT_URL_PATH, "../x", "", "../x", NULL, NULL},
        {"./h:x", VCM_GIT_URL_PATH, "./h:x", "", "./h:x", NULL, NULL},
        {"x", VCM_GIT_URL_PATH, "x", "", "x", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const struct expectation *e = &expectations[i];
        struct vcm_git_url url;
        struct vcm_error err = {0};
        if (vcm_git_url_parse(&url, e->text, &err) != VCM_OK)
            fail_msg("%s: %s", e->text, err.message);
        assert_int_equal(url.transport, e->transport);
        assert_text(e->text, url.address, e->address);
        assert_text(e->text, url.host, e->host);
        assert_text(e->text, url.path, e->path);
        assert_text(e->text, url.user, e->user);
        assert_text(e->text, url.password, e->password);
        assert_int_equal(vcm_git_url_is_remote(e->text), e->transport != VCM_GIT_URL_PATH);
        vcm_git_url_release(&url);
    }
}

static const char *const tricks[] = {
    "",
    "-x",
    "--upload-pack=x",
    "ext::sh",
    "fd::3",
    "a+b::c",
    "http://h/x",
    "git://h/x",
    "ftp://h/x",
    "https+x://h/x",
    "https:///x",
    "https://h",
    "https://h/",
    "https://h//",
    "https://-h/x",
    "https://h h/x",
    "https://h:/x",
    "https://h:1x/x",
    "https://h:123456/x",
    "https://[::1/x",
    "https://[]/x",
    "https://[::1]x/x",
    "https://h%2e/x",
    "https://h/%",
    "https://h/%0",
    "https://h/%zz",
    "https://h/%00",
    "https://h/%0a",
    "https://h/x?s3cr3t",
    "https://h/x#y",
    "https://u:s3cr3t%0a@h/x",
    "https://u:s3cr3t%@h/x",
    "https://h/\n",
    "https://h/\x7f",
    "ssh://-oProxyCommand=x/y",
    "ssh://-x@h/y",
    "ssh://@h/y",
    "ssh://a b@h/y",
    "ssh://h",
    "h:",
    "h:-x",
    "-h:x",
    "u@:x",
    "-u@h:x",
    "u:s3cr3t@h:x",
    "https:/u:s3cr3t@h/x",
    "ssh:u:s3cr3t@h/x",
    "file://",
    "file://h/x",
    "file:///",
    "file://u:s3cr3t@/x",
    "file:///a/..",
    "file:///../a",
    "file:///a/%2E%2e/b",
};

static void what_could_be_a_trick_is_refused_without_being_repeated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tricks / sizeof tricks[0]; i++) {
        struct vcm_git_url url;
        struct vcm_error err = {0};
        if (vcm_git_url_parse(&url, tricks[i], &err) != VCM_INVALID_ARGUMENT)
            fail_msg("'%s' is taken", tricks[i]);
        assert_null(strstr(err.message, "s3cr3t"));
        vcm_git_url_release(&url);
    }
}

static void an_address_has_a_longest_length(void **state)
{
    char text[8192] = "https://h/";
    struct vcm_git_url url;
    struct vcm_error err = {0};

    (void)state;
    memset(text + 10, 'x', sizeof text - 11);
    assert_int_equal(vcm_git_url_parse(&url, text, &err), VCM_INVALID_ARGUMENT);
    vcm_git_url_release(&url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_an_address_are_told_apart),
        cmocka_unit_test(what_could_be_a_trick_is_refused_without_being_repeated),
        cmocka_unit_test(an_address_has_a_longest_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
