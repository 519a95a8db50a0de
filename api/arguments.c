#include "api/arguments.h"

#include "base/buf.h"
#include "base/utf8.h"

#include "base/banned.h"

void vcm_arguments_refuse(const char *name, struct vcm_error *err)
{
    vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is NULL", name);
}

static int check_text(const char *name, const char *text, struct vcm_error *err)
{
    return vcm_utf8_valid(vcm_slice_of_string(text))
               ? VCM_OK
               : vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is not valid UTF-8", name);
}

int vcm_arguments_texts(const struct vcm_argument_text *texts, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (; rc == VCM_OK && texts->name; texts++)
        if (texts->text)
            rc = check_text(texts->name, texts->text, err);
    return rc;
}

int vcm_arguments_list(const char *name, const char *const *texts, size_t count,
                       enum vcm_argument_list_kind kind, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (!texts && count > 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is NULL", name);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        if (!texts[i])
            rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s[%zu] is NULL", name, i);
        else if (kind == VCM_ARGUMENT_TEXTS)
            rc = check_text(name, texts[i], err);
    }
    return rc;
}
