/*
 * manifest.h - .colony/manifest.json: the owner of a repository, and how it stores large files.
 *
 * Reading is strict: an unknown key, a wrong type or a newer schema is an error that names line and
 * column, and the file is left alone. lfs.mode is the only setting that decides about LFS
 * (lfs/filters.h). A manifest owns its memory; release it. Nothing here writes a file.
 */
#ifndef VCM_LFS_MANIFEST_H
#define VCM_LFS_MANIFEST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

#define VCM_MANIFEST_PATH           ".colony/manifest.json"
#define VCM_MANIFEST_SCHEMA_VERSION 1

enum vcm_manifest_topology {
    VCM_MANIFEST_EXTERNAL,
    VCM_MANIFEST_SELF_HOSTED_GITEA,
    VCM_MANIFEST_AIR_GAPPED,
};

enum vcm_manifest_lfs_mode {
    VCM_MANIFEST_LFS_SAME_REMOTE, /* content is stored at the remote of the commits */
    VCM_MANIFEST_LFS_SEPARATE,    /* content is stored at separate_url */
    VCM_MANIFEST_LFS_DISABLED,
};

struct vcm_manifest_lfs {
    enum vcm_manifest_lfs_mode mode;
    const char *separate_url;    /* NULL unless set; never NULL for VCM_MANIFEST_LFS_SEPARATE */
    const char *credentials_ref; /* NULL for none */
};

struct vcm_manifest_webhook {
    bool enabled;
    const char *endpoint;   /* NULL for none */
    const char *secret_ref; /* NULL for none */
};

struct vcm_manifest_import {
    const char *name;
    const char *url;
    const char *ref;
    const char *scope;
    bool writable;
    struct vcm_manifest_import *next;
};

struct vcm_manifest {
    struct vcm_arena arena;
    int schema_version;
    const char *tenant;
    const char *colony;
    const char *program;
    const char *target_system;
    const char *design_repo_url;
    enum vcm_manifest_topology topology;
    const char *credentials_ref; /* NULL for none */
    struct vcm_manifest_import *imports_tooling_from;
    struct vcm_manifest_lfs lfs;
    struct vcm_manifest_webhook webhook;
    const char *default_branch;
    const char *agent_email_domain;
};

/* The defaults of every key; the required ones are "". Its strings are constants until they are
 * set. */
void vcm_manifest_init(struct vcm_manifest *manifest);
void vcm_manifest_release(struct vcm_manifest *manifest);

/* Reads a manifest. `path` names it in messages. INVALID_ARGUMENT with line and column; UNSUPPORTED
 * for a newer schema. Release the manifest also after a failure. */
int vcm_manifest_parse(struct vcm_manifest *out, struct vcm_slice text, const char *path,
                       struct vcm_error *err);

/* Reads the manifest of a working tree, never through a symbolic link. NOT_FOUND without one. */
int vcm_manifest_load(struct vcm_manifest *out, const char *root, struct vcm_error *err);

/* Appends the file: keys sorted, two spaces a level, a line break at the end. */
int vcm_manifest_format(struct vcm_buf *out, const struct vcm_manifest *manifest,
                        struct vcm_error *err);

/* Appends `text`, a valid manifest whose lfs.mode is "disabled", with that value replaced by
 * "same_remote" and all other bytes unchanged. */
int vcm_manifest_enable_lfs(struct vcm_buf *out, struct vcm_slice text, struct vcm_error *err);

#endif
