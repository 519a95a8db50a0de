#include "kb/extract_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "kb/extract_pdf.h"

#include "base/banned.h"

/* Sanitizers reserve terabytes of address space. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if !defined(IS_SANITIZED)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#endif

static bool limit(__rlimit_resource_t resource, size_t most)
{
    struct rlimit value;

    if (getrlimit(resource, &value) != 0)
        value.rlim_max = value.rlim_cur = RLIM_INFINITY;
    value.rlim_max = value.rlim_max < most ? value.rlim_max : most;
    value.rlim_cur = value.rlim_cur < most ? value.rlim_cur : most;
    return setrlimit(resource, &value) == 0;
}

static bool limit_resources(size_t input_bytes)
{
    return limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NOFILE, 32) && limit(RLIMIT_CORE, 0) &&
           limit(RLIMIT_CPU, vcm_extract_pdf_cpu_seconds(input_bytes)) &&
           (IS_SANITIZED || limit(RLIMIT_AS, VCM_LIMIT_EXTRACT_MEMORY_BYTES + input_bytes));
}

/* Files can be read only where packages install them; none can be written. */
static bool restrict_files(void)
{
    static const char *const readable[] = {"/usr", "/lib", "/lib64", "/etc/fonts"};
    struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                             LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                             LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                             LANDLOCK_ACCESS_FS_MAKE_SYM,
    };
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);

    bool done = ruleset >= 0;
    for (size_t i = 0; done && i < sizeof readable / sizeof readable[0]; i++) {
        struct landlock_path_beneath_attr beneath = {
            .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
            .parent_fd = open(readable[i], O_PATH | O_CLOEXEC),
        };
        if (beneath.parent_fd < 0)
            continue;
        done =
            syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
        close(beneath.parent_fd);
    }
    done = done && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    if (ruleset >= 0)
        close(ruleset);
    return done;
}

static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(statx),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(fcntl),
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getrandom),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_yield),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall),
};

/* All other system calls fail with EPERM: libraries handle that better than being killed. */
static bool restrict_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    if (!filter)
        return false;
    int failed = 0;
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    failed |=
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                         SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
    failed |=
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
                         SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
    /* abort() signals the process itself. */
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                               SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    failed |= seccomp_load(filter);
    seccomp_release(filter);
    return failed == 0;
}

int vcm_extract_sandbox_enter(size_t input_bytes, bool partial, struct vcm_error *err)
{
    const char *missing = NULL;

    prctl(PR_SET_DUMPABLE, 0);
    if (!limit_resources(input_bytes))
        missing = "limits of resources";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        missing = "no_new_privs";
    if (!restrict_files())
        missing = "landlock";
    if (!restrict_calls())
        missing = "seccomp";
    if (!missing || partial)
        return VCM_OK;
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "this system has no %s, which the sandbox for PDFs needs; set "
                         "VCM_EXTRACT_SANDBOX=partial to read them without it",
                         missing);
}
