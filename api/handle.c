#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/fault_service.h"
#include "api/handle.h"
#include "api/own_source.h"
#include "api/self_check.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/process.h"

#include "kb/database.h"
#include "base/banned.h"

#define HOME_MODE   0700
#define CLONES_NAME "clones"
#define OPEN_MARK   0x6d637631u
#define CLOSED_MARK 0x64616564u

static int settle_home(struct vcm_buf *home, const char *given, struct vcm_error *err)
{
    const char *variable = getenv("VCM_HOME"), *data = getenv("XDG_DATA_HOME");
    const char *user = getenv("HOME");

    if (given && given[0] == '\0')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "--home needs the name of a directory");
    if (given)
        vcm_buf_append_string(home, given);
    else if (variable && variable[0] != '\0')
        vcm_buf_append_string(home, variable);
    else if (data && data[0] == '/')
        vcm_path_join(home, data, "vcm");
    else if (user && user[0] != '\0')
        vcm_path_join(home, user, ".local/share/vcm");
    else
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "there is no home for the store; set VCM_HOME or use --home DIR");
    return vcm_buf_check(home, "the path of the home", err);
}

int vcm_handle_check(const struct vcm *vcm, struct vcm_error *err)
{
    if (!vcm)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the handle is NULL; open one first");
    if (vcm->mark != OPEN_MARK)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the handle is closed");
    if (vcm->forks != vcm_process_forks())
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the handle was opened by process %ld, before a fork; open one here",
                             (long)vcm->process);
    return VCM_OK;
}

int vcm_open(struct vcm **out, const struct vcm_open_options *options, struct vcm_error *err)
{
    static const struct vcm_open_options defaults = {0};
    struct vcm_buf home = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc =
        vcm_arguments_given((const struct vcm_argument[]){VCM_ARGUMENT(out), {NULL, false}}, err);
    if (rc != VCM_OK)
        return rc;
    *out = NULL;
    if (!options)
        options = &defaults;
    if (options->fault_workers > VCM_LIMIT_WORKERS)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "fault_workers is at most %u",
                           VCM_LIMIT_WORKERS);
    if (rc == VCM_OK)
        rc = settle_home(&home, options->home, err);
    struct vcm *vcm = rc == VCM_OK ? calloc(1, sizeof *vcm) : NULL;
    if (rc == VCM_OK && !vcm)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        vcm->mark = OPEN_MARK;
        vcm->process = getpid();
        vcm->forks = vcm_process_forks();
        vcm->home = vcm_buf_detach(&home);
        vcm->log = options->log;
        vcm_cancel_relay_init(&vcm->relay, options->cancel);
        vcm->cancel = &vcm->relay.flag;
        vcm_registry_init(&vcm->registry);
        rc = vcm_limits_memo_init(&vcm->limits, vcm->home, err);
        if (rc == VCM_OK && options->fault_workers > 0)
            rc = vcm_fault_service_open(&vcm->faults, options, err);
        if (rc == VCM_OK)
            *out = vcm;
        else
            vcm_close(vcm);
    }
    vcm_buf_release(&home);
    return rc;
}

/* The name in the folder of clones, if `path` is that of a clone; else empty. */
static struct vcm_slice clone_name(struct vcm_slice path)
{
    static const char folder[] = "/" CLONES_NAME "/";
    const size_t folder_len = sizeof folder - 1;
    size_t at = path.len;

    while (at > 0 && path.data[at - 1] != '/')
        at--;
    if (at < folder_len || memcmp(path.data + at - folder_len, folder, folder_len) != 0)
        return vcm_slice_of("", 0);
    return vcm_slice_of(path.data + at, path.len - at);
}

int vcm_handle_place(struct vcm_buf *out, const struct vcm *vcm, struct vcm_slice stored,
                     struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_slice name = clone_name(stored);
    char *real = NULL;

    if (name.len > 0) {
        vcm_path_join(&path, vcm->home, CLONES_NAME "/");
        vcm_buf_append_slice(&path, name);
        real = path.fault == VCM_BUF_FINE ? realpath(vcm_buf_text(&path), NULL) : NULL;
    }
    if (real)
        vcm_buf_append_string(out, real);
    else
        vcm_buf_append_slice(out, stored);
    free(real);
    vcm_buf_release(&path);
    return vcm_buf_check(out, "the path of a repository", err);
}

/* Opens the source of a mapped scope to rebuild pages. Rebuilding reads only content that is named
 * by its hash, so the row's filters do not matter. */
static int open_stored_source(void *context, struct vcm_source **out, const struct vcm_scope *scope,
                              struct vcm_error *err)
{
    const struct vcm *vcm = context;
    const struct vcm_source_type *type = NULL;
    char *commit = strndup(scope->commit.data, scope->commit.len);
    char *name = strndup(scope->source_type.data, scope->source_type.len);
    struct vcm_buf extractions = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf repository = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *out = NULL;
    int rc = commit && name ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_handle_place(&repository, vcm, scope->repo_root, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&extractions, vcm, VCM_DATABASE_FILE, err);
    if (rc == VCM_OK)
        rc = vcm_registry_find(&type, &vcm->registry, name, err);
    if (rc == VCM_OK)
        rc = type->open(
            out,
            &(struct vcm_source_request){.type = type,
                                         .repository = vcm_buf_text(&repository),
                                         .commit = commit,
                                         .start_dir = "",
                                         .include_binaries = true,
                                         .chunk_target_tokens = scope->chunk_target_tokens,
                                         .chunk_overlap_tokens = scope->chunk_overlap_tokens,
                                         .extractions = vcm_buf_text(&extractions),
                                         .cancel = vcm->cancel},
            err);
    vcm_buf_release(&extractions);
    vcm_buf_release(&repository);
    free(commit);
    free(name);
    return rc;
}

void vcm_handle_close_store(struct vcm *vcm)
{
    vcm_page_cache_close(vcm->cache);
    vcm_self_check(vcm);
    vcm_page_store_close(vcm->store);
    vcm->cache = NULL;
    vcm->store = NULL;
}

void vcm_close(struct vcm *vcm)
{
    if (!vcm)
        return;
    assert(vcm->mark == OPEN_MARK && "given back twice");
    vcm_fault_service_close(vcm->faults);
    if (vcm->forks == vcm_process_forks())
        vcm_handle_close_store(vcm); /* in a forked child the store belongs to the parent */
    *(volatile uint32_t *)&vcm->mark =
        CLOSED_MARK; /* so that a later use of the closed handle is detected */
    vcm_config_release(&vcm->config);
    vcm_limits_memo_release(&vcm->limits);
    vcm_own_source_free_all(vcm->own_sources);
    free(vcm->credentials);
    vcm_arena_release(&vcm->credential_texts);
    free(vcm->clones_directory);
    free(vcm->home);
    free(vcm);
}

const struct vcm_cancel *vcm_set_cancel(struct vcm *vcm, const struct vcm_cancel *cancel)
{
    return vcm_handle_check(vcm, NULL) == VCM_OK ? vcm_cancel_relay_set(&vcm->relay, cancel) : NULL;
}

const char *vcm_home(const struct vcm *vcm)
{
    return vcm_handle_check(vcm, NULL) == VCM_OK ? vcm->home : NULL;
}

int vcm_handle_register_source_type(struct vcm *vcm, const struct vcm_source_type *type,
                                    struct vcm_error *err)
{
    int rc = vcm_handle_check(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_registry_add(&vcm->registry, type, err);
    if (rc == VCM_OK && vcm->faults)
        vcm_fault_service_set_sources(vcm->faults, &vcm->registry);
    return rc;
}

int vcm_handle_path(struct vcm_buf *out, const struct vcm *vcm, const char *name,
                    struct vcm_error *err)
{
    vcm_path_join(out, vcm->home, name);
    return vcm_buf_check(out, "the path of the home", err);
}

int vcm_handle_look_at_home(bool *exists, const struct vcm *vcm, struct vcm_error *err)
{
    struct stat status;

    *exists = false;
    int rc = vcm_handle_check(vcm, err);
    if (rc != VCM_OK)
        return rc;
    *exists = stat(vcm->home, &status) == 0;
    if (!*exists && errno != ENOENT)
        return vcm_error_sys(
            err, VCM_IO_ERROR, errno,
            "cannot access the home '%s'; fix its permissions or choose another with --home",
            vcm->home);
    if (*exists && !S_ISDIR(status.st_mode))
        return vcm_error_set(err, VCM_IO_ERROR, "the home '%s' is not a directory", vcm->home);
    if (*exists && access(vcm->home, R_OK | X_OK) != 0)
        return vcm_error_sys(
            err, VCM_IO_ERROR, errno,
            "cannot read the home '%s'; fix its permissions or choose another with --home",
            vcm->home);
    return VCM_OK;
}

int vcm_handle_load_config(struct vcm_config *out, const struct vcm *vcm, struct vcm_error *err)
{
    bool exists = false;

    *out = (struct vcm_config){.settings = NULL};
    int rc = vcm_handle_look_at_home(&exists, vcm, err);
    return rc == VCM_OK ? vcm_config_load(out, vcm->limits.path, err) : rc;
}

int vcm_handle_config(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_config_file now;
    struct vcm_config config;

    int rc = vcm_handle_check(vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_config_look(&now, vcm->limits.path);
    if (vcm->config_loaded && vcm_config_is_same(&vcm->config_file, &now))
        return VCM_OK;
    rc = vcm_handle_load_config(&config, vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_config_release(&vcm->config);
    vcm->config = config;
    vcm->config_file = now;
    vcm->config_loaded = true;
    vcm_cancel_relay_set_entries(&vcm->relay, vcm_config_number(&config, "walk.max_entries"));
    return VCM_OK;
}

int vcm_handle_config_once(struct vcm *vcm, struct vcm_error *err)
{
    int rc = vcm_handle_check(vcm, err);
    return rc != VCM_OK || vcm->config_loaded ? rc : vcm_handle_config(vcm, err);
}

/* On a network file system neither memory maps nor locks are coherent between machines. */
static int refuse_network(const char *path, struct vcm_error *err)
{
    struct vcm_buf type = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = vcm_path_mount_type(&type, path, err);
    if (rc == VCM_OK && vcm_path_mount_is_network(vcm_buf_text(&type)))
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "the home '%s' is on a network file system (%s), where the store would "
                           "not be safe; choose a local directory with --home or VCM_HOME",
                           path, vcm_buf_text(&type));
    vcm_buf_release(&type);
    return rc;
}

int vcm_handle_make_home(struct vcm *vcm, struct vcm_error *err)
{
    int rc = refuse_network(vcm->home, err);
    if (rc == VCM_OK)
        rc = vcm_path_make_directories(vcm->home, HOME_MODE, err);
    return vcm_error_wrap(err, rc, "home");
}

static int open_store(struct vcm *vcm, bool writable, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_page_store_limits limits = {0};
    struct vcm_error unread = {0};

    /* Without a readable configuration the store can still be read, but no page becomes resident.
     */
    int rc = vcm_limits_memo_read(&vcm->limits, &limits, writable ? err : &unread);
    if (!writable)
        rc = VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_handle_path(&path, vcm, VCM_HANDLE_STORE, err);
    if (rc == VCM_OK && writable)
        rc = vcm_handle_make_home(vcm, err);
    if (rc == VCM_OK && writable)
        rc = vcm_path_make_directories(vcm_buf_text(&path), HOME_MODE, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_open(&vcm->store,
                                 &(struct vcm_page_store_options){
                                     .directory = vcm_buf_text(&path),
                                     .read_only = !writable,
                                     .limits = &limits,
                                     .read_limits = vcm_limits_memo_read,
                                     .read_limits_context = &vcm->limits,
                                     .log = vcm->log,
                                 },
                                 err);
    if (rc == VCM_OK)
        vcm_page_store_set_sources(vcm->store, open_stored_source, vcm);
    if (rc == VCM_OK)
        rc = vcm_page_cache_open(&vcm->cache, vcm->store, err);
    if (rc != VCM_OK)
        vcm_handle_close_store(vcm);
    vcm->store_writable = rc == VCM_OK && writable;
    vcm_buf_release(&path);
    return rc;
}

int vcm_handle_open_for_reading(struct vcm *vcm, struct vcm_error *err)
{
    bool exists = false;

    int rc = vcm_handle_check(vcm, err);
    if (rc != VCM_OK || vcm->store)
        return rc;
    rc = vcm_handle_look_at_home(&exists, vcm, err);
    if (rc == VCM_OK && exists)
        rc = refuse_network(vcm->home, err);
    if (rc != VCM_OK || !exists)
        return rc;
    struct vcm_error found = {0};
    rc = open_store(vcm, false, &found);
    if (rc == VCM_UNSUPPORTED) { /* perhaps an older format, which a writer converts */
        struct vcm_error again = {0};
        rc = open_store(vcm, true, &again);
        if (rc == VCM_OK)
            return VCM_OK;
        rc = VCM_UNSUPPORTED;
    }
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = found;
    return vcm_damage_note(vcm, rc, &found);
}

int vcm_handle_open_for_change(struct vcm *vcm, struct vcm_error *err)
{
    int rc = vcm_handle_check(vcm, err);
    if (rc == VCM_OK && !vcm->store)
        rc = vcm_verify_after_death(vcm, err);
    return rc == VCM_OK ? vcm_handle_open_for_reading(vcm, err) : rc;
}

int vcm_handle_open_for_writing(struct vcm *vcm, struct vcm_error *err)
{
    bool exists = false;

    int rc = vcm_handle_check(vcm, err);
    if (rc != VCM_OK || (vcm->store && vcm->store_writable))
        return rc;
    vcm_handle_close_store(vcm);
    rc = vcm_handle_look_at_home(&exists, vcm, err);
    if (rc == VCM_OK && exists)
        rc = vcm_verify_after_death(vcm, err);
    return rc == VCM_OK ? open_store(vcm, true, err) : rc;
}

void vcm_handle_plan_defaults(struct vcm_plan_request *request, struct vcm *vcm)
{
    for (unsigned i = 0; i < vcm->registry.count; i++)
        vcm->type_names[i] = vcm->registry.types[i]->name;
    vcm->types = (struct vcm_repo_map_types){vcm->type_names, vcm->registry.count};
    request->types = &vcm->types;
    request->defaults = (struct vcm_plan_config){
        .flush_threshold = (uint32_t)vcm_config_number(&vcm->config, "mmap.flush_threshold"),
        .flush_token_budget = (uint32_t)vcm_config_number(&vcm->config, "mmap.flush_token_budget"),
        .pinned = vcm_config_flag(&vcm->config, "mmap.pinned"),
    };
}

/* Copies credentials.<pattern> of the configuration, because a fetch may outlive the loaded
 * configuration. */
static int list_credentials(struct vcm *vcm, struct vcm_error *err)
{
    size_t prefix = strlen(VCM_CONFIG_CREDENTIALS);
    unsigned count = 0;

    for (const struct vcm_config_setting *s = vcm->config.settings; s; s = s->next)
        count++;
    free(vcm->credentials);
    vcm_arena_release(&vcm->credential_texts);
    vcm_arena_init(&vcm->credential_texts, VCM_MIB);
    vcm->clones.credential_count = 0;
    vcm->clones.credentials = vcm->credentials = calloc(count + 1, sizeof *vcm->credentials);
    if (!vcm->credentials)
        return vcm_error_memory(err);
    for (const struct vcm_config_setting *s = vcm->config.settings; s; s = s->next) {
        if (strncmp(s->name, VCM_CONFIG_CREDENTIALS, prefix) != 0)
            continue;
        const char *pattern =
            vcm_arena_copy(&vcm->credential_texts, vcm_slice_of_string(s->name + prefix));
        const char *name = vcm_arena_copy(&vcm->credential_texts, vcm_slice_of_string(s->value));
        if (!pattern || !name)
            return vcm_error_memory(err);
        vcm->credentials[vcm->clones.credential_count++] =
            (struct vcm_git_credential){pattern, name};
    }
    return VCM_OK;
}

int vcm_handle_clones(struct vcm_plan_request *request, struct vcm *vcm, unsigned timeout_ms,
                      struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = list_credentials(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&path, vcm, CLONES_NAME, err);
    if (rc == VCM_OK) {
        free(vcm->clones_directory);
        vcm->clones_directory = vcm_buf_detach(&path);
        vcm->clones.directory = vcm->clones_directory;
        vcm->clones.timeout_ms = timeout_ms;
        vcm->clones.memory_max = (size_t)vcm_config_number(&vcm->config, "fetch.max_memory");
        vcm->clones.bytes_max = vcm_config_number(&vcm->config, "fetch.max_bytes");
        vcm->clones.cancel = vcm->cancel;
        vcm->clones.log = vcm->log;
        request->clones = &vcm->clones;
    }
    vcm_buf_release(&path);
    return rc;
}
