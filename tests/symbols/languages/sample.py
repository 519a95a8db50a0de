"""A module."""
import os.path
from .shapes import Shape, area as size

LIMIT = 10


class Circle(Shape):
    """A round shape. With more."""

    sides = 0

    def __init__(self, radius):
        self.radius = radius

    # How large it is.
    def area(self) -> float:
        return size(self.radius)

    def _hidden(self):
        pass


@cached
def make(count=1):
    """Makes circles."""
    found = Circle(count)
    print(found)
    return os.path.join(LIMIT)


class Disc(Circle):
    @override
    def area(self) -> float:
        return 0
