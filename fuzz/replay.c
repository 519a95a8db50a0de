/*
 * replay.c - runs a fuzzer's entry point over the files of a corpus, for builds without libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

#include "base/banned.h"

#define CORPUS_FILE_MAX ((size_t)64 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *directory, const char *name)
{
    struct vcm_error err = {0};
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf content = VCM_BUF_INIT(CORPUS_FILE_MAX);

    vcm_path_join(&path, directory, name);
    int rc = vcm_path_read_file(&content, vcm_buf_text(&path), CORPUS_FILE_MAX, &err);
    /* As long as it is: a byte more, as buffers have, would hide who reads over the end. */
    uint8_t *bytes = rc == VCM_OK ? malloc(content.len > 0 ? content.len : 1) : NULL;
    if (rc == VCM_OK && !bytes)
        rc = vcm_error_memory(&err);
    if (bytes) {
        memcpy(bytes, vcm_buf_text(&content), content.len);
        LLVMFuzzerTestOneInput(bytes, content.len);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    free(bytes);
    vcm_buf_release(&content);
    vcm_buf_release(&path);
    return rc;
}

int main(int argc, char **argv)
{
    unsigned files = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
        return 2;
    }
    DIR *directory = opendir(argv[1]);
    if (!directory) {
        perror(argv[1]);
        return 1;
    }
    int rc = VCM_OK;
    for (struct dirent *entry; rc == VCM_OK && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        rc = replay_file(argv[1], entry->d_name);
        files++;
    }
    closedir(directory);
    printf("%u files replayed\n", files);
    return rc == VCM_OK && files > 0 ? 0 : 1;
}
