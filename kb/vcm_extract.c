/*
 * vcm-extract - reads a PDF from standard input and writes its text, headings and pages to standard
 * output, in the form of kb/document.h. Spawned by kb/extract.c, never used by hand.
 *
 * It is a separate program because a PDF is untrusted input for a large parser, and because that
 * parser is under the GPL. The exit status says what is wrong with a document (extract_pdf.h),
 * standard error says it in words.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "kb/extract_pdf.h"
#include "kb/extract_sandbox.h"

#include "base/banned.h"

#define READ_BYTES ((size_t)1024 * 1024)

static int read_input(struct vcm_buf *out, struct vcm_error *err)
{
    for (;;) {
        char *room = vcm_buf_reserve(out, READ_BYTES);
        if (!room)
            return vcm_buf_check(out, "the document", err);
        ssize_t got = read(STDIN_FILENO, room, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read the document");
        if (got == 0)
            return VCM_OK;
        vcm_buf_advance(out, (size_t)got);
    }
}

static int write_output(struct vcm_slice bytes, struct vcm_error *err)
{
    int failure = vcm_io_write_all(STDOUT_FILENO, bytes);

    return failure == 0 ? VCM_OK
                        : vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot write the text");
}

static enum vcm_extract_status extract(struct vcm_slice input, struct vcm_error *err)
{
    struct vcm_buf output = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_OUTPUT_BYTES);
    struct vcm_layout layout;
    struct vcm_document document;

    vcm_layout_init(&layout);
    vcm_document_init(&document);
    enum vcm_extract_status status = vcm_extract_pdf_read(&layout, input, err);
    if (status == VCM_EXTRACT_DONE) {
        int rc = vcm_layout_finish(&document, &layout, err);
        if (rc == VCM_OK) {
            vcm_document_encode(&output, &document);
            rc = vcm_buf_check(&output, "the extracted document", err);
        }
        if (rc == VCM_OK)
            rc = write_output(vcm_buf_slice(&output), err);
        if (rc != VCM_OK)
            status = rc == VCM_UNSUPPORTED ? VCM_EXTRACT_OVER_LIMITS : VCM_EXTRACT_FAILED;
        else if (vcm_document_is_blank(&document))
            status = VCM_EXTRACT_NO_TEXT;
    }
    vcm_document_release(&document);
    vcm_layout_release(&layout);
    vcm_buf_release(&output);
    return status;
}

/* Parsers write warnings of any length to standard error; only our own message is passed on. */
static int silence_errors(void)
{
    int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nothing >= 0) {
        dup2(nothing, STDERR_FILENO);
        close(nothing);
    }
    return own;
}

int main(int argc, char **argv)
{
    bool partial = argc == 2 && strcmp(argv[1], VCM_EXTRACT_SANDBOX_PARTIAL) == 0;
    int errors = silence_errors();
    struct vcm_buf input = VCM_BUF_INIT(VCM_LIMIT_DOCUMENT_BYTES + READ_BYTES);
    struct vcm_error err = {0};
    enum vcm_extract_status status = VCM_EXTRACT_FAILED;

    if (read_input(&input, &err) == VCM_OK) {
        status = vcm_extract_sandbox_enter(input.capacity, partial, &err) == VCM_OK
                     ? extract(vcm_buf_slice(&input), &err)
                     : VCM_EXTRACT_NO_SANDBOX;
    }
    if (status != VCM_EXTRACT_DONE)
        dprintf(errors, "%s\n", err.message);
    /* Skips the exit handlers of the libraries. */
    _exit((int)status);
}
