#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "lfs/manifest.h"

#include "base/banned.h"

#define REQUIRED                                                                                   \
    "\"schema_version\": 1, \"tenant\": \"t\", \"colony\": \"c\", \"program\": \"p\", "            \
    "\"target_system\": \"s\", \"design_repo_url\": \"u\""

static int parse(struct vcm_manifest *manifest, const char *text, struct vcm_error *err)
{
    vcm_error_reset(err);
    return vcm_manifest_parse(manifest, vcm_slice_of_string(text), "m.json", err);
}

static void refuses(const char *text, enum vcm_code code, const char *part)
{
    struct vcm_manifest manifest;
    struct vcm_error err = {0};

    assert_int_equal(parse(&manifest, text, &err), code);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
    vcm_manifest_release(&manifest);
}

static void what_is_not_said_has_its_default(void **state)
{
    struct vcm_manifest manifest;
    struct vcm_error err = {0};

    (void)state;
    assert_int_equal(parse(&manifest, "{" REQUIRED "}", &err), VCM_OK);
    assert_string_equal(manifest.tenant, "t");
    assert_string_equal(manifest.default_branch, "main");
    assert_int_equal(manifest.topology, VCM_MANIFEST_EXTERNAL);
    assert_int_equal(manifest.lfs.mode, VCM_MANIFEST_LFS_SAME_REMOTE);
    assert_null(manifest.lfs.separate_url);
    assert_false(manifest.webhook.enabled);
    assert_null(manifest.imports_tooling_from);
    vcm_manifest_release(&manifest);
}

static void what_is_written_reads_back_the_same(void **state)
{
    const char *text = "{" REQUIRED ", \"topology\": \"air_gapped\", \"credentials_ref\": \"CRED\","
                       "\"imports_tooling_from\": [{\"name\": \"a\", \"url\": \"x\"}, {\"name\": "
                       "\"b\", \"url\": \"y\", \"ref\": \"v1\", \"scope\": \"t\", \"writable\": "
                       "true}], \"lfs\": {\"mode\": \"separate\", \"separate_url\": "
                       "\"https://h/x\"}, \"webhook\": {\"enabled\": true, \"endpoint\": \"e\"}}";
    struct vcm_buf once = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_buf twice = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_manifest manifest;
    struct vcm_error err = {0};

    (void)state;
    assert_int_equal(parse(&manifest, text, &err), VCM_OK);
    assert_string_equal(manifest.imports_tooling_from->ref, "main");
    assert_true(manifest.imports_tooling_from->next->writable);
    assert_int_equal(vcm_manifest_format(&once, &manifest, &err), VCM_OK);
    vcm_manifest_release(&manifest);
    assert_int_equal(parse(&manifest, vcm_buf_text(&once), &err), VCM_OK);
    assert_int_equal(manifest.topology, VCM_MANIFEST_AIR_GAPPED);
    assert_string_equal(manifest.credentials_ref, "CRED");
    assert_string_equal(manifest.lfs.separate_url, "https://h/x");
    assert_int_equal(vcm_manifest_format(&twice, &manifest, &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&once), vcm_buf_text(&twice));
    vcm_manifest_release(&manifest);
    vcm_buf_release(&twice);
    vcm_buf_release(&once);
}

static void faults_have_their_line_and_column(void **state)
{
    (void)state;
    refuses("{\n  " REQUIRED ",\n  \"x\": 1}", VCM_INVALID_ARGUMENT,
            "m.json, line 3, column 3: unknown key 'x'");
    refuses("{" REQUIRED ",\r\n\t\"lfs\": {\"a\\\"}\": 1}}", VCM_INVALID_ARGUMENT,
            "line 2, column 10: unknown key");
    refuses("{" REQUIRED ", \"webhook\":\n{\"enabled\":\n\"yes\"}}", VCM_INVALID_ARGUMENT,
            "line 3, column 1: 'enabled' must be true or false");
    refuses("{" REQUIRED ", \"imports_tooling_from\": [{\"name\": \"a\", \"url\": \"b\"},\n {}]}",
            VCM_INVALID_ARGUMENT, "line 2, column 2: the key 'name' is missing");
    refuses("{\"schema_version\": 2, \"x\": 1}", VCM_UNSUPPORTED, "newer vcm");
    refuses("{\"schema_version\": 0}", VCM_INVALID_ARGUMENT, "the number 1");
    refuses("{\"schema_version\": 1.0}", VCM_INVALID_ARGUMENT, "the number 1");
    refuses("{}", VCM_INVALID_ARGUMENT, "is missing");
    refuses("{" REQUIRED ", \"default_branch\": null}", VCM_INVALID_ARGUMENT, "a string");
    refuses("{" REQUIRED ", \"default_branch\": \"a\\u0000b\"}", VCM_INVALID_ARGUMENT, "NUL");
}

static void separate_urls_are_urls(void **state)
{
    static const char *const bad[] = {"",      "-x",           "https://-oProxy", "ext::sh",
                                      "/path", "https://h/ x", "file://relative"};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vcm_buf document = VCM_BUF_INIT(sizeof text);
        vcm_buf_append_format(&document, "{" REQUIRED ", \"lfs\": {\"separate_url\": \"%s\"}}",
                              bad[i]);
        refuses(vcm_buf_text(&document), VCM_INVALID_ARGUMENT, "'separate_url' must be a URL");
        vcm_buf_release(&document);
    }
}

static void enabling_lfs_changes_that_word_alone(void **state)
{
    const char *text = "{\r\n \"x\": \"disabled\", \"lfs\" :{\"separate_url\":\"\\\"disabled\\\"\","
                       "\"mode\" : \"disabled\" ,\"y\":[\"disabled\"]}}\r\n";
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_error err = {0};

    (void)state;
    assert_int_equal(vcm_manifest_enable_lfs(&out, vcm_slice_of_string(text), &err), VCM_OK);
    assert_string_equal(
        vcm_buf_text(&out),
        "{\r\n \"x\": \"disabled\", \"lfs\" :{\"separate_url\":\"\\\"disabled\\\"\","
        "\"mode\" : \"same_remote\" ,\"y\":[\"disabled\"]}}\r\n");
    vcm_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_has_its_default),
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(faults_have_their_line_and_column),
        cmocka_unit_test(separate_urls_are_urls),
        cmocka_unit_test(enabling_lfs_changes_that_word_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
