"""The parts of a graph that only one branch of a choice needs.

PyTensor evaluates one branch of `ifelse`, and so does native code: the values that only one branch needs become a
region. Derivatives that come out of it are zero (not 0 * inf) unless it is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort

from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Value


class Branch(Struct, eq=False):
    """One of the two branches of a choice, and the branch that the choice itself is part of."""

    choice: Apply
    outer: Branch | None
    depth: int


class Branches:
    """The branch that each application of an op is part of, if all of its users are in that branch."""

    def __init__(
        self, outputs: Iterable[Variable], known: Callable[[Variable], bool], is_choice: Callable[[Apply], bool]
    ) -> None:
        """``known`` tells whether a variable has been translated before; the first input of a choice is its
        condition."""
        self.homes: dict[Apply, Branch | None] = {}
        self.entering: dict[Apply, dict[Variable, None]] = defaultdict(dict)
        outputs = list(outputs)
        uses: dict[Apply, list[Branch | None]] = defaultdict(list)
        for each in outputs:
            uses[each.owner].append(None)
        order = [node for node in toposort(outputs) if not all(known(each) for each in node.outputs)]
        inside: list[tuple[Variable, Branch]] = []
        for node in reversed(order):
            home = self.homes[node] = common(uses.pop(node, [None]))
            for variable, branch in zip(node.inputs, branches_at(node, home, is_choice), strict=True):
                if variable.owner is not None:
                    uses[variable.owner].append(branch)
                if branch is not None:
                    inside.append((variable, branch))
        for variable, branch in inside:
            self._enter(variable, branch)

    def _enter(self, variable: Variable, branch: Branch | None) -> None:
        """Record, for each choice, a variable that its branches use and do not compute themselves."""
        home = None if variable.owner is None else self.homes.get(variable.owner)
        while branch is not None and branch is not home:
            self.entering[branch.choice][variable] = None
            branch = branch.outer

    def needed(self, choice: Apply) -> list[Variable]:
        """The variables that must be translated before the branches of a choice: the condition, and the variables that
        enter them."""
        return list(dict.fromkeys([choice.inputs[0], *self.entering[choice]]))


def branches_at(node: Apply, home: Branch | None, is_choice: Callable[[Apply], bool]) -> Sequence[Branch | None]:
    """The branch in which a node uses each of its inputs."""
    if not is_choice(node):
        return [home] * len(node.inputs)
    depth = 1 if home is None else home.depth + 1
    count = len(node.outputs)
    return [home, *[Branch(node, home, depth)] * count, *[Branch(node, home, depth)] * count]


def common(branches: Sequence[Branch | None]) -> Branch | None:
    """The innermost branch that all of some branches are part of."""
    first, *others = branches
    for other in others:
        while first is not other:
            if first is None or other is None:
                return None
            if first.depth < other.depth:
                other = other.outer
            elif first.depth > other.depth:
                first = first.outer
            else:
                first, other = first.outer, other.outer
    return first


class WhereTaken:
    """The derivative of a value that enters a branch: that of the value itself if the branch is taken, and otherwise
    zero."""

    captured = 0

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        _, taken = arguments
        return [registry["where"](taken, given[0], 0.0), None]

    def batched(self, batched: Sequence[bool]) -> WhereTaken:
        if batched[1]:
            raise NotImplementedError("a condition of ifelse is one number")
        return self


WHERE_TAKEN = WhereTaken()


def entering(value: Value, taken: Value) -> Value:
    """A value for use in the branch that is taken where ``taken`` is true."""
    if value.dtype.kind not in "fc":
        return value
    return registry["with_rule"].bind(value, value, taken, rule=WHERE_TAKEN, result=0, results=1)
