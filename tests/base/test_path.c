#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"

#include "base/banned.h"

/* Every test runs in a fresh directory, which is the working directory meanwhile. */
static char scratch[64];

static int enter_scratch(void **state)
{
    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/vcm-path-XXXXXX");
    return mkdtemp(scratch) && chdir(scratch) == 0 ? 0 : -1;
}

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    struct vcm_buf child = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        vcm_buf_clear(&child);
        vcm_path_join(&child, path, entry->d_name);
        if (entry->d_type == DT_DIR)
            remove_tree(vcm_buf_text(&child));
        else
            unlink(vcm_buf_text(&child));
    }
    if (directory)
        closedir(directory);
    vcm_buf_release(&child);
    rmdir(path);
}

static int leave_scratch(void **state)
{
    (void)state;
    if (chdir("/") != 0)
        return -1;
    remove_tree(scratch);
    return 0;
}

static unsigned entries_of(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static void put(const char *path, const char *text)
{
    struct vcm_error err = {0};
    assert_int_equal(vcm_path_write_file(path, vcm_slice_of_string(text), 0644, &err), VCM_OK);
}

static void relative_paths_are_accepted(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "a/b", "a/", "..a/b..", ".git", "a-b", "\xff", "a/-b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(vcm_path_check_relative("p", vcm_slice_of_string(good[i]), NULL), VCM_OK);
}

static void other_paths_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "/",    "/a",   ".",     "..",    "../a",
                                      "a/../b", "a/..", "a//b", "a//",   "./a",   "a/.",
                                      "-a",     "a\nb", "a\rb", "a/./b", "a/b/.."};
    struct vcm_error err = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(vcm_path_check_relative("p", vcm_slice_of_string(bad[i]), NULL),
                         VCM_INVALID_ARGUMENT);
    assert_int_equal(vcm_path_check_relative("p", vcm_slice_of("a\0b", 3), NULL),
                     VCM_INVALID_ARGUMENT);
    char longest[VCM_LIMIT_PATH_BYTES + 1];
    memset(longest, 'a', sizeof longest);
    assert_int_equal(vcm_path_check_relative("p", vcm_slice_of(longest, sizeof longest - 1), NULL),
                     VCM_OK);
    assert_int_equal(vcm_path_check_relative("p", vcm_slice_of(longest, sizeof longest), NULL),
                     VCM_INVALID_ARGUMENT);
    vcm_path_check_relative("start_dir", vcm_slice_of_string("../x"), &err);
    assert_string_equal(err.message, "start_dir '../x' has a '.' or '..' part");
}

struct opening {
    const char *path;
    int flags;
    int code; /* VCM_OK: must open */
};

static const struct opening openings[] = {
    {"file", O_RDONLY, VCM_OK},
    {"dir/file", O_RDONLY, VCM_OK},
    {"dir//file", O_RDONLY, VCM_OK},
    {"dir/", O_RDONLY, VCM_OK},
    {"./dir/./file", O_RDONLY, VCM_OK},
    {".", O_RDONLY | O_DIRECTORY, VCM_OK},
    {"dir/made", O_RDWR | O_CREAT, VCM_OK},
    {"dir/made", O_RDWR | O_CREAT | O_EXCL, VCM_IO_ERROR},
    {"", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"/etc/passwd", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"..", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"dir/../file", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"dir/../../outside", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"link", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"link", O_PATH, VCM_INVALID_ARGUMENT},
    {"link", O_PATH | O_NOFOLLOW, VCM_INVALID_ARGUMENT},
    {"dangling", O_RDWR | O_CREAT, VCM_INVALID_ARGUMENT},
    {"up/outside", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"inner/file", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"inner/", O_RDONLY, VCM_INVALID_ARGUMENT},
    {"missing", O_RDONLY, VCM_NOT_FOUND},
    {"missing/file", O_RDONLY, VCM_NOT_FOUND},
    {"file/x", O_RDONLY, VCM_NOT_FOUND},
    {"file/", O_RDONLY, VCM_NOT_FOUND},
};

static int make_opening_tree(void)
{
    put("outside", "secret");
    mkdir("root", 0755);
    mkdir("root/dir", 0755);
    put("root/file", "x");
    put("root/dir/file", "x");
    assert_int_equal(symlink("file", "root/link"), 0);
    assert_int_equal(symlink("nowhere", "root/dangling"), 0);
    assert_int_equal(symlink("..", "root/up"), 0);
    assert_int_equal(symlink("dir", "root/inner"), 0);
    int root = open("root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0);
    return root;
}

/* The first opening that did not answer as it should, or NULL. No assertions: runs in a thread. */
static const char *try_openings(int root)
{
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        struct vcm_error err = {0};
        int fd = vcm_path_open_beneath(root, openings[i].path, openings[i].flags, &err);
        bool closes = fd < 0 || (fcntl(fd, F_GETFD) & FD_CLOEXEC);
        if (fd >= 0)
            close(fd);
        if ((int)err.code != openings[i].code || (fd >= 0) != (err.code == VCM_OK) || !closes)
            return openings[i].path[0] ? openings[i].path : "(empty)";
    }
    return NULL;
}

static void opening_never_leaves_the_directory_nor_follows_links(void **state)
{
    (void)state;
    int root = make_opening_tree();
    const char *wrong = try_openings(root);
    close(root);
    if (wrong)
        fail_msg("%s", wrong);
}

/* Makes openat2 fail with the errno `answer` in this thread, as an older kernel would. */
static int forbid_openat2(unsigned answer)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

struct without_openat2 {
    int root;
    unsigned answer;
    bool skipped;
    const char *wrong;
};

static void *open_without_openat2(void *context)
{
    struct without_openat2 *run = context;
    if (forbid_openat2(run->answer) != 0) {
        run->skipped = true;
        return NULL;
    }
    bool let_through = syscall(SYS_openat2, run->root, ".", NULL, (size_t)0) >= 0;
    /* valgrind answers for itself and does not ask the filter. */
    run->skipped = !let_through && errno != (int)run->answer;
    if (let_through)
        run->wrong = "the filter";
    else if (!run->skipped)
        run->wrong = try_openings(run->root);
    return NULL;
}

static void the_same_holds_on_a_kernel_without_openat2(void **state)
{
    (void)state;
    static const unsigned answers[] = {ENOSYS, EPERM};
    int root = make_opening_tree();

    for (size_t i = 0; i < 2; i++) {
        struct without_openat2 run = {root, answers[i], false, NULL};
        pthread_t thread;
        unlink("root/dir/made");
        assert_int_equal(pthread_create(&thread, NULL, open_without_openat2, &run), 0);
        pthread_join(thread, NULL);
        if (run.wrong)
            fail_msg("%s", run.wrong);
        if (run.skipped) {
            close(root);
            skip();
        }
    }
    close(root);
}

static void check_join(const char *a, const char *b, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(64);
    vcm_path_join(&out, a, b);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void joining_puts_one_slash(void **state)
{
    (void)state;
    check_join("a", "b", "a/b");
    check_join("a/", "b", "a/b");
    check_join("/", "b", "/b");
    check_join("", "b", "b");
}

static void check_base_name(const char *path, const char *expected)
{
    struct vcm_slice name = vcm_path_base_name(vcm_slice_of_string(path));
    assert_true(vcm_slice_equal(name, vcm_slice_of_string(expected)));
}

static void a_plain_file_is_read_through_no_link(void **state)
{
    struct vcm_buf out = VCM_BUF_INIT(100), path = VCM_BUF_INIT(8192);
    char *here = realpath(".", NULL);

    (void)state;
    assert_non_null(here);
    assert_int_equal(mkdir("plain", 0700), 0);
    assert_int_equal(vcm_path_write_file("plain/f", vcm_slice_of_string("words"), 0600, NULL), 0);
    assert_int_equal(symlink("plain", "plain-link"), 0);
    assert_int_equal(symlink("f", "plain/link"), 0);
    static const struct {
        const char *name;
        int rc;
    } cases[] = {
        {"plain/f", VCM_OK},
        {"plain/link", VCM_INVALID_ARGUMENT},
        {"plain-link/f", VCM_INVALID_ARGUMENT},
        {"plain", VCM_UNSUPPORTED},
        {"plain/none", VCM_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vcm_buf_clear(&path);
        vcm_path_join(&path, here, cases[i].name);
        assert_int_equal(vcm_path_read_plain(&out, vcm_buf_text(&path), 100, NULL), cases[i].rc);
    }
    assert_string_equal(vcm_buf_text(&out), "words");
    vcm_buf_release(&path);
    vcm_buf_release(&out);
    free(here);
}

static void the_base_name_is_the_last_part(void **state)
{
    (void)state;
    check_base_name("a", "a");
    check_base_name("a/b", "b");
    check_base_name("a/b//", "b");
    check_base_name("/a", "a");
    check_base_name("/", "/");
    check_base_name("///", "/");
    check_base_name("", "");
}

static void directories_are_made_with_those_above_them(void **state)
{
    (void)state;
    struct stat status;
    struct vcm_error err = {0};

    assert_int_equal(vcm_path_make_directories("a/b//c/", 0700, &err), VCM_OK);
    assert_int_equal(stat("a/b/c", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(vcm_path_make_directories("a/b/c", 0700, &err), VCM_OK);
    assert_int_equal(vcm_path_make_directories("/", 0700, &err), VCM_OK);
    put("a/file", "");
    assert_int_equal(vcm_path_make_directories("a/file/x", 0700, &err), VCM_IO_ERROR);
    assert_int_equal(err.sys_errno, ENOTDIR);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf out = VCM_BUF_INIT(1 << 20), content = VCM_BUF_INIT(1 << 20);
    struct stat status;

    for (unsigned i = 0; i < 200000; i++)
        vcm_buf_append_byte(&content, (char)i);
    umask(022);
    assert_int_equal(vcm_path_write_file("f", vcm_buf_slice(&content), 0600, &err), VCM_OK);
    assert_int_equal(stat("f", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(vcm_path_read_file(&out, "f", content.len, &err), VCM_OK);
    assert_true(vcm_slice_equal(vcm_buf_slice(&out), vcm_buf_slice(&content)));
    assert_int_equal(vcm_path_read_file(&out, "f", content.len - 1, &err), VCM_UNSUPPORTED);
    assert_int_equal(out.len, content.len);
    assert_int_equal(entries_of("."), 1);
    vcm_buf_release(&out);
    vcm_buf_release(&content);
}

static void a_file_may_fill_its_buffer_but_not_more(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf out = VCM_BUF_INIT(4);

    put("f", "abcd");
    assert_int_equal(vcm_path_read_file(&out, "f", 100, &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "abcd");
    assert_int_equal(vcm_path_read_file(&out, "f", 100, &err), VCM_UNSUPPORTED);
    assert_string_equal(vcm_buf_text(&out), "abcd");
    vcm_buf_release(&out);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    struct vcm_buf out = VCM_BUF_INIT(4096);

    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(vcm_path_read_file(&out, "fifo", 100, NULL), VCM_UNSUPPORTED);
    assert_int_equal(vcm_path_read_file(&out, "dir", 100, NULL), VCM_UNSUPPORTED);
    assert_int_equal(vcm_path_read_file(&out, "none", 100, NULL), VCM_NOT_FOUND);
    assert_int_equal(vcm_path_read_file(&out, "none/x", 100, NULL), VCM_NOT_FOUND);
    /* A file that claims to be empty and is not. */
    assert_int_equal(vcm_path_read_file(&out, "/proc/self/stat", 4096, NULL), VCM_OK);
    assert_true(out.len > 10);
    vcm_buf_release(&out);
}

static void writing_replaces_a_link_and_leaves_its_target(void **state)
{
    (void)state;
    struct vcm_buf out = VCM_BUF_INIT(64);
    struct stat status;

    put("target", "old");
    assert_int_equal(symlink("target", "link"), 0);
    put("link", "new");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(vcm_path_read_file(&out, "target", 64, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "old");
    vcm_buf_release(&out);
}

static void replacing_gives_the_new_content_and_leaves_nothing_else(void **state)
{
    (void)state;
    struct vcm_buf out = VCM_BUF_INIT(64);

    assert_int_equal(vcm_path_make_directories("d", 0700, NULL), VCM_OK);
    put("d/f", "old");
    assert_int_equal(vcm_path_replace_file("d/f", vcm_slice_of_string("new"), 0600, NULL), VCM_OK);
    assert_int_equal(vcm_path_read_file(&out, "d/f", 64, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "new");
    assert_int_equal(entries_of("d"), 1);
    vcm_buf_release(&out);
}

static void a_failed_write_leaves_no_temporary_file(void **state)
{
    (void)state;
    struct vcm_error err = {0};

    /* The rename fails: a directory is in the way. */
    assert_int_equal(vcm_path_make_directories("d/target/full", 0700, &err), VCM_OK);
    assert_int_equal(vcm_path_write_file("d/target", vcm_slice_of_string("x"), 0600, &err),
                     VCM_IO_ERROR);
    assert_int_equal(entries_of("d"), 1);
    assert_int_equal(vcm_path_write_file("none/f", vcm_slice_of_string("x"), 0600, NULL),
                     VCM_NOT_FOUND);
    assert_int_equal(vcm_path_write_file("d/", vcm_slice_of_string("x"), 0600, NULL),
                     VCM_INVALID_ARGUMENT);
    assert_int_equal(vcm_path_write_file("..", vcm_slice_of_string("x"), 0600, NULL),
                     VCM_INVALID_ARGUMENT);
}

static const char mounts[] =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:21 / /proc rw - proc proc rw\n"
    "30 22 0:40 / /mnt/a\\040b rw,noatime master:1 shared:7 - nfs4 host:/x rw\n"
    "31 22 0:41 / /mnt/back\\134slash rw - fuse.sshfs host: rw\n"
    "32 22 0:42 / /home rw - autofs auto rw\n"
    "33 32 0:43 / /home rw - cifs //h/s rw\n"
    "garbage\n"
    "34 22 0:44 / /srv rw - xfs /dev/sdb rw";

static void check_mount(const char *path, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(64);
    assert_int_equal(
        vcm_path_mount_type_in(&out, vcm_slice_of(mounts, sizeof mounts - 1), path, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void the_innermost_and_latest_mount_holds_a_path(void **state)
{
    (void)state;
    struct vcm_buf out = VCM_BUF_INIT(64);

    check_mount("/", "ext4");
    check_mount("/procfs", "ext4");
    check_mount("/proc/self", "proc");
    check_mount("/mnt/a b/c", "nfs4");
    check_mount("/mnt/a", "ext4");
    check_mount("/mnt/back\\slash", "fuse.sshfs");
    check_mount("/home/me", "cifs");
    check_mount("/srv", "xfs");
    assert_int_equal(vcm_path_mount_type_in(&out, vcm_slice_of(NULL, 0), "/", NULL), VCM_NOT_FOUND);
    vcm_buf_release(&out);
}

static void a_path_that_does_not_exist_counts_as_its_parent(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf here = VCM_BUF_INIT(64), there = VCM_BUF_INIT(64), proc = VCM_BUF_INIT(64);

    assert_int_equal(vcm_path_mount_type(&here, scratch, &err), VCM_OK);
    assert_true(here.len > 0);
    assert_int_equal(vcm_path_mount_type(&there, "not/there//yet/", &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&here), vcm_buf_text(&there));
    assert_int_equal(vcm_path_mount_type(&proc, "/proc/self/status", &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&proc), "proc");
    vcm_buf_release(&here);
    vcm_buf_release(&there);
    vcm_buf_release(&proc);
}

static void network_file_systems_are_known_by_type(void **state)
{
    (void)state;
    static const char *const network[] = {"nfs",
                                          "nfs4",
                                          "cifs",
                                          "smb3",
                                          "smbfs",
                                          "9p",
                                          "afs",
                                          "ceph",
                                          "lustre",
                                          "glusterfs",
                                          "ncpfs",
                                          "coda",
                                          "ocfs2",
                                          "gfs2",
                                          "beegfs",
                                          "orangefs",
                                          "pvfs2",
                                          "fuse.sshfs",
                                          "fuse.s3fs",
                                          "fuse.goofys",
                                          "fuse.rclone",
                                          "fuse.glusterfs",
                                          "fuse.gcsfuse",
                                          "fuse.davfs",
                                          "fuse.curlftpfs",
                                          "fuse.juicefs",
                                          "fuse.cephfs"};
    static const char *const local[] = {"ext4",        "xfs",      "btrfs", "tmpfs",
                                        "overlay",     "",         "zfs",   "fuseblk",
                                        "fuse.bindfs", "virtiofs", "fuse",  "nf"};

    for (size_t i = 0; i < sizeof network / sizeof network[0]; i++)
        if (!vcm_path_mount_is_network(network[i]))
            fail_msg("%s", network[i]);
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (vcm_path_mount_is_network(local[i]))
            fail_msg("%s", local[i]);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter_scratch, leave_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_paths_are_accepted),
        cmocka_unit_test(other_paths_are_refused_by_name),
        IN_SCRATCH(opening_never_leaves_the_directory_nor_follows_links),
        IN_SCRATCH(the_same_holds_on_a_kernel_without_openat2),
        cmocka_unit_test(joining_puts_one_slash),
        cmocka_unit_test(the_base_name_is_the_last_part),
        IN_SCRATCH(a_plain_file_is_read_through_no_link),
        IN_SCRATCH(directories_are_made_with_those_above_them),
        IN_SCRATCH(what_was_written_is_read),
        IN_SCRATCH(a_file_may_fill_its_buffer_but_not_more),
        IN_SCRATCH(only_regular_files_are_read),
        IN_SCRATCH(writing_replaces_a_link_and_leaves_its_target),
        IN_SCRATCH(replacing_gives_the_new_content_and_leaves_nothing_else),
        IN_SCRATCH(a_failed_write_leaves_no_temporary_file),
        cmocka_unit_test(the_innermost_and_latest_mount_holds_a_path),
        IN_SCRATCH(a_path_that_does_not_exist_counts_as_its_parent),
        cmocka_unit_test(network_file_systems_are_known_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
