#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

#include "base/banned.h"

/* What the system calls do instead, one digit a call: i interrupted, e fails, 0 nothing, 1-9 so
 * many bytes at most. At its end they do as they are told. */
static const char *script = "";

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __real_pwrite64(int fd, const void *data, size_t len, off_t at);
ssize_t __real_pread64(int fd, void *data, size_t len, off_t at);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t len, off_t at);

static bool goes_wrong(size_t *len)
{
    const char step = *script;

    script += step != '\0';
    if (step == 'i' || step == 'e')
        errno = step == 'i' ? EINTR : ENOSPC;
    else if (step != '\0' && *len > (size_t)(step - '0'))
        *len = (size_t)(step - '0');
    return step == 'i' || step == 'e';
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
    return goes_wrong(&len) ? -1 : len > 0 ? __real_write(fd, data, len) : 0;
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at)
{
    return goes_wrong(&len) ? -1 : len > 0 ? __real_pwrite64(fd, data, len, at) : 0;
}

ssize_t __wrap_pread64(int fd, void *data, size_t len, off_t at)
{
    return goes_wrong(&len) ? -1 : __real_pread64(fd, data, len, at);
}

static int new_file(void)
{
    int fd = memfd_create("io", MFD_CLOEXEC);

    assert_true(fd >= 0);
    script = "";
    return fd;
}

static void assert_content(int fd, const char *expected)
{
    char found[64] = "";

    script = "";
    ssize_t got = pread(fd, found, sizeof found - 1, 0);
    assert_int_equal(got, strlen(expected));
    assert_string_equal(found, expected);
}

static void all_is_written_in_however_many_parts(void **state)
{
    (void)state;
    int fd = new_file();

    script = "3i1ii2";
    assert_int_equal(vcm_io_write_all(fd, vcm_slice_of_string("0123456789")), 0);
    assert_content(fd, "0123456789");
    assert_int_equal(vcm_io_write_all(fd, vcm_slice_of_string("")), 0);
    script = "i2i";
    assert_int_equal(vcm_io_write_at(fd, vcm_slice_of_string("abcd"), 4), 0);
    assert_content(fd, "0123abcd89");
    close(fd);
}

static void a_failed_write_tells_its_errno(void **state)
{
    (void)state;
    int fd = new_file();

    script = "3e";
    assert_int_equal(vcm_io_write_all(fd, vcm_slice_of_string("012345")), ENOSPC);
    assert_content(fd, "012");
    script = "ie";
    assert_int_equal(vcm_io_write_at(fd, vcm_slice_of_string("x"), 0), ENOSPC);
    assert_int_equal(vcm_io_write_all(-1, vcm_slice_of_string("x")), EBADF);
    close(fd);
}

static void a_write_that_writes_nothing_ends(void **state)
{
    (void)state;
    int fd = new_file();

    script = "20";
    assert_int_equal(vcm_io_write_all(fd, vcm_slice_of_string("012345")), EIO);
    script = "0";
    assert_int_equal(vcm_io_write_at(fd, vcm_slice_of_string("012345"), 0), EIO);
    close(fd);
}

static void all_is_read_in_however_many_parts(void **state)
{
    (void)state;
    int fd = new_file();
    char found[16] = "";

    assert_int_equal(vcm_io_write_all(fd, vcm_slice_of_string("0123456789")), 0);
    script = "2i3ii1";
    assert_int_equal(vcm_io_read_at(fd, found, 8, 1), 8);
    assert_string_equal(found, "12345678");
    errno = EBADF;
    script = "2";
    assert_int_equal(vcm_io_read_at(fd, found, sizeof found, 5), 5);
    assert_int_equal(errno, 0);
    script = "2e";
    assert_int_equal(vcm_io_read_at(fd, found, sizeof found, 0), 2);
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_written_in_however_many_parts),
        cmocka_unit_test(a_failed_write_tells_its_errno),
        cmocka_unit_test(a_write_that_writes_nothing_ends),
        cmocka_unit_test(all_is_read_in_however_many_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
