/* Messages of JSON-RPC: what is taken has the form that it promises, and can be written again. */
#include <stdint.h>

#include "fuzz/check.h"
#include "serve/rpc.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_rpc_message message, again;
    struct vcm_rpc_failure failure;
    struct vcm_buf text = VCM_BUF_INIT((size_t)64 * 1024 * 1024);
    struct vcm_jsonw w;

    if (!vcm_rpc_parse(&message, vcm_slice_of(data, size), &failure)) {
        FUZZ_CHECK(failure.code < 0 && failure.text[0] != '\0');
    } else {
        FUZZ_CHECK(message.root &&
                   (message.kind == VCM_RPC_REQUEST) == (message.id.len > 0 && message.method));
        FUZZ_CHECK(message.kind == VCM_RPC_ANSWER || (message.method && message.method[0] != '\0'));
        vcm_jsonw_init(&w, &text);
        vcm_rpc_put_json(&w, message.root);
        FUZZ_CHECK(vcm_rpc_parse(&again, vcm_buf_slice(&text), &failure));
        FUZZ_CHECK(again.kind == message.kind && vcm_slice_equal(again.id, message.id));
        vcm_rpc_release(&again);
    }
    vcm_rpc_release(&message);
    vcm_buf_release(&text);
    return 0;
}
