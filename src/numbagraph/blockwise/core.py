"""The core op kind: ops on vectors and matrices, such as ``(m,m),(m,n)->(m,n)``, for every element of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import Reference, align_batches, broadcasting_vjp, reference_of
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.signature import Lengths, Signature, parse
from numbagraph.intrinsics.emitters.core import Algorithm, CoreEmitter
from numbagraph.intrinsics.emitters.fortran import LONGEST
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from numbagraph.ir.values import ArrayType, Batch, Cotangents, Node, Op, Unsupported, Value, Vjp, as_it_is

SINGLE = (FLOAT32, COMPLEX64)
Scratch = Callable[..., Sequence[tuple[np.dtype, Sequence[int | lowering.Scalar]]]]
"""``scratch(dtype, lengths, **attrs)``: the dtype and the shape of each piece of memory that one element needs."""


def core_op(
    reference: Reference | None,
    signature: str,
    *,
    evaluate: Callable[..., Any],
    library: Algorithm,
    small: Algorithm | None = None,
    size: str = "",
    short: int = 16,
    long: Algorithm | None = None,
    least_long: int = 0,
    threaded: bool = True,
    frontend: Callable[..., Any],
    vjp: Vjp | Unsupported,
    jnp: Callable[..., Any] | Unsupported,
    samples: Callable[..., Any],
    sizes: Callable[..., Lengths] = lambda lengths, **attrs: {},
    dtypes: Callable[..., Sequence[np.dtype]] | None = None,
    scratch: Scratch = lambda dtype, lengths, **attrs: (),
    name: str | None = None,
    implements: tuple[Any, ...] = (),
    longest: int = LONGEST,
    determined: Callable[..., Any] = as_it_is,
    regular: bool = False,
    ulp: float = 64.0,
    batched: Batch | Unsupported | None = None,
    in_place: bool = False,
    fails_first: bool = False,
    rows: str = "",
    least_rows: int = 1,
) -> Op:
    """Declare an op on the last dimensions of its operands; all others are those of a batch, and broadcast.

    Parameters
    ----------
    signature
        The core dimensions, as in NEP 20. An op of several results is *joint*: each is a node, of attribute
        ``result``, and one call computes all of them.
    evaluate
        ``evaluate(*arrays, **attrs)``: the result, or the tuple of results, on stacks of matrices, with NumPy.
    library, small, size, short, long, least_long, threaded, in_place
        The algorithms for one element: see `numbagraph.intrinsics.emitters.core`.
    frontend
        The function that takes the arguments, promotes them (see `promoted`), and binds the op.
    sizes
        ``sizes(lengths, **attrs)``: the lengths that stand in the results alone.
    dtypes
        The dtype of each result, from those of the operands. By default it is that of the first one.
    scratch
        The memory that one element needs.
    rows, least_rows
        The first length of operands and results, if it is that of rows which have nothing to do with each other: then
        some of them may be computed at a time, as those of a batch; but not so few that what comes first takes longest.
    longest
        The greatest length.
    fails_first
        Whether a call fails before it writes anything, if it does: then it may write into an argument.
    determined
        A function of the results that gives the part of them that is determined: eigenvectors are, but for a factor.
    regular
        Whether results are determined for matrices of full rank only; it is so where not all is determined.
    batched
        The batching rule, if a batch takes more than one call; or the reason why there is none.
    """
    if name is None:
        assert reference is not None
        name = reference_of(reference)[0]
    parsed = parse(signature)
    multi_result = len(parsed.outputs) > 1
    inputs, outputs = (tuple(core.labels for core in side) for side in (parsed.inputs, parsed.outputs))
    emitter = CoreEmitter(
        *(name, inputs, outputs, library, small, size or inputs[0][0]),
        short=short,
        long=long,
        least_long=least_long,
        threaded=threaded,
        in_place=in_place,
    )

    cores = tuple(len(names) - (names[:1] == (rows,)) for names in (*inputs, *outputs))

    def all_lengths(operands: Sequence[Value], attrs: dict[str, Any]) -> Lengths:
        lengths = parsed.bind(name, [each.shape for each in operands]).lengths
        require_short(name, parsed, lengths, longest)
        return {**lengths, **sizes(lengths, **attrs)}

    def infer(*operands: Value, **attrs: Any) -> ArrayType:
        result = attrs.pop("result", 0)
        lengths = all_lengths(operands, attrs)
        batch = parsed.batch_shape(name, [each.shape for each in operands])
        own = [each.dtype for each in operands]
        given = dtypes(*own)[result] if dtypes is not None else own[0]
        return ArrayType(given, (*batch, *(lengths[each] for each in outputs[result])))

    def needed(node: Node) -> Sequence[lowering.Memory]:
        attrs = {key: each for key, each in node.attrs.items() if key != "result"}
        lengths = {key: lowering.extent_scalar(extent) for key, extent in all_lengths(node.inputs, dict(attrs)).items()}
        return [memory(*each) for each in scratch(node.inputs[0].dtype, lengths, **attrs)]

    def of_call(g: Any, y: Value, *operands: Value, **attrs: Any) -> Cotangents:
        attrs.pop("result", None)
        return vjp(g, y, *operands, **attrs)

    return registry.register(
        Op(
            name=name,
            kind="core op",
            reference=one_result(evaluate),
            infer=infer,
            frontend=frontend,
            lower=lowering.Core(
                emitter,
                *(tuple(map(len, inputs)), tuple(map(len, outputs))),
                in_place=in_place,
                fails_first=fails_first,
                scratch=needed,
                cores=cores,
                least_rows=least_rows,
            ),
            vjp=broadcasting_vjp(vjp if isinstance(vjp, Unsupported) else of_call),
            batch=batch_of_cores(parsed) if batched is None else batched,
            jnp=jnp if isinstance(jnp, Unsupported) else one_result(jnp),
            samples=samples,
            implements=(*([reference] if reference is not None else []), *implements),
            multi_result=multi_result,
            zero_dim="array",
            determined=determined,
            regular=regular or determined is not as_it_is,
            ulp=ulp,
        )
    )


def one_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of several results so that it returns the result of the number ``result``, if it is called with
    one."""

    def call(*arrays: Any, **attrs: Any) -> Any:
        result = attrs.pop("result", None)
        found = function(*arrays, **attrs)
        return found if result is None else found[result]

    return call


def batch_of_cores(signature: Signature) -> Batch:
    """The batching rule of an op that takes any leading dimensions of its cores."""

    def batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], **attrs: Any) -> Value:
        return op.bind(*align_batches(inputs, batched, map(len, signature.inputs)), **attrs)

    return batch


def memory(dtype: np.dtype, shape: Sequence[int | lowering.Scalar]) -> lowering.Memory:
    """A piece of scratch memory, as the type and the extents of a buffer."""
    extents = tuple(lowering.literal(each) if isinstance(each, int) else each for each in shape)
    return ArrayType(dtype), extents


def require_short(name: str, signature: Signature, lengths: Lengths, longest: int) -> None:
    """Require lengths to fit into the 32 bits that LAPACK has for them. A square matrix of a length that does not fit
    would not fit into memory, so it needs no check."""
    squared = {label for core in signature.inputs for label in core.labels if core.labels.count(label) > 1}
    for label, extent in lengths.items():
        if label not in squared or longest < LONGEST:
            fits = shapes.compare("less_equal", extent, longest)
            shapes.require(fits, f"{name}: a length is more than {longest}")


def promoted(*operands: Any, ranks: Sequence[int] = (2,)) -> list[Value]:
    """Return the operands in the common dtype that `numpy.linalg` computes in: integers become float64, whatever else
    there is."""
    values = [as_value(each) for each in operands]
    for value, rank in zip(values, ranks, strict=False):
        if value.ndim < rank:
            raise np.linalg.LinAlgError(
                f"{value.ndim}-dimensional array given. Array must be at least {('', 'one', 'two')[rank]}-dimensional"
            )
    dtype = common_dtype([value.dtype for value in values])
    return [convert(value, dtype) for value in values]


def common_dtype(dtypes: Sequence[np.dtype]) -> np.dtype:
    is_complex = any(dtype.kind == "c" for dtype in dtypes)
    if all(dtype in SINGLE for dtype in dtypes):
        return COMPLEX64 if is_complex else FLOAT32
    return COMPLEX128 if is_complex else FLOAT64


class NotSquareError(shapes.ShapeError, np.linalg.LinAlgError):
    """The error of a matrix that is not square, where NumPy raises its own error."""

    __module__ = "numbagraph.errors"


def require_square(value: Value) -> None:
    text = "Last 2 dimensions of the array must be square"
    rows, columns = value.shape[-2:]
    shapes.require_same(rows, columns, text, NotSquareError)
