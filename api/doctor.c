#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/spawn.h"
#include "base/text.h"
#include "git/repo.h"
#include "kb/extract.h"
#include "symbols/ctags.h"
#include "symbols/languages/language.h"

#include "base/banned.h"

#define FREE_BYTES_LOW      (1 * VCM_GIB)
#define INOTIFY_WATCHES_LOW 8192u
#define ADDRESS_SPACE_LOW   (4 * VCM_GIB)
#define PROGRAM_OUTPUT_MAX  ((size_t)4096)
#define PROGRAM_TIMEOUT_MS  5000u

struct doctor {
    struct vcm *vcm;
    vcm_finding_fn visit;
    void *context;
    struct vcm_buf detail;
};

typedef int (*check_fn)(struct doctor *doctor, const char *name, struct vcm_error *err);

static int report(struct doctor *doctor, const char *check, enum vcm_finding_status status,
                  const char *remedy, struct vcm_error *err)
{
    const struct vcm_finding finding = {
        .check = check,
        .status = status,
        .detail = vcm_buf_text(&doctor->detail),
        .remedy = status == VCM_FINDING_OK ? NULL : remedy,
    };
    int rc = vcm_buf_check(&doctor->detail, "a finding", err);
    return rc == VCM_OK ? doctor->visit(doctor->context, &finding, err) : rc;
}

/* Lists the languages that symbols are extracted from. "full" means that definitions, containers,
 * references and imports equal those of a sample that was checked by hand. */
static int check_languages(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    static const struct {
        enum vcm_language_level level;
        const char *word;
    } levels[] = {{VCM_LANGUAGES_FULL, "full"},
                  {VCM_LANGUAGES_DEFINITIONS, "definitions only"},
                  {VCM_LANGUAGES_ABSENT, "absent"}};
    bool has_ctags = vcm_ctags_works();

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const char *before = doctor->detail.len > 0 ? "; " : "";
        bool first = true;
        for (unsigned j = 1; j < VCM_LANGUAGES_COUNT; j++) {
            enum vcm_language_level level = vcm_language_level((enum vcm_language)j);
            if (level == VCM_LANGUAGES_DEFINITIONS && !has_ctags)
                level = VCM_LANGUAGES_ABSENT;
            if (level != levels[i].level)
                continue;
            if (first)
                vcm_buf_append_format(&doctor->detail, "%s%s:", before, levels[i].word);
            vcm_buf_append_format(&doctor->detail, " %s", vcm_language_name((enum vcm_language)j));
            first = false;
        }
    }
    return report(doctor, name, VCM_FINDING_OK, NULL, err);
}

/* ctags is optional: its absence is not a warning. */
static int check_ctags(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    const char *state = "absent: languages without a grammar are not read";

    if (vcm_ctags_works())
        state = "works, for languages without a grammar";
    else if (vcm_ctags_is_there())
        state = "is not universal-ctags with JSON and interactive mode, and is not used";
    vcm_buf_append_string(&doctor->detail, state);
    return report(doctor, name, VCM_FINDING_OK, NULL, err);
}

static int check_libraries(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    vcm_buf_append_format(&doctor->detail, "vcm %s, %s, %s", VCM_VERSION, vcm_kv_library_version(),
                          vcm_git_repo_library_version());
    return report(doctor, name, VCM_FINDING_OK, NULL, err);
}

/* Runs a program that prints its version in one line. */
static int check_program(struct doctor *doctor, const char *name, const char *const *argv,
                         enum vcm_finding_status missing, const char *remedy, struct vcm_error *err)
{
    struct vcm_buf out = VCM_BUF_INIT(PROGRAM_OUTPUT_MAX);
    struct vcm_spawn_result result;
    struct vcm_error failure = {0};
    const struct vcm_spawn_options options = {
        .argv = argv, .timeout_ms = PROGRAM_TIMEOUT_MS, .cancel = doctor->vcm->cancel};

    int rc = vcm_spawn_run(&result, &out, NULL, &options, &failure);
    bool works = rc == VCM_OK && result.exit_status == 0;
    if (works)
        vcm_buf_append(&doctor->detail, vcm_buf_text(&out), strcspn(vcm_buf_text(&out), "\r\n"));
    else if (rc != VCM_OK)
        vcm_buf_append_string(&doctor->detail, failure.message);
    else
        vcm_buf_append_format(&doctor->detail, "'%s %s' failed", argv[0], argv[1]);
    vcm_buf_release(&out);
    if (rc == VCM_INTERRUPTED) {
        *err = failure;
        return rc;
    }
    return report(doctor, name, works ? VCM_FINDING_OK : missing, remedy, err);
}

static int check_git(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    static const char *const argv[] = {"git", "--version", NULL};
    return check_program(doctor, name, argv, VCM_FINDING_ERROR, "install git", err);
}

static int check_git_lfs(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    static const char *const argv[] = {"git-lfs", "version", NULL};
    return check_program(doctor, name, argv, VCM_FINDING_WARNING,
                         "install git-lfs if your repositories keep large files in LFS", err);
}

/* Reads a PDF of one page, because an installed vcm-extract may lack a library. */
static int check_pdf(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    static const char page[] =
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        "2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n"
        "3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R /Resources "
        "<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >> >> >> >>\nendobj\n"
        "4 0 obj\n<< /Length 42 >>\nstream\nBT /F 12 Tf 20 50 Td (vcm reads PDFs) Tj ET\n"
        "endstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";
    const struct vcm_extract_options options = {PROGRAM_TIMEOUT_MS, doctor->vcm->cancel};
    struct vcm_buf program = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_error failure = {0};
    struct vcm_document document;

    vcm_document_init(&document);
    int rc = vcm_extract_find(&program, &failure);
    bool found = rc == VCM_OK;
    if (found)
        rc = vcm_extract_run(&document, vcm_slice_of(page, sizeof page - 1), &options, &failure);
    bool works = rc == VCM_OK && strcmp(vcm_buf_text(&document.text), "vcm reads PDFs\n") == 0;
    if (found)
        vcm_buf_append_slice(&doctor->detail, vcm_buf_slice(&program));
    if (!works)
        vcm_buf_append_format(&doctor->detail, "%s%s", found ? " does not work: " : "",
                              rc == VCM_OK ? "it extracts a wrong text" : failure.message);
    vcm_document_release(&document);
    vcm_buf_release(&program);
    if (rc == VCM_INTERRUPTED) {
        *err = failure;
        return rc;
    }
    return report(
        doctor, name, works ? VCM_FINDING_OK : VCM_FINDING_WARNING,
        "install vcm-extract beside vcm, or set VCM_LIBEXEC to the folder that has it, if "
        "you want to read PDFs",
        err);
}

static int check_home(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    const char *home = doctor->vcm->home;
    struct stat status;

    vcm_buf_append_string(&doctor->detail, home);
    if (stat(home, &status) != 0) {
        bool missing = errno == ENOENT;
        vcm_buf_append_string(&doctor->detail, missing ? " will be created by the first mapping"
                                                       : " cannot be accessed");
        return report(doctor, name, missing ? VCM_FINDING_OK : VCM_FINDING_ERROR,
                      "fix the permissions of the home, or choose another with VCM_HOME", err);
    }
    if (!S_ISDIR(status.st_mode)) {
        vcm_buf_append_string(&doctor->detail, " is not a directory");
        return report(doctor, name, VCM_FINDING_ERROR, "choose another home with VCM_HOME", err);
    }
    if (access(home, R_OK | W_OK | X_OK) != 0) {
        vcm_buf_append_string(&doctor->detail, " cannot be written");
        return report(doctor, name, VCM_FINDING_WARNING,
                      "fix its permissions, or choose another home with VCM_HOME, to map", err);
    }
    if (status.st_mode & 077) {
        vcm_buf_append_format(&doctor->detail, " has mode %04o", status.st_mode & 07777);
        return report(doctor, name, VCM_FINDING_WARNING, "other users can read it; run chmod 700",
                      err);
    }
    vcm_buf_append_string(&doctor->detail, " is private");
    return report(doctor, name, VCM_FINDING_OK, NULL, err);
}

static int check_filesystem(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    struct vcm_error failure = {0};

    if (vcm_path_mount_type(&doctor->detail, doctor->vcm->home, &failure) != VCM_OK) {
        vcm_buf_clear(&doctor->detail);
        vcm_buf_append_string(&doctor->detail, failure.message);
        return report(doctor, name, VCM_FINDING_ERROR, "choose another home with VCM_HOME", err);
    }
    bool network = vcm_path_mount_is_network(vcm_buf_text(&doctor->detail));
    return report(doctor, name, network ? VCM_FINDING_ERROR : VCM_FINDING_OK,
                  "the store needs a local file system; choose another home with VCM_HOME", err);
}

/* The free space where the home is, or will be. */
static int check_space(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct statvfs space;
    bool found = false;

    vcm_buf_append_string(&path, doctor->vcm->home);
    while (!(found = statvfs(vcm_buf_text(&path), &space) == 0) && path.len > 1) {
        const char *slash = strrchr(vcm_buf_text(&path), '/');
        if (!slash)
            break;
        vcm_buf_truncate(&path, slash == path.data ? 1 : (size_t)(slash - path.data));
    }
    vcm_buf_release(&path);
    uint64_t bytes = found ? (uint64_t)space.f_bavail * space.f_frsize : 0;
    vcm_buf_append_format(&doctor->detail, "%llu MiB free", (unsigned long long)(bytes / VCM_MIB));
    return report(doctor, name, bytes < FREE_BYTES_LOW ? VCM_FINDING_WARNING : VCM_FINDING_OK,
                  "free some space, or choose a home on another disk with VCM_HOME", err);
}

static int check_store(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    struct vcm_error failure = {0};
    struct vcm_kv_info info;

    int rc = vcm_handle_open_for_reading(doctor->vcm, &failure);
    if (rc == VCM_OK && !doctor->vcm->store) {
        vcm_buf_append_string(&doctor->detail, "nothing is mapped yet");
        return report(doctor, name, VCM_FINDING_OK, NULL, err);
    }
    if (rc == VCM_OK)
        rc = vcm_page_store_file_info(&info, doctor->vcm->store, &failure);
    if (rc != VCM_OK) {
        vcm_buf_append_string(&doctor->detail, failure.message);
        return report(doctor, name, VCM_FINDING_ERROR, "map into another home, with --home", err);
    }
    vcm_buf_append_format(&doctor->detail, "%u of %u reader slots in use", info.readers_used,
                          info.readers_max);
    bool crowded = info.readers_used > info.readers_max / 2;
    return report(doctor, name, crowded ? VCM_FINDING_WARNING : VCM_FINDING_OK,
                  "end processes that keep the store open", err);
}

static int check_inotify(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(64);
    struct vcm_error ignored = {0};
    uint64_t watches = 0;

    bool known =
        vcm_path_read_file(&text, "/proc/sys/fs/inotify/max_user_watches", 64, &ignored) == VCM_OK;
    vcm_buf_truncate(&text, strcspn(vcm_buf_text(&text), "\n"));
    known = known && vcm_text_parse_uint(&watches, vcm_buf_text(&text));
    vcm_buf_release(&text);
    if (known)
        vcm_buf_append_format(&doctor->detail, "%llu watches", (unsigned long long)watches);
    else
        vcm_buf_append_string(&doctor->detail, "not available");
    return report(doctor, name,
                  watches < INOTIFY_WATCHES_LOW ? VCM_FINDING_WARNING : VCM_FINDING_OK,
                  "raise fs.inotify.max_user_watches with sysctl to follow repositories", err);
}

static int check_address_space(struct doctor *doctor, const char *name, struct vcm_error *err)
{
    struct rlimit limit;
    bool bounded = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;

    if (bounded)
        vcm_buf_append_format(&doctor->detail, "%llu MiB",
                              (unsigned long long)(limit.rlim_cur / VCM_MIB));
    else
        vcm_buf_append_string(&doctor->detail, "unlimited");
    bool low = bounded && limit.rlim_cur < ADDRESS_SPACE_LOW;
    return report(doctor, name, low ? VCM_FINDING_WARNING : VCM_FINDING_OK,
                  "the store is mapped into memory; raise the limit with 'ulimit -v'", err);
}

static const struct {
    const char *name;
    check_fn run;
} checks[] = {
    {"address_space", check_address_space},
    {"ctags", check_ctags},
    {"filesystem", check_filesystem},
    {"free_space", check_space},
    {"git", check_git},
    {"git_lfs", check_git_lfs},
    {"home", check_home},
    {"inotify", check_inotify},
    {"languages", check_languages},
    {"libraries", check_libraries},
    {"pdf", check_pdf},
    {"store", check_store},
};

int vcm_doctor(struct vcm *vcm, vcm_finding_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(visit));
    if (rc != VCM_OK)
        return rc;
    struct doctor doctor = {.vcm = vcm, .visit = visit, .context = context};

    vcm_buf_init(&doctor.detail, 64 * VCM_KIB);
    for (size_t i = 0; rc == VCM_OK && i < sizeof checks / sizeof checks[0]; i++) {
        vcm_buf_clear(&doctor.detail);
        rc = checks[i].run(&doctor, checks[i].name, err);
    }
    vcm_buf_release(&doctor.detail);
    return rc;
}
