#include "kb/extract.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/spawn.h"
#include "kb/extract_pdf.h"
#include "kb/extract_sandbox.h"

#include "base/banned.h"

#define PROGRAM      "vcm-extract"
#define HEADER_PROBE ((size_t)1024) /* PDF requires the header in the first bytes */
#define ERROR_BYTES  ((size_t)1024)

/* Paths from the directory of a program or library to that of the helper: installed, installed with
 * a directory for the machine's architecture in between, and in a build tree. */
static const char *const places[] = {"../libexec/vcm", "../../libexec/vcm", "../kb", "../../kb"};

/* Searches relative to the file at `own`; appends the path when the helper exists. */
static bool find_around(struct vcm_buf *out, const char *own)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    char *real = realpath(own, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    bool found = false;

    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !found && i < sizeof places / sizeof places[0]; i++) {
        vcm_buf_clear(&path);
        vcm_buf_append_format(&path, "%s/%s/" PROGRAM, real, places[i]);
        found = path.fault == VCM_BUF_FINE && access(vcm_buf_text(&path), X_OK) == 0;
    }
    if (found)
        vcm_buf_append_slice(out, vcm_buf_slice(&path));
    free(real);
    vcm_buf_release(&path);
    return found;
}

int vcm_extract_find(struct vcm_buf *out, struct vcm_error *err)
{
    const char *folder = getenv("VCM_LIBEXEC");
    Dl_info info = {0};

    if (folder && folder[0] != '\0') {
        vcm_path_join(out, folder, PROGRAM);
        int rc = vcm_buf_check(out, "the path of " PROGRAM, err);
        if (rc == VCM_OK && access(vcm_buf_text(out), X_OK) != 0)
            rc = vcm_error_set(err, VCM_NOT_FOUND, "there is no " PROGRAM " in VCM_LIBEXEC '%s'",
                               folder);
        return rc;
    }
    if (dladdr((const void *)places, &info) != 0 && info.dli_fname && strchr(info.dli_fname, '/') &&
        find_around(out, info.dli_fname))
        return VCM_OK;
    if (find_around(out, "/proc/self/exe"))
        return VCM_OK;
    return vcm_error_set(err, VCM_NOT_FOUND,
                         PROGRAM " is not installed beside this program; PDFs cannot be read "
                                 "without it (set VCM_LIBEXEC to the folder that has it)");
}

/* Translates the child's exit status or signal. */
static int judge(struct vcm_document *document, const struct vcm_spawn_result *result,
                 const struct vcm_buf *said, struct vcm_error *err)
{
    static const enum vcm_reason reasons[] = {
        [VCM_EXTRACT_CORRUPT] = VCM_REASON_CORRUPT,
        [VCM_EXTRACT_ENCRYPTED] = VCM_REASON_ENCRYPTED,
        [VCM_EXTRACT_NO_TEXT] = VCM_REASON_NO_TEXT_LAYER,
        [VCM_EXTRACT_OVER_LIMITS] = VCM_REASON_OVER_THE_LIMITS,
    };
    size_t status = (size_t)result->exit_status;

    if (result->signal == SIGXCPU || result->signal == SIGKILL)
        return vcm_document_refuse(document, VCM_REASON_OVER_THE_LIMITS, err,
                                   "reading it takes too long");
    if (result->signal != 0)
        return vcm_document_refuse(document, VCM_REASON_CORRUPT, err,
                                   "its reader ended with signal %d, out of memory or on a "
                                   "malformed object",
                                   result->signal);
    if (status == VCM_EXTRACT_DONE)
        return VCM_OK;
    if (status == VCM_EXTRACT_NO_SANDBOX)
        return vcm_error_set(err, VCM_NOT_FOUND, PROGRAM ": %.*s",
                             (int)strcspn(vcm_buf_text(said), "\n"), vcm_buf_text(said));
    if (status < sizeof reasons / sizeof reasons[0] && reasons[status])
        return vcm_document_refuse(document, reasons[status], err, "%.*s",
                                   (int)strcspn(vcm_buf_text(said), "\n"), vcm_buf_text(said));
    return vcm_error_set(err, VCM_INTERNAL, PROGRAM " failed with status %d: %.*s",
                         result->exit_status, (int)strcspn(vcm_buf_text(said), "\n"),
                         vcm_buf_text(said));
}

static int run_child(struct vcm_document *document, struct vcm_buf *output, const char *program,
                     struct vcm_slice bytes, const struct vcm_extract_options *options,
                     struct vcm_error *err)
{
    static const char *const environment[] = {"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", NULL};
    const char *sandbox = getenv("VCM_EXTRACT_SANDBOX");
    bool partial = sandbox && strcmp(sandbox, "partial") == 0;
    const char *argv[] = {program, partial ? VCM_EXTRACT_SANDBOX_PARTIAL : NULL, NULL};
    struct vcm_buf said = VCM_BUF_INIT(ERROR_BYTES);
    struct vcm_spawn_result result = {0};
    struct vcm_error own = {0};
    unsigned cpu_seconds = vcm_extract_pdf_cpu_seconds(bytes.len);
    struct vcm_spawn_options spawn = {
        .argv = argv,
        .environment = environment,
        .directory = "/",
        .input = bytes,
        .timeout_ms = options->timeout_ms ? options->timeout_ms : 4000 * cpu_seconds,
        .cpu_seconds_max = cpu_seconds,
        .cancel = options->cancel,
    };

    int rc = vcm_spawn_run(&result, output, &said, &spawn, &own);
    if (rc == VCM_OK)
        rc = judge(document, &result, &said, err);
    else if (rc == VCM_TIMEOUT)
        rc = vcm_document_refuse(document, VCM_REASON_OVER_THE_LIMITS, err, "not read after %u ms",
                                 spawn.timeout_ms);
    else if (rc == VCM_UNSUPPORTED)
        rc = vcm_document_refuse(document, VCM_REASON_OVER_THE_LIMITS, err,
                                 "more text than %zu bytes", output->max);
    else
        rc = vcm_error_set(err, own.code, "%s", own.message);
    vcm_buf_release(&said);
    return rc;
}

int vcm_extract_run(struct vcm_document *document, struct vcm_slice bytes,
                    const struct vcm_extract_options *options, struct vcm_error *err)
{
    struct vcm_buf program = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf output = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_OUTPUT_BYTES);
    size_t probe = bytes.len < HEADER_PROBE ? bytes.len : HEADER_PROBE;

    if (bytes.len == 0)
        return vcm_document_refuse(document, VCM_REASON_EMPTY, err, "the file has no bytes");
    if (bytes.len > VCM_LIMIT_DOCUMENT_BYTES)
        return vcm_document_refuse(document, VCM_REASON_OVER_THE_LIMITS, err,
                                   "larger than %zu bytes", VCM_LIMIT_DOCUMENT_BYTES);
    if (!memmem(bytes.data, probe, "%PDF-", 5))
        return vcm_document_refuse(document, VCM_REASON_CORRUPT, err, "the file is not a PDF");
    int rc = vcm_extract_find(&program, err);
    if (rc == VCM_OK)
        rc = run_child(document, &output, vcm_buf_text(&program), bytes, options, err);
    if (rc == VCM_OK)
        rc = vcm_document_decode(document, vcm_buf_slice(&output), err);
    vcm_buf_release(&output);
    vcm_buf_release(&program);
    return rc;
}
