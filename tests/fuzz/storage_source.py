"""Draws programs that read and assign to attributes, globals and elements of containers, as their source."""

from __future__ import annotations

import re

from tests.fuzz import python_source
from tests.fuzz.python_source import BOOLS, FLOATS, INTEGERS, VECTORS, Block, Known, Statement

WORLD = """
class Part:
    __slots__ = ("t",)

    def __init__(self, t):
        self.t = t

class Node:
    step = 1.0

    def __init__(self, t, n, w, kid=None):
        self.t, self.n, self.w, self.kid = t, n, w, kid
        self.pair, self.table, self.part = [t, 2.0], {"a": t, "b": 1.0}, Part(t)

    @property
    def twice(self):
        return self.t * 2

    @twice.setter
    def twice(self, v):
        self.n += 1
        self.t = v - 1

    def add(self, v):
        self.t += v
        self.n += 1
        return self.t

    def grow(self, v):
        self.w = self.w + v
        return self.w.sum()

    def put(self, k, v):
        self.w[k] = v
        return self.w[0]

    def hand(self, v):
        if v > self.t:
            self.kid.t, self.t = self.t, self.kid.t
            return v
        self.kid.add(v)
        return self.t

    def fail(self, v):
        self.n += 1
        if v > 2:
            raise ValueError("too large")
        self.t = v
        return v

B = Node(1.0, 1, np.arange(3.0))
A = Node(2.0, 0, np.arange(3.0) - 1, B)
C = Node(-1.0, 2, np.zeros(3), A)
D = {"a": 1.0, "w": np.arange(3.0), "o": B}
L = [1.0, -2.0, 3.0]
TOTAL, COUNT = 0.0, 0

def tick(v):
    global COUNT
    COUNT += 1
    return v + COUNT

def make():
    kept = 0.0
    def run(v):
        nonlocal kept
        kept += v
        return kept
    return run

def twofold(o, v):
    o.t += v
    o.n += 1
    return o.t

@jit
def nested(v):
    global TOTAL
    TOTAL = TOTAL + v
    return TOTAL

kept = make()
"""
"""What programs read and write. `jit` compiles a function."""
STATE = ("A", "B", "C", "D", "L", "TOTAL", "COUNT", "kept")
CHANGES = (
    "A.t = 3.0",
    "A.t = 2",
    "B.n = 4",
    "A.w = np.arange(2.0)",
    "B.w = np.ones(3, 'f')",
    "A.w = B.w = np.ones(3)",
    "A.kid = C",
    "C.kid = B",
    "L.append(1.0)",
    "L[0] = 2",
    "D['o'] = C",
    "D['a'] = np.float32(2)",
    "A.pair = L",
    "TOTAL = 1.5",
    "TOTAL = 1",
    "COUNT = 0",
    "B.table['c'] = 1.0",
)
"""Changes between calls."""
OBJECTS = ("A", "B", "C", "A.kid", "C.kid", "D['o']", "C.kid.kid")
START = (
    "t = s * 2.0",
    "q = 0",
    "v = a + b",
    "w = A.w",
    "v = b.copy()",
    "p = A",
    "p = A.kid",
    "p = Node(s, n, b * 1, A)",
    "r = Node(0.0, 0, np.zeros(3))",
    "r = p = Node(t0, k, a + 0)",
    "z = [0.0]",
    "z = L",
    "f = make()",
)
CALLS = (
    "{o}.add({f})",
    "{o}.grow({f})",
    "{o}.put({i}, {f})",
    "{o}.hand({f})",
    "{o}.fail({f})",
    "tick({f})",
    "twofold({o}, {f})",
    "nested({f})",
    "kept({f})",
)


FIXED = ("n", "k", "TOTAL", "COUNT")
"""What programs read alone."""


REFUSED = re.compile(
    r"L\[|TOTAL|COUNT|.*\.kid = |.*(put|kept|nested|keep|bump|shift)\(|"  # elements of lists, globals, objects, cells
    r"[ABCD]\S*(\.part\.t|\.pair\[0\]|\.extra|w'?\]?\[.*\]|w'?\]? \+=|w'?\]? -=)"  # slots, elements of arrays
)
"""Lines that write what compiled functions do not."""


def is_refused(line: str) -> bool:
    return REFUSED.match(line) is not None


def parts_of(name: str) -> Known:
    """The parts of an object that may be read and assigned to."""
    return {
        "f": [f"{name}.t", f"{name}.pair[0]", f"{name}.table['a']", f"{name}.twice", f"{name}.part.t"],
        "i": [f"{name}.n"],
        "v": [f"{name}.w"],
        "o": [name],
    }


class Draw(python_source.Draw):
    """Draws the body of a program."""

    def program(self) -> Block:
        self.refused = self.chance(0.07)
        known: Known = {
            "f": ["s", "t0", "TOTAL", "D['a']", "L[0]", "L[-1]", "L[1]"],
            "i": ["n", "k", "COUNT"],
            "v": ["a", "b", "D['w']"],
            "o": [],
            "l": [],
        }
        for name in OBJECTS[: self.rng.integers(2, len(OBJECTS))]:
            self.know(known, parts_of(name))
        block = [Statement("t0 = 1.0")]
        for line in map(str, self.rng.permutation(START)[: self.rng.integers(2, 6)]):
            self.learn(known, line)
            block.append(Statement(line))
        block += self.block(known, 2 if self.chance(0.5) else 1, in_loop=False, most=6)
        chosen = [self.choose(known[kind]) for kind in ("f", "v")]
        return [*block, Statement(f"return {', '.join(chosen)}, {self.expression(FLOATS, known)}")]

    def know(self, known: Known, more: Known) -> None:
        for kind, names in more.items():
            known[kind] += [each for each in names if each not in known[kind]]

    def learn(self, known: Known, line: str) -> None:
        """Take in the names that a line binds."""
        *names, _ = line.split(" = ")
        for name in names:
            match name:
                case "p" | "r":
                    self.know(known, parts_of(name))
                case "z":
                    self.know(known, {"f": [f"{name}[-1]", f"{name}[0]", f"sum({name})"], "l": [name]})
                case "f":
                    self.know(known, {"f": ["f(1.0)"]})
                case _:
                    self.know(known, {{"t": "f", "q": "i"}.get(name, "v"): [name]})

    def line(self, known: Known) -> str:
        found = next((each for _ in range(8) if not is_refused(each := self.any_line(known))), "pass")
        return self.any_line(known) if self.refused else found

    def any_line(self, known: Known) -> str:
        number, value = self.target(known, "f"), self.expression(FLOATS, known, 1)
        match self.choose(("call", "call", "object", "list", "swap", "number", "count", "vector", "usual", "usual")):
            case "call":
                called = self.expression((self.choose(CALLS).replace("{o}", self.choose(known["o"])),), known, 0)
                return self.choose((called, f"{number} = {called}", f"{number} += {called}"))
            case "object" if any(each in known["o"] for each in ("p", "r")):
                name = self.choose([each for each in ("p", "r") if each in known["o"]])
                return self.choose(
                    (
                        f"{name} = {self.choose(known['o'])}",
                        f"{name} = {self.choose(known['o'])} if {self.expression(BOOLS, known, 1)} else {name}",
                        f"{name}.kid = {self.choose(known['o'])}",
                        f"{name}.extra = {value}",
                    )
                )
            case "list" if known["l"]:
                name = self.choose(known["l"])
                return self.choose(
                    (
                        f"{name}.append({value})",
                        f"{name}[{self.expression(INTEGERS, known, 0)}] = {value}",
                        f"{number} = {name}.pop()",
                        f"{name}[-1] += {value}",
                    )
                )
            case "list":
                return f"L[{self.choose((*known['i'], '0', '-1'))}] {self.choose(('=', '+='))} {value}"
            case "swap":
                one, two = self.target(known, "f"), self.target(known, "f")
                return f"{one}, {two} = {two}, {one}"
            case "number":
                return f"{number} {self.choose(('=', '+=', '-='))} {value}"
            case "count":
                return f"{self.target(known, 'i')} = ({self.expression(INTEGERS, known, 1)}) % 6"
            case "vector":
                name = self.target(known, "v")
                return self.choose(
                    (
                        f"{name} = {self.expression(VECTORS, known, 1)}",
                        f"{name} = {self.choose(known['v'])}",
                        f"{name} += {value}",
                        f"{name}[{self.expression(INTEGERS, known, 0)}] = {value}",
                        f"{name}[0] += {value}",
                    )
                )
        return self.harmless(super().line(known), known)

    def harmless(self, line: str, known: Known) -> str:
        """A line that assigns to what may be assigned to."""
        first = line.partition(" = ")[0]
        return f"{self.target(known, 'f')} = 1.0" if "(" in first or first.startswith(("n ", "k ", "range")) else line

    def target(self, known: Known, kind: str) -> str:
        names = [each for each in known[kind] if "(" not in each and each not in FIXED and each[0] not in "ijx"]
        return self.choose([each for each in names if self.refused or not is_refused(each)])

    def branch(self, known: Known, depth: int, in_loop: bool) -> Statement:
        if self.chance(0.85):
            return super().branch(known, depth, in_loop)
        block = self.block(self.inner(known), 0, in_loop=in_loop, most=3)
        call = self.expression((f"{self.choose(known['o'])}.fail({{f}})",), known, 1)
        tried = [Statement(call), *block] if self.chance(0.5) else [*block, Statement(call)]
        return Statement("try:", tried, self.block(self.inner(known), 0, in_loop=in_loop, most=3))


def lines_of(block: Block, depth: int = 1) -> list[str]:
    indent, lines = "    " * depth, []
    for each in block:
        lines.append(indent + each.line)
        for head, inner in (("", each.block), ("except ValueError:" if each.line == "try:" else "else:", each.other)):
            if inner is None:
                continue
            lines += [indent + head] if head else []
            lines += lines_of(inner, depth + 1) if inner else [f"{indent}    pass"]
    return lines


def source_of(block: Block, *, method: bool = False) -> str:
    """The source of a program and of all that it reads and writes."""
    body = lines_of(block)
    head = "def program(self, a, b, m, c, n, k, s):" if method else "def program(a, b, m, c, n, k, s):"
    return "\n".join((WORLD, python_source.HELPERS, head, *body, "    pass" if not body else "")) + "\n"
