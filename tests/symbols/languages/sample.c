#include <stdio.h>
#include "base/list.h"

#define LIMIT 10
#define SQUARE(x) ((x) * (x))

/* A node of the list. It has a value. */
struct node {
    int value;
    struct node *next;
};

enum color { RED, GREEN };
typedef struct node node_t;
typedef int (*visit_fn)(struct node *node);

static int total;
extern const char *title;

int count(const struct node *list);

// Adds a value.
static struct node *push(struct node *list, int value)
{
    struct node *fresh = make_node(value);
    fresh->next = list;
    total++;
    return fresh;
}

int count(const struct node *list)
{
    int n = 0;
    for (; list; list = list->next)
        n += SQUARE(1);
    walk(list, print_node);
    return n < LIMIT ? n : RED;
}
