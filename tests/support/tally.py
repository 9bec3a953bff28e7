"""How often a function was traced."""

import itertools


class Tally:
    """A count that a traced function may advance, which is an error for counts that Python sees."""

    def __init__(self):
        self._steps = itertools.count()

    def step(self):
        next(self._steps)

    def __len__(self):
        return int(repr(self._steps)[len("count(") : -1])
