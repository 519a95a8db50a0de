#include "base/yaml_scalar.h"

#include <errno.h>
#include <stdlib.h>

#include "base/banned.h"

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool consists_of(const char *text, const char *digits)
{
    return *text && text[strspn(text, digits)] == '\0';
}

/* 0o17, 0x1F and -12; the base, or 0 when it is no integer. Only decimal ones may have a sign. */
static int integer_base(const char *text)
{
    if (text[0] == '0' && text[1] == 'o')
        return consists_of(text + 2, "01234567") ? 8 : 0;
    if (text[0] == '0' && text[1] == 'x')
        return consists_of(text + 2, "0123456789abcdefABCDEF") ? 16 : 0;
    if (*text == '-' || *text == '+')
        text++;
    return consists_of(text, "0123456789") ? 10 : 0;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_decimal(const char *text)
{
    static const char digits[] = "0123456789";

    if (*text == '-' || *text == '+')
        text++;
    size_t before = strspn(text, digits);
    text += before;
    if (*text == '.') {
        size_t behind = strspn(++text, digits);
        if (before == 0 && behind == 0)
            return false;
        text += behind;
    } else if (before == 0) {
        return false;
    }
    if (*text != 'e' && *text != 'E')
        return *text == '\0';
    text++;
    if (*text == '-' || *text == '+')
        text++;
    return consists_of(text, digits);
}

static bool is_float(const char *text)
{
    static const char *const infinite[] = {".inf", ".Inf", ".INF", NULL};
    static const char *const not_a_number[] = {".nan", ".NaN", ".NAN", NULL};

    if (is_one_of(text, not_a_number) || is_decimal(text))
        return true;
    return is_one_of(*text == '-' || *text == '+' ? text + 1 : text, infinite);
}

void vcm_yaml_scalar_resolve(struct vcm_yaml *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const truths[] = {"true", "True", "TRUE", NULL};
    static const char *const lies[] = {"false", "False", "FALSE", NULL};
    const char *text = node->text.data;
    int base = integer_base(text);

    if (is_one_of(text, nulls)) {
        node->kind = VCM_YAML_NULL;
    } else if (is_one_of(text, truths) || is_one_of(text, lies)) {
        node->kind = VCM_YAML_BOOL;
        node->boolean = is_one_of(text, truths);
    } else if (base != 0) {
        errno = 0;
        long long value = strtoll(base == 10 ? text : text + 2, NULL, base);
        node->kind = errno == 0 ? VCM_YAML_INT : VCM_YAML_FLOAT;
        node->integer = errno == 0 ? value : 0;
    } else if (is_float(text)) {
        node->kind = VCM_YAML_FLOAT;
    }
}
