"""The arguments of one call, bound to a function's signature, as the leaves that its native code takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, TypeVar

import optree

from numbagraph.ir.abi import Leaf
from numbagraph.ir.static import typed, typed_names
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.jit.conversion import Conversion
from numbagraph.jit.generator_arguments import Held
from numbagraph.jit.written_state import StateVariable, in_place
from numbagraph.ops.linalg.singular import CHOICES, chosen
from numbagraph.purity.outer_state import are_harmless, nothing_written
from numbagraph.runtime.arguments import describe, flatten, is_generator, is_source, not_traced
from numbagraph.tracing.sparse_pytrees import known_to_trees
from numbagraph.tracing.static_lengths import Known, Place, integers_of, lengths_of, with_lengths
from numbagraph.tracing.static_values import is_number, is_static, key_of, with_values
from numbagraph.tracing.trace import as_traced

Key = tuple[Any, ...]
GENERATORS = "generators of random numbers"
LENGTHS = "lengths of arrays"
VALUES = "values of leaves"
"""The name under which known values of leaves stand among static arguments; no argument has such a name."""
MOST_LEAVES = 20_000
"""The greatest number of leaves of arguments, and of results: they lie on the stack, which a million would overflow."""
V = TypeVar("V")


class Arguments(Struct, frozen=False):
    """The arguments of one call, bound and flattened."""

    bound: inspect.BoundArguments
    static: tuple[tuple[Hashable, ...], ...]
    """The name and the value of each static argument."""
    names: tuple[str, ...]
    leaves: list[Any]
    spec: optree.PyTreeSpec
    watched: str = ""
    """The values that results must not have (`numbagraph.jit.debug_nans`)."""
    generators: Held | None = None
    """The generators of random numbers among the leaves, whose states stand for them."""
    lengths: tuple[tuple[int | None, ...], ...] | None = None
    """The lengths of each leaf that the version is made for alone; None for others."""
    values: tuple[Any, ...] | None = None
    """The value of each leaf, in a tuple, that the version is made for alone; None for others."""
    known: Known = Known.NOTHING
    """The kinds of facts that the version is made for alone."""
    describe: Callable[[Any, str], tuple[Leaf, Any]] = describe
    """A function that returns the layout of a leaf, and the leaf as compiled code takes it."""

    def know(self, what: Known) -> None:
        """Let versions be made, from now on, for these lengths alone, and for these integers if ``what`` includes
        them."""
        if what >= Known.LENGTHS > self.known:
            self._fix_lengths(lengths_of(self.leaves))
        if what >= Known.NUMBERS > self.known:
            self._fix(integers_of(self.leaves))
        self.known = max(self.known, what)

    def know_more(self) -> bool:
        """Let versions be made for more known facts. Return whether there are any more."""
        if self.known is Known.NOTHING:
            self.know(Known.LENGTHS)
        elif self.known is Known.LENGTHS and any(integers_of(self.leaves)):
            self.know(Known.NUMBERS)
        else:
            return False
        return True

    def fix_lengths(self, places: Collection[Place]) -> bool:
        """Let versions be made for some lengths of leaves, from now on. Return whether that is new."""
        if not places or self.known >= Known.LENGTHS:
            return False
        before = self.lengths
        pairs = zip(lengths_of(self.leaves), self.leaf_names, strict=True)
        self._fix_lengths(
            tuple(
                tuple(length if (name, axis) in places else None for axis, length in enumerate(shape))
                for shape, name in pairs
            )
        )
        return self.lengths != before

    def _fix_lengths(self, lengths: tuple[tuple[int | None, ...], ...]) -> None:
        self.lengths = lengths
        self.static = (*(each for each in self.static if each[0] != LENGTHS), (LENGTHS, lengths))

    def fix_numbers(self, names: Collection[str], *, only_counts: bool = False) -> bool:
        """Let versions be made for the numbers that some leaves are, from now on; for integers if ``only_counts``.
        Return whether that is new."""
        if not names:
            return False
        pairs = zip(self.leaves, self.leaf_names, strict=True)
        before = self.values
        self._fix(
            tuple(
                (leaf,) if name in names and is_number(leaf, only_counts=only_counts) else None for leaf, name in pairs
            )
        )
        return self.values != before

    def fixed(self) -> dict[str, Any]:
        """Return the values and lengths that a version is made for alone, by their names."""
        found = self.fixed_values()
        for name, lengths in zip(self.leaf_names, self.lengths or (), strict=False):
            found |= {f"{name}.shape[{axis}]": each for axis, each in enumerate(lengths) if each is not None}
        return found

    def fixed_values(self) -> dict[str, Any]:
        """Return the values that a version is made for alone, by the names of arguments."""
        return {name: each[0] for name, each in zip(self.leaf_names, self.values or (), strict=False) if each}

    def _fix(self, values: tuple[Any, ...]) -> None:
        """Let versions be made for some more values of leaves."""
        if not any(values):
            return
        old = self.values or (None,) * len(values)
        self.values = tuple(each or other for each, other in zip(old, values, strict=True))
        others = [each for each in self.static if each[0] != VALUES]
        self.static = (*others, (VALUES, tuple(each and key_of(*each) for each in self.values)))

    def take_static_leaves(self) -> None:
        """Let versions be made for the leaves that native code does not take, such as functions and slices, each."""
        found = tuple((leaf,) if is_static(leaf) else None for leaf in self.leaves)
        if any(found):
            self.leaves = [0 if each else leaf for each, leaf in zip(found, self.leaves, strict=True)]
            self._fix(found)

    @property
    def key(self) -> Key:
        """The key that a version must match before its leaves are looked at."""
        names = typed_names(self.spec)
        return (self.names, self.spec, (*self.static, names) if names else self.static)

    def find(self, versions: Mapping[Key, V]) -> V | tuple[()]:
        """Look up the key. Names that are no strings are rare, so they are looked up last."""
        found = versions.get((self.names, self.spec, self.static))
        return found if found is not None else versions.get(self.key, ())

    @cached_property
    def leaf_names(self) -> list[str]:
        paths = optree.treespec_paths(self.spec)
        return [self.names[first] + "".join(f"[{each!r}]" for each in rest) for first, *rest in paths]

    def described(self) -> tuple[tuple[Leaf, ...], list[Any]]:
        """Return the layout of each leaf, and the leaves as compiled code takes them."""
        pairs = [self.describe(*each) for each in zip(self.leaves, self.leaf_names, strict=True)]
        return tuple(layout for layout, _ in pairs), [leaf for _, leaf in pairs]

    def leaves_of(self, names: Collection[str]) -> tuple[int, ...]:
        """The numbers of the leaves that belong to some of the arguments."""
        owners = enumerate(name.partition("[")[0] for name in self.leaf_names)
        return tuple(number for number, owner in owners if owner in names)

    def static_arguments(self, static_argnames: Collection[str]) -> list[Any]:
        """The static arguments and leaves of the call. Raise for a generator of random numbers, which cannot be
        static."""
        given = self.bound.arguments
        names = [name for name in static_argnames if name in given]
        for name in names:
            if is_source(given[name]):
                raise TypeError(not_traced(name, given[name]))
        return [*(given[name] for name in names), *(each[0] for each in self.values or () if each is not None)]

    def caller(
        self, function: Callable[..., Any], may_write: bool, state: Collection[StateVariable] = ()
    ) -> Callable[[list[Any]], Any]:
        """Return ``function`` as a function of the leaves. ``may_write``: whether objects that it reaches by names may
        write into state that outlives the call; the arguments are checked here."""

        def call(leaves: list[Any]) -> Any:
            if self.lengths is not None:
                with_lengths(leaves, self.lengths)
            if self.values is not None:
                leaves = with_values(leaves, self.values)
            if self.generators is not None:
                leaves = self.generators.traced(leaves)
            dynamic = optree.tree_unflatten(self.spec, leaves)
            bound = inspect.BoundArguments(self.bound.signature, dict(self.bound.arguments))
            bound.arguments.update(zip(self.names, dynamic, strict=True))
            if not may_write and not state and are_harmless(bound.arguments.values()):
                return as_traced(function)(*bound.args, **bound.kwargs)
            with nothing_written(function, bound.arguments.values()), in_place(state) as keep:
                result = as_traced(function)(*bound.args, **bound.kwargs)
                keep()
                return result

        return call


def bound_to(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], described: str
) -> inspect.BoundArguments:
    """Bind the arguments to their names; an error names the function."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        text = str(error)
    takes = ", ".join(str(each) for each in signature.parameters.values())
    raise TypeError(f"{described}: {text}; it takes ({takes})")


def bind(
    bound: inspect.BoundArguments,
    static_argnames: Collection[str],
    described: str,
    watched: str = "",
    convert: Conversion | None = None,
) -> Arguments:
    """Bind and flatten the arguments of a call of the function that is ``described``. A default is part of the
    function, whatever it is. A version is made for the facts alone that ``convert`` needs."""
    arguments = bind_flat(bound, static_argnames, described, watched)
    if convert is not None:
        arguments.know(convert.known)
        arguments.fix_lengths(convert.places)
        arguments.fix_numbers(convert.fixed)
    return arguments


def bind_flat(
    bound: inspect.BoundArguments, static_argnames: Collection[str], described: str, watched: str
) -> Arguments:
    static: list[tuple[Hashable, ...]] = []
    dynamic: dict[str, Any] = {}
    # a tuple, not the dict itself: a pytree sorts the keys of a dict, and leaves should come in calling order
    for name, argument in bound.arguments.items():
        if name in static_argnames or type(argument) is str:  # a version for each text, which no number can stand for
            static.append((name, typed(hashable(argument, name, described))))
        else:
            dynamic[name] = argument
    if chosen() != CHOICES[0]:
        static.append(("on_linalg_error", chosen()))
    if watched:
        static.append(("debug_nans", watched))
    known_to_trees()
    leaves, spec = flatten(tuple(dynamic.values()))
    if len(leaves) > MOST_LEAVES:
        _, largest = max(zip((each.num_leaves for each in spec.children()), dynamic, strict=True))
        raise too_many(f"the arguments of {described}, most of all {largest!r},", len(leaves))
    arguments = Arguments(bound, tuple(static), tuple(dynamic), leaves, spec, watched)
    arguments.take_static_leaves()
    leaves = arguments.leaves
    if not any(map(is_generator, leaves)):
        return arguments
    generators = Held(leaves, arguments.leaf_names)
    given = (*arguments.static, (GENERATORS, generators.key))
    return replace(arguments, static=given, leaves=generators.replaced(leaves), generators=generators)


def too_many(what: str, count: int) -> TypeError:
    return TypeError(
        f"{what} hold {count:,} arrays and numbers, and compiled functions take and return {MOST_LEAVES:,} at most: a "
        f"list is a tree of its elements, and np.array of it is one array"
    )


def hashable(argument: Any, name: str, described: str) -> Hashable:
    try:
        hash(argument)
    except TypeError:
        kind = type(argument).__name__
        raise TypeError(
            f"the static argument {name!r} of {described} is of type {kind}, which cannot be hashed: "
            "pass a tuple, or an argument that is not static"
        ) from None
    return argument


def parameter_names(
    signature: inspect.Signature, names: str | Iterable[str], option: str, described: str
) -> tuple[str, ...]:
    """Return the names of arguments that an option of `graph_jit` gives. Raise for one that the function does not
    have."""
    result = (names,) if isinstance(names, str) else tuple(names)
    for name in result:
        if name not in signature.parameters:
            known = ", ".join(signature.parameters) or "none"
            raise ValueError(
                f"{option} names {name!r}, which is not an argument of {described}; its arguments: {known}"
            )
    return result


def is_flat_call(
    signature: inspect.Signature, names: tuple[str, ...], spec: optree.PyTreeSpec, static: tuple[Any, ...]
) -> bool:
    """Whether the arguments are the first parameters, each one leaf, so that a positional call passes the leaves; the
    last of them may be the tuple ``*args``."""
    keyword = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    parameters = tuple(name for name, each in signature.parameters.items() if each.kind not in keyword)
    if static or names != parameters[: len(names)]:
        return False
    last = signature.parameters[names[-1]] if names else None
    several = last is not None and last.kind is inspect.Parameter.VAR_POSITIONAL
    nodes = 2 if several else 1  # that of all arguments, and the tuple
    return spec.num_nodes == spec.num_leaves + nodes and (several or spec.num_leaves == len(names))


def positional_names(signature: inspect.Signature) -> tuple[str | None, ...]:
    """The keywords by which the first arguments may be given, in order; None for one that is positional alone."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [each for each in signature.parameters.values() if each.kind in kinds]
    return tuple(None if each.kind is inspect.Parameter.POSITIONAL_ONLY else each.name for each in parameters)


def in_order(names: tuple[str | None, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the arguments of a call as positional ones, if its keywords are those of the parameters that follow; else
    None."""
    following = names[len(args) : len(args) + len(kwargs)]
    if following == tuple(kwargs):
        return (*args, *kwargs.values())
    if kwargs.keys() != set(following):
        return None
    return (*args, *(kwargs[each] for each in following if each is not None))


def signature_of_callable(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:  # a function in C that does not tell
        return inspect.signature(lambda *args, **kwargs: None)


def without_lengths(key: Key) -> Key:
    """Return a key without lengths: versions that are made for them require them themselves."""
    names, spec, static = key
    return names, spec, tuple(each for each in static if each[:1] != (LENGTHS,))


def symbol(name: str) -> str:
    """The name of a function as part of the names of its native ones."""
    return "".join(each if each.isalnum() else "_" for each in name)


def takes(signature: inspect.Signature, name: str) -> bool:
    """Whether a function has an argument of a name, or takes any keyword."""
    return name in signature.parameters or any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values()
    )
