/* Requests of HTTP: however the bytes are divided, the same requests come out, or the same refusal.
 */
#include <stdint.h>

#include "fuzz/check.h"
#include "serve/http_parse.h"

#include "base/banned.h"

#define BODY_MAX ((size_t)4096)

struct outcome {
    unsigned requests, headers;
    size_t body_bytes;
    int status;
};

static void feed(struct outcome *out, struct vcm_slice text, size_t step)
{
    struct vcm_http_parse *parse = vcm_http_parse_open(BODY_MAX);
    struct vcm_http_request request;
    size_t from = 0, end = 0;
    const char *why = "";

    FUZZ_CHECK(parse);
    while (out->status == 0 && from < text.len) {
        size_t used = 0;
        end = end < text.len - step ? end + step : text.len;
        enum vcm_http_parse_state state =
            vcm_http_parse_feed(parse, vcm_slice_of(text.data + from, end - from), &used);
        FUZZ_CHECK(used <= end - from);
        from += used;
        if (state == VCM_HTTP_PARSE_REFUSED) {
            out->status = vcm_http_parse_status(parse, &why);
            FUZZ_CHECK(out->status >= 400 && why[0] != '\0');
        } else if (state == VCM_HTTP_PARSE_DONE) {
            vcm_http_parse_take(&request, parse);
            FUZZ_CHECK(request.path[0] == '/' && vcm_http_parse_header(&request, "host"));
            FUZZ_CHECK(request.body.len <= BODY_MAX);
            out->requests++;
            out->headers += request.header_count;
            out->body_bytes += request.body.len;
            vcm_http_parse_release(&request);
        } else if (used == 0 && end == text.len) {
            break;
        }
    }
    vcm_http_parse_close(parse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = {0}, parts = {0};

    if (size == 0 || size > 65536)
        return 0;
    feed(&whole, vcm_slice_of(data, size), size);
    feed(&parts, vcm_slice_of(data, size), size > 7 ? 7 : size);
    FUZZ_CHECK(whole.status == 0 || parts.status == 0 || whole.requests == parts.requests);
    return 0;
}
