#include "tests/vcm/evict_model.h"

#include <assert.h>
#include <string.h>

#include "base/banned.h"

void model_init(struct model *model, enum vcm_evict_policy policy)
{
    memset(model, 0, sizeof *model);
    model->policy = policy;
    model->hand = -1;
    model->small_share = 0.4;
}

unsigned model_count(const struct model *model)
{
    return model->bulk.len + model->spared.len + model->small.len + model->main.len;
}

static void append(struct model_list *list, struct model_page page)
{
    assert(list->len < MODEL_PAGES_MAX);
    list->pages[list->len++] = page;
}

static struct model_page cut(struct model_list *list, unsigned index)
{
    struct model_page page = list->pages[index];

    list->len--;
    memmove(&list->pages[index], &list->pages[index + 1],
            (list->len - index) * sizeof list->pages[0]);
    return page;
}

static int index_of(const struct model_list *list, uint64_t tag)
{
    for (unsigned i = 0; i < list->len; i++)
        if (list->pages[i].tag == tag)
            return (int)i;
    return -1;
}

static struct model_list *list_of(struct model *model, uint64_t tag)
{
    struct model_list *lists[] = {&model->bulk, &model->spared, &model->small, &model->main};

    for (unsigned i = 0; i < 4; i++)
        if (index_of(lists[i], tag) >= 0)
            return lists[i];
    return NULL;
}

static void use(struct model *model, struct model_page *page)
{
    uint64_t most = model->policy == VCM_EVICT_S3FIFO ? 3 : 1;

    if (page->used < most)
        page->used++;
    page->often++;
    page->when = ++model->clock;
}

bool model_touch(struct model *model, uint64_t tag)
{
    struct model_list *list = list_of(model, tag);

    if (!list)
        return false;
    use(model, &list->pages[index_of(list, tag)]);
    return true;
}

static void enter(struct model *model, struct model_page page, bool returned)
{
    if (page.when == 0)
        use(model, &page);
    page.used = 0;
    if (model->policy == VCM_EVICT_S3FIFO && !returned)
        append(&model->small, page);
    else
        append(&model->main, page);
}

static uint64_t sum(const struct model_list *list)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < list->len; i++)
        bytes += list->pages[i].bytes;
    return bytes;
}

static void learn(struct model *model, bool was_main, uint64_t bytes)
{
    double all = (double)(sum(&model->small) + sum(&model->main));
    double of[2] = {0, 0};

    for (unsigned i = 0; i < model->ghosts.len; i++)
        of[model->ghosts.pages[i].was_main]++;
    double step = 0.1 * (double)bytes / (all + 1);
    if (of[!was_main] > of[was_main])
        step *= of[!was_main] / of[was_main];
    model->small_share += was_main ? -step : step;
    if (model->small_share < 0.1)
        model->small_share = 0.1;
    if (model->small_share > 0.6)
        model->small_share = 0.6;
}

void model_insert(struct model *model, uint64_t tag, uint64_t bytes, enum vcm_evict_place place)
{
    struct model_page page = {.tag = tag, .bytes = bytes};
    struct model_list *list = list_of(model, tag);
    int ghost = index_of(&model->ghosts, tag);

    if (list) {
        list->pages[index_of(list, tag)].bytes = bytes;
        if (place == VCM_EVICT_HOT)
            model_touch(model, tag);
        return;
    }
    bool returned = ghost >= 0 && !model->ghosts.pages[ghost].was_main;
    if (ghost >= 0 && place == VCM_EVICT_HOT)
        learn(model, model->ghosts.pages[ghost].was_main, bytes);
    if (ghost >= 0)
        cut(&model->ghosts, (unsigned)ghost);
    if (place == VCM_EVICT_COLD)
        append(&model->bulk, page);
    else
        enter(model, page, returned);
}

static int next_of_sieve(struct model *model)
{
    for (;;) {
        if (model->hand < 0)
            model->hand = 0;
        struct model_page *page = &model->main.pages[model->hand];
        if (page->used == 0)
            return model->hand;
        page->used = 0;
        if (++model->hand == (int)model->main.len)
            model->hand = -1;
    }
}

static int next_by_key(const struct model *model)
{
    const struct model_page *pages = model->main.pages;
    unsigned least = 0;

    for (unsigned i = 1; i < model->main.len; i++) {
        bool lfu = model->policy == VCM_EVICT_LFU;
        if (lfu && pages[i].often != pages[least].often ? pages[i].often < pages[least].often
                                                        : pages[i].when < pages[least].when)
            least = i;
    }
    return (int)least;
}

static struct model_page *next_of_s3fifo(struct model *model)
{
    for (;;) {
        uint64_t small = sum(&model->small);
        bool from_small =
            model->small.len > 0 &&
            (model->main.len == 0 ||
             (double)small >= model->small_share * (double)(small + sum(&model->main)));
        if (from_small) {
            if (model->small.pages[0].used < 2)
                return &model->small.pages[0];
            struct model_page page = cut(&model->small, 0);
            page.used = 0;
            append(&model->main, page);
        } else if (model->main.len == 0) {
            return NULL;
        } else {
            if (model->main.pages[0].used == 0)
                return &model->main.pages[0];
            struct model_page page = cut(&model->main, 0);
            page.used--;
            append(&model->main, page);
        }
    }
}

static struct model_page *next_page(struct model *model)
{
    while (model->bulk.len > 0) {
        if (model->bulk.pages[0].when == 0)
            return &model->bulk.pages[0];
        enter(model, cut(&model->bulk, 0), false);
    }
    if (model->policy == VCM_EVICT_S3FIFO)
        return next_of_s3fifo(model);
    if (model->main.len == 0)
        return NULL;
    return &model->main.pages[model->policy == VCM_EVICT_SIEVE ? next_of_sieve(model)
                                                               : next_by_key(model)];
}

bool model_next(struct model *model, uint64_t *tag)
{
    struct model_page *page = next_page(model);

    model->has_candidate = page != NULL;
    if (page)
        *tag = model->candidate = page->tag;
    return page != NULL;
}

static struct model_page take_out(struct model *model, struct model_list *list, uint64_t tag)
{
    int index = index_of(list, tag);

    if (list == &model->main && model->hand > index)
        model->hand--;
    struct model_page page = cut(list, (unsigned)index);
    if (model->hand >= (int)model->main.len)
        model->hand = -1;
    if (model->has_candidate && model->candidate == tag)
        model->has_candidate = false;
    return page;
}

void model_remove(struct model *model, uint64_t tag)
{
    struct model_list *list = list_of(model, tag);
    bool evicted = model->has_candidate && model->candidate == tag;
    unsigned count = model_count(model);

    if (!list)
        return;
    struct model_page page = take_out(model, list, tag);
    if (!evicted || list == &model->bulk || model->policy != VCM_EVICT_S3FIFO)
        return;
    page.was_main = list == &model->main;
    append(&model->ghosts, page);
    while (model->ghosts.len > count)
        cut(&model->ghosts, 0);
}

void model_spare(struct model *model, uint64_t tag)
{
    struct model_list *list = list_of(model, tag);

    if (list)
        append(&model->spared, take_out(model, list, tag));
}

void model_settle(struct model *model)
{
    while (model->spared.len > 0) {
        struct model_page page = cut(&model->spared, 0);
        use(model, &page);
        enter(model, page, false);
    }
}
