"""The module of results, loaded when the first of its classes is needed: making them takes as long as
importing everything else of the package."""

import importlib
from typing import Any


class _Results:
    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(".results", __package__), name)
        setattr(self, name, value)
        return value


results = _Results()
