/*
 * fuzz_git_url.c - an address that url.c takes can be given to git: nothing in it looks like an
 * option, holds a control character or a password, and taking it again changes nothing.
 */
#include <stdint.h>
#include <string.h>

#include "fuzz/check.h"
#include "git/url.h"

#include "base/banned.h"

#define TEXT_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_taken(const struct vcm_git_url *url)
{
    struct vcm_git_url again;

    FUZZ_CHECK(url->address[0] != '-' && url->address[0] != '\0' && url->host[0] != '-');
    for (const char *p = url->address; *p != '\0'; p++)
        FUZZ_CHECK((unsigned char)*p >= ' ' && *p != 0x7f);
    FUZZ_CHECK(!url->password || url->user);
    FUZZ_CHECK(vcm_git_url_parse(&again, url->address, NULL) == VCM_OK);
    FUZZ_CHECK(again.transport == url->transport && !again.password && !again.user);
    FUZZ_CHECK(strcmp(again.address, url->address) == 0 && strcmp(again.host, url->host) == 0);
    vcm_git_url_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    struct vcm_git_url url;

    size = size < TEXT_MAX ? size : TEXT_MAX;
    memcpy(text, data, size);
    text[size] = '\0';
    if (vcm_git_url_parse(&url, text, NULL) == VCM_OK)
        check_taken(&url);
    vcm_git_url_release(&url);
    return 0;
}
