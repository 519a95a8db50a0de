"""What vcm printed with --json during the tests of a file, held against its own descriptions.

harness.py adds every run; run.py checks them all when the tests are done, in one process of node with a
JSON Schema validator that others wrote. A document that a description does not fit, or the other way round,
fails the file.
"""

import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
GLOBAL_WITH_VALUE = "--home"

_runs = []
_schemas = None


def schemas():
    """What `vcm schema --json` prints."""
    global _schemas
    if _schemas is None:
        # The home is nowhere: describing needs none.
        run = subprocess.run([os.environ["VCM_PROGRAM"], "--home", os.devnull, "schema", "--json"], check=True,
                             capture_output=True)
        _schemas = json.loads(run.stdout)
    return _schemas


def command_of(args, names):
    """The command that the words of a call name, or None."""
    words = iter(map(str, args))
    first = None
    for word in words:
        if word == GLOBAL_WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            name = f"{first} {word}" if first else word
            if first or not any(known.startswith(word + " ") for known in names):
                return name if name in names else None
            first = word
    return None


def wants_json(args):
    words = [str(arg) for arg in args]
    if {"--help", "-h", "--version"} & set(words):
        return False
    return "--json" in words or "--format=json" in words or ("--format", "json") in zip(words, words[1:])


def is_failure(document):
    return isinstance(document, dict) and list(document) == ["error"]


def add(args, out):
    """Notes what a call printed: one document, or one a line. What is no JSON is the test's to judge."""
    if not wants_json(args) or not out:
        return
    text = out.decode("utf-8", "replace") if isinstance(out, bytes) else out
    try:
        found = [json.loads(text)]
    except ValueError:
        try:
            found = [json.loads(line) for line in text.splitlines()]
        except ValueError:
            return
    _runs.extend((args, document) for document in found)


def recorded():
    """(command, failed) of everything that was noted."""
    names = schemas()["commands"]
    return {(command_of(args, names), is_failure(document)) for args, document in _runs}


def check():
    """What is wrong, as text, or None."""
    if not _runs:
        return None
    names = schemas()["commands"]
    documents, seen = [], set()
    for args, document in _runs:
        entry = {"command": command_of(args, names), "failed": is_failure(document),
                 "words": " ".join(map(str, args))[:200], "document": document}
        key = json.dumps([entry["command"], document])
        if key not in seen:
            seen.add(key)
            documents.append(entry)
    return validate(schemas(), documents)


def validate(described, documents):
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump({"schemas": described, "documents": documents}, file)
        file.flush()
        run = subprocess.run(["node", os.path.join(HERE, "validate.js"), file.name], capture_output=True,
                             text=True, check=False)
    return None if run.returncode == 0 else run.stdout + run.stderr
