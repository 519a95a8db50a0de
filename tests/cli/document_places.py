"""Where the sessions of the documents happen: for each document, what is there before its first
command. A place is made below a directory that stands for the root: /home/ada and /srv."""

import os
import shutil

import documents
import pdf
import tree

DATE = "2024-01-01T12:00:00 +0000"

SHOP = {
    "README.md": "# Shop\n\nCarts and prices.\n",
    "Makefile": "test:\n\tpython3 -m unittest\n",
    "docs/prices.md": "# Prices\n\nPrices are in cents.\n",
    "shop/__init__.py": "",
    "shop/price.py": '''"""Prices in cents."""

TAX = 0.19


class Price:
    """An amount of money."""

    def __init__(self, cents):
        self.cents = cents

    def gross(self):
        """With tax."""
        return Price(round(self.cents * (1 + TAX)))


def parse_price(text):
    """Reads "12.50"."""
    whole, _, cents = text.partition(".")
    return Price(int(whole) * 100 + int(cents or 0))
''',
    "shop/cart.py": '''"""What a customer is about to buy."""

from shop.price import Price, parse_price


class Cart:
    """Lines of an order."""

    def __init__(self):
        self.lines = []

    def add(self, name, price):
        self.lines.append((name, parse_price(price)))

    def total(self):
        """The sum over all lines, with tax."""
        return sum((price.gross().cents for _, price in self.lines), 0)


def empty_cart():
    return Cart()
''',
    "shop/report.py": '''"""A cart as text."""

from shop.cart import empty_cart
from shop.price import parse_price


def report(cart):
    """One line for each item."""
    return "\\n".join(f"{name}: {price.cents}" for name, price in cart.lines)


def smallest():
    cart = empty_cart()
    cart.add("pencil", "0.50")
    return report(cart), parse_price("0.50")
''',
    "tests/test_cart.py": '''import unittest

from shop.cart import empty_cart


class CartTest(unittest.TestCase):
    def test_an_empty_cart_costs_nothing(self):
        self.assertEqual(empty_cart().total(), 0)
''',
}

FRAMES = ("A frame holds the bytes of one page. The clock hand sweeps over the frames and spares every "
          "frame whose mark is set; it clears the mark and goes on. A frame without a mark is given "
          "to the page that is needed now. ")
WEIGHTS = ("Each pattern has a weight from 0 to 100. Of two patterns that match a name the one with "
           "the larger weight wins, and of two with the same weight the longer one. ")


def paper(title, parts):
    """A PDF: a title, and a page for each (heading, text)."""
    return pdf.make([[("F2", 20, 72, 740, title)] * (number == 0)
                     + [("F2", 14, 72, 700, heading), *pdf.prose(text, top=670)]
                     for number, (heading, text) in enumerate(parts)])


class Place:
    """`run` runs a program with arguments in a directory; it is git and vcm that are run here."""

    def __init__(self, root, run):
        self.root = root
        self.ada = os.path.join(root, "home", "ada")
        self.srv = os.path.join(root, "srv")
        self.run = run
        self.checkout = None  # where the clone of this repository waits for the next document

    def begin(self):
        """An empty machine: a user with a name, a directory for repositories of others."""
        repo = os.path.join(self.ada, "vcm")
        if self.checkout and os.path.exists(repo):
            os.rename(repo, self.checkout)
        for folder in (self.ada, self.srv):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
        self.write(self.ada, {".gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.org\n"
                                            "[init]\n\tdefaultBranch = main\n"})

    @staticmethod
    def write(folder, files):
        for path, content in files.items():
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())

    def commit(self, repo, message):
        # Straight into a pack: a file for each of a thousand objects takes longer than the rest.
        self.run(["git", "-c", "core.bigFileThreshold=1", "add", "--all"], repo)
        self.run(["git", "commit", "--quiet", "-m", message], repo)

    def repository(self, name, files):
        path = os.path.join(self.ada, name)
        os.makedirs(path)
        self.run(["git", "init", "--quiet"], path)
        self.write(path, files)
        self.commit(path, "first")
        return path


def nothing(place, _document):
    return place.ada


def checkout(place, _document):
    """A clone of this repository, and a home where nothing was mapped. It is made once, and put back
    as it was for the next document."""
    repo = os.path.join(place.ada, "vcm")
    if place.checkout:
        os.rename(place.checkout, repo)
        place.run(["git", "reset", "--quiet", "--hard", "first"], repo)
        place.run(["git", "clean", "--quiet", "--force"], repo)
        return repo
    files = {}
    for path in tree.files(documents.ROOT):
        with open(os.path.join(documents.ROOT, path), "rb") as file:
            files[path] = file.read()
    place.repository("vcm", files)
    place.run(["git", "tag", "first"], repo)
    place.checkout = os.path.join(place.root, "checkout")
    return repo


def mapped(place, document):
    """The same, mapped."""
    repo = checkout(place, document)
    home = os.path.join(place.ada, ".local")
    kept = os.path.join(place.root, "mapped")
    if not os.path.exists(kept):
        place.run(["vcm", "map", "--quiet", "."], repo)
        shutil.copytree(home, kept)
    else:
        shutil.copytree(kept, home)
    return repo


def demo(place, _document):
    """An empty bare repository to push to, and a repository with documents in its past."""
    place.run(["git", "init", "--quiet", "--bare", "demo.git"], place.srv)
    reports = place.repository("reports", {"notes.txt": "notes\n", "paper.pdf": b"%PDF\0" * 48000})
    for number in (1, 2, 3):
        place.write(reports, {f"plot{number}.png": b"\x89PNG\0" * 40000})
    place.commit(reports, "plots")
    place.run(["git", "tag", "v1"], reports)
    return place.ada


def papers(place, document):
    """A repository with two manuals, and the map that the document shows."""
    return place.repository("papers", {
        ".colony/repo_map.yaml": document.fences("yaml")[0],
        "manuals/frames.pdf": paper("Frames", [("1. The hand", FRAMES * 3), ("2. Marks", FRAMES * 2)]),
        "manuals/globs.pdf": paper("Globs", [("1. Files", FRAMES), ("2. Weights", WEIGHTS * 4)]),
    })


def shop(place, _document):
    """A small program in Python, at a server and here."""
    path = place.repository("shop", SHOP)
    place.run(["git", "clone", "--quiet", "--bare", path, os.path.join(place.srv, "shop.git")],
              place.srv)
    return path


PLACES = {
    "README.md": checkout,
    "docs/FORMAT.md": nothing,
    "docs/bootstrap.md": demo,
    "docs/guide.md": mapped,
    "docs/literature.md": papers,
    "docs/mcp.md": nothing,
    "docs/reading.md": shop,
    "docs/store.md": mapped,
    "docs/symbols.md": shop,
}
