"""Reads an index of SCIP: documents with their occurrences, and what symbols are related to.

Only the fields that precision.py needs are read; the rest of the message is passed over.
"""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Yields (number, value) of a message: numbers of varints, bytes of what has a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        else:
            size = 8 if kind == 1 else 4
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def read_occurrence(data):
    place, symbol, roles, single = [], "", 0, []
    for number, value in fields(data):
        if number == 1:
            if isinstance(value, int):
                single.append(value)
            else:
                place = numbers(value)
        elif number == 2:
            symbol = value.decode("utf-8", "replace")
        elif number == 3:
            roles = value
    return place or single, symbol, roles


def read_symbol(data):
    symbol, bases = "", []
    for number, value in fields(data):
        if number == 1:
            symbol = value.decode("utf-8", "replace")
        elif number == 4:
            relation = dict(fields(value))
            if relation.get(3):
                bases.append(relation[1].decode("utf-8", "replace"))
    return symbol, bases


def read(path):
    """[(path, occurrences, relations)] of an index; an occurrence is (place, symbol, roles)."""
    with open(path, "rb") as file:
        data = file.read()
    documents = []
    for number, value in fields(data):
        if number != 2:
            continue
        name, occurrences, relations = "", [], []
        for inner, part in fields(value):
            if inner == 1:
                name = part.decode("utf-8", "replace")
            elif inner == 2:
                occurrences.append(read_occurrence(part))
            elif inner == 3:
                relations.append(read_symbol(part))
        documents.append((name, occurrences, relations))
    return documents
