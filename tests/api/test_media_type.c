#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/media_type.h"

#include "base/banned.h"

static const char *type_of(const char *path, const char *head)
{
    return vcm_media_type_of(vcm_slice_of_string(path), vcm_slice_of_string(head));
}

static void the_end_of_the_name_tells_first(void **state)
{
    (void)state;
    assert_string_equal(type_of("a/b.png", ""), "image/png");
    assert_string_equal(type_of("B.PNG", "GIF89a"), "image/png");
    assert_string_equal(type_of("x.tar.gz", ""), "application/gzip");
    assert_string_equal(type_of("libx.so", ""), "application/x-sharedlib");
}

static void else_how_the_content_begins(void **state)
{
    (void)state;
    assert_string_equal(type_of("logo", "\x89PNG\r\n\x1a\nxyz"), "image/png");
    assert_string_equal(type_of("a.dat", "PK\x03\x04"), "application/zip");
    assert_string_equal(vcm_media_type_of(vcm_slice_of_string("x"), vcm_slice_of("\0asm\1", 5)),
                        "application/wasm");
}

static void what_nothing_tells_is_a_stream_of_octets(void **state)
{
    (void)state;
    assert_string_equal(type_of("a.dat", ""), "application/octet-stream");
    assert_string_equal(type_of("a.png/b", "P"), "application/octet-stream");
    assert_string_equal(type_of("", ""), "application/octet-stream");
    assert_string_equal(type_of("x.", "GI"), "application/octet-stream");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_the_name_tells_first),
        cmocka_unit_test(else_how_the_content_begins),
        cmocka_unit_test(what_nothing_tells_is_a_stream_of_octets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
