"""Prints what libclang knows of the C files below a directory, as lines of JSON for precision.py.

usage: clang_types.py DIRECTORY

A compile_commands.json in the directory says how files are compiled; without one, every directory
with headers is searched for them.
"""

import json
import os
import sys

from clang import cindex

KINDS = {cindex.CursorKind.FUNCTION_DECL, cindex.CursorKind.STRUCT_DECL, cindex.CursorKind.UNION_DECL,
         cindex.CursorKind.ENUM_DECL, cindex.CursorKind.ENUM_CONSTANT_DECL, cindex.CursorKind.TYPEDEF_DECL,
         cindex.CursorKind.FIELD_DECL, cindex.CursorKind.VAR_DECL, cindex.CursorKind.MACRO_DEFINITION}
USES = {cindex.CursorKind.DECL_REF_EXPR: False, cindex.CursorKind.MEMBER_REF_EXPR: True,
        cindex.CursorKind.TYPE_REF: False, cindex.CursorKind.MEMBER_REF: True,
        cindex.CursorKind.MACRO_INSTANTIATION: False}
OPTIONS = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD


class Reader:
    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.seen = set()

    def inside(self, location):
        if not location.file:
            return None
        path = os.path.relpath(os.path.realpath(location.file.name), self.root)
        return None if path.startswith("..") else path

    def put(self, *values):
        line = json.dumps(values)
        if line not in self.seen:
            self.seen.add(line)
            print(line)

    def is_global(self, cursor):
        parent = cursor.semantic_parent
        return cursor.kind != cindex.CursorKind.VAR_DECL or (
            parent is not None and parent.kind == cindex.CursorKind.TRANSLATION_UNIT)

    def symbol(self, cursor):
        if self.inside(cursor.location) is None:
            return "outside"
        if cursor.kind == cindex.CursorKind.MACRO_DEFINITION:
            return f"macro {self.inside(cursor.location)}:{cursor.location.line}:{cursor.spelling}"
        return cursor.get_usr()

    def visit(self, cursor):
        path = self.inside(cursor.location)
        if path is None:
            return
        line = cursor.location.line
        name = cursor.spelling
        if cursor.kind in KINDS and name and "(" not in name:
            self.put("def", path, line, name, self.symbol(cursor) if self.is_global(cursor) else "", None)
        if cursor.kind in USES:
            target = cursor.referenced
            name = name.split(" ")[-1]
            if target is not None and target.kind in KINDS and self.is_global(target):
                end = cursor.extent.end.line
                self.put("ref", path, line, name, self.symbol(target),
                         [USES[cursor.kind], target.kind == cindex.CursorKind.FUNCTION_DECL and end >= line])


def includes(root):
    found = set()
    for place, _, names in os.walk(root):
        if any(name.endswith(".h") for name in names):
            found.add(place)
    return [f"-I{place}" for place in sorted(found)]


def commands(root):
    try:
        with open(os.path.join(root, "compile_commands.json"), encoding="utf-8") as file:
            return {os.path.join(c["directory"], c["file"]): c for c in json.load(file)}
    except OSError:
        return {}


def main(root):
    reader, index = Reader(root), cindex.Index.create()
    options, known = ["-I" + root, *includes(root)], commands(root)
    for place, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if not name.endswith(".c") or (known and path not in known):
                continue
            try:
                unit = index.parse(path, args=options, options=OPTIONS)
            except cindex.TranslationUnitLoadError:
                continue
            for cursor in unit.cursor.walk_preorder():
                reader.visit(cursor)


if __name__ == "__main__":
    main(sys.argv[1])
