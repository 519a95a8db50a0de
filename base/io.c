#include "base/io.h"

#include <errno.h>
#include <unistd.h>

#include "base/banned.h"

/* Removes the written bytes from the front of the rest; 0 to continue. A write of 0 bytes is an
 * error, because the loop would never end. */
static int take_written(struct vcm_slice *bytes, ssize_t put)
{
    if (put < 0)
        return errno == EINTR ? 0 : errno;
    *bytes = vcm_slice_of(bytes->data + put, bytes->len - (size_t)put);
    return put == 0 ? EIO : 0;
}

int vcm_io_write_all(int fd, struct vcm_slice bytes)
{
    int failure = 0;

    while (failure == 0 && bytes.len > 0)
        failure = take_written(&bytes, write(fd, bytes.data, bytes.len));
    return failure;
}

int vcm_io_write_at(int fd, struct vcm_slice bytes, uint64_t offset)
{
    const char *begin = bytes.data;
    int failure = 0;

    while (failure == 0 && bytes.len > 0) {
        off_t at = (off_t)(offset + (uint64_t)(bytes.data - begin));
        failure = take_written(&bytes, pwrite(fd, bytes.data, bytes.len, at));
    }
    return failure;
}

size_t vcm_io_read_at(int fd, void *data, size_t len, uint64_t offset)
{
    char *to = data;
    size_t done = 0;

    while (done < len) {
        ssize_t got = pread(fd, to + done, len - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}
