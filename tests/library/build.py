"""What the tests of the library know about the build, and how they compile against it."""

import os
import subprocess

BUILD = os.environ["VCM_BUILD"]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = os.path.join(BUILD, "include")
CC = os.environ.get("VCM_CC", "cc")
SANITIZE = os.environ.get("VCM_SANITIZE", "")
FLAGS = [f"-fsanitize={SANITIZE}"] if SANITIZE else []
ALL_WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror"]


def run(command, **options):
    """Runs a command; its output is in the error when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} exits with {done.returncode}:\n{done.stdout}")
    return done.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
