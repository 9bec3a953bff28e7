"""Arrays under a mask: the elements that a boolean mask selects, side by side (Fortran's PACK), and back (UNPACK).

Their number is known only when the mask is: the length is a value, `count_true` of the mask. These nodes live while
a function is traced and differentiated; `numbagraph.rewrite.masks` then takes them apart. So the derivative of a
function of selected elements is a function of selected elements, too, and zero for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.lengths import both
from numbagraph.blockwise.promotion import as_value, convert, is_large, number_of
from numbagraph.blockwise.storing import written
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Unsupported, Value
from numbagraph.ops.shape import broadcast_value, expand_at, reshape_value, squeeze_at

INTERNAL = Unsupported("it stands for an index by a boolean mask while a function is traced")
ADVICE = (
    "how many elements a mask selects differs along the batch: reduce them inside of the mapped function "
    "(x[mask].sum()), or keep all of them (np.where(mask, x, 0))"
)


def mask_key(ndim: int, axis: int, rank: int, mask: Any) -> tuple[Any, ...]:
    """Return a mask as NumPy's key for an array: it stands for ``rank`` dimensions, the first of which is ``axis``."""
    return (slice(None),) * (ndim + axis) + (mask,) + (slice(None),) * (-axis - rank)


def mask_batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], **attrs: Any) -> Value:
    """Batch an op with one mask for all elements of a batch."""
    if not batched[0] or any(batched[1:]):
        raise NotImplementedError(ADVICE)
    return op.bind(*inputs, **attrs)


def mask_op(name: str, **properties: Any) -> Op:
    return registry.register(
        Op(
            name=name,
            kind="mask",
            frontend=INTERNAL,
            lower=INTERNAL,
            jnp=INTERNAL,
            samples=lambda rng, dtype: [],
            zero_dim="array",
            **properties,
        )
    )


count_true = mask_op(
    "count_true",
    reference=lambda mask: int(np.count_nonzero(mask)),
    infer=lambda mask: ArrayType(INT64, (), weak=True),
    vjp=lambda g, y, mask: (None,),
    batch=Unsupported(ADVICE),
)
"""The number of true elements of a mask, as a length."""


def pack_type(value: Value, mask: Value, count: Value, *, axis: int) -> ArrayType:
    first = value.ndim + axis
    return value.type.with_shape((*value.shape[:first], count, *value.shape[first + mask.ndim :]))


def unpack_type(value: Value, mask: Value, *, axis: int) -> ArrayType:
    place = value.ndim + axis
    return value.type.with_shape((*value.shape[:place], *mask.shape, *value.shape[place + 1 :]))


def pack_array(value: Any, mask: Any, count: int, *, axis: int) -> Any:
    return value[mask_key(value.ndim, axis, mask.ndim, mask)]


def unpack_array(value: Any, mask: Any, *, axis: int) -> Any:
    place = value.ndim + axis
    result = np.zeros((*value.shape[:place], *mask.shape, *value.shape[place + 1 :]), value.dtype)
    result[mask_key(result.ndim, axis - mask.ndim + 1, mask.ndim, mask)] = value
    return result


def unpack_vjp(g: Value, y: Value, x: Value, mask: Value, *, axis: int) -> tuple[Value, None]:
    """Return the cotangent of the packed elements; where their length may turn out to be 1, and they are repeated, it
    is summed."""
    extent = shapes.resolve(x.shape[axis])
    is_count_of_mask = is_late(extent) or shapes.not_one(extent)
    count = shapes.as_value(extent) if is_count_of_mask else count_true.bind(mask)
    found = pack.bind(g, mask, count, axis=axis - mask.ndim + 1)
    return found if is_count_of_mask else registry["sum_to_extents"](found, (axis,), (extent,)), None


pack = mask_op(
    "pack",
    batch=mask_batch,
    reference=pack_array,
    infer=pack_type,
    vjp=lambda g, y, x, mask, count, *, axis: (unpack.bind(g, mask, axis=axis + mask.ndim - 1), None, None),
)
"""The elements that a mask selects, of the dimensions from ``axis`` on: they become one."""

unpack = mask_op(
    "unpack",
    batch=mask_batch,
    reference=unpack_array,
    infer=unpack_type,
    vjp=unpack_vjp,
)
"""The elements along ``axis`` where a mask is true, and zeros elsewhere: ``pack`` transposed."""


def require_mask(value: Value, mask: Value, first: int) -> None:
    """Require that a mask fits the dimensions from ``first`` on."""
    if first + mask.ndim > value.ndim:
        text = f"too many indices for array: array is {value.ndim}-dimensional, but {first + mask.ndim} were indexed"
        raise IndexError(text)
    for number, extent in enumerate(mask.shape):
        length = value.shape[first + number]
        require_mask_length(length, extent, first + number)


def require_mask_length(length: Extent, extent: Extent, axis: int) -> None:
    text = (
        f"boolean index did not match indexed array along axis {axis}; size of axis is {shapes.resolve(length)} but "
        f"size of corresponding boolean axis is {shapes.resolve(extent)}"
    )
    shapes.require_same(length, extent, text, IndexError)


def selected(value: Value, mask: Value, first: int) -> Value:
    """Return the elements that a mask of the dimensions from ``first`` on selects."""
    require_mask(value, mask, first)
    return pack.bind(value, mask, count_true.bind(mask), axis=first - value.ndim)


def put_selected(value: Value, mask: Value, update: Value, first: int) -> Value:
    """Return a copy of ``value`` after ``value[mask] = update``, where the mask is of the dimensions from ``first``
    on."""
    require_mask(value, mask, first)
    below = value.ndim - first - mask.ndim
    update = without_surplus(convert(update, value.dtype), first + 1 + below)
    selecting = expand_at(mask, range(mask.ndim, mask.ndim + below))
    if update.ndim > below:
        update = spread(update, mask, value, first)
    elif update.ndim:
        update = broadcast_value(update, value.shape[value.ndim - below :])
    return registry["where"](selecting, update, value)


def without_surplus(update: Value, most: int) -> Value:
    """Return an update without leading dimensions of length 1 that its target does not have."""
    surplus = update.ndim - most
    return squeeze_at(update, range(surplus)) if surplus > 0 and set(update.shape[:surplus]) == {1} else update


def spread(update: Value, mask: Value, value: Value, first: int) -> Value:
    """Place the update of each selected element where that element is."""
    count = count_true.bind(mask)
    shape = (*value.shape[:first], count, *value.shape[first + mask.ndim :])
    axis = first - len(shape)
    if update.ndim > len(shape):
        if value.ndim > mask.ndim:
            raise ValueError(mismatch(update))
        text = f"NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has {update.ndim}"
        raise TypeError(f"{text} dimensions")
    given = update.shape[axis]
    if shapes.resolve(given) == 1:
        place = update.ndim + axis
        rest = expand_at(squeeze_at(update, [place]), range(place, place + mask.ndim))
        return broadcast_value(rest, value.shape)
    require_count(update, given, count, value, mask)
    target = (*value.shape[:first], given, *value.shape[first + mask.ndim :])
    return unpack.bind(broadcast_value(update, target), mask, axis=axis)


def mismatch(update: Value) -> str:
    return (
        f"shape mismatch: value array of shape {shapes.shape_text(update.shape)} could not be broadcast to "
        "indexing result, whose length is the number of elements that the mask selects"
    )


def require_count(update: Value, given: Extent, count: Value, value: Value, mask: Value) -> None:
    """Require an update to have as many elements as a mask selects, or one."""
    if shapes.same(given, count):
        return
    if value.ndim == mask.ndim:
        text = (
            f"NumPy boolean array indexing assignment cannot assign {shapes.resolve(given)} input values to the output "
            "values where the mask is true: there are not as many"
        )
    else:
        text = mismatch(update)
    fits: Any = shapes.compare("equal", given, count)
    if not shapes.not_one(given):
        fits = both(fits, shapes.compare("equal", given, 1), "logical_or")
    shapes.require(fits, text, ValueError)


def is_count(value: Any) -> bool:
    """Whether a value is the number of elements that a mask selects."""
    return isinstance(value, Node) and value.op is count_true


def is_late(extent: Extent) -> bool:
    """Whether a length is the number of elements that a mask selects."""
    return is_count(shapes.resolve(extent))


def casted(value: Any, dtype: np.dtype, casting: str, what: str) -> Value:
    """Return a value converted to the dtype of an array that it is written into; raise if NumPy's rule ``casting``
    forbids that."""
    value = as_value(value)
    if not value.type.weak and not np.can_cast(value.dtype, dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"{what}: cannot cast from {value.dtype} to {dtype} according to the rule {casting!r}")
    return convert(value, dtype)


def stored(values: Any, dtype: np.dtype, what: str) -> Value:
    """Return the values for `put_mask` and `place_mask` in the dtype of the array: NumPy casts arrays safely, and lists
    and scalars as in an assignment."""
    is_array = isinstance(values, np.ndarray) or (isinstance(values, Value) and values.ndim)
    return casted(values, dtype, "safe", what) if is_array else written(values, dtype)


def copied(own: Value, src: Any, casting: str, where: Any) -> Value:
    """Return ``own`` after ``np.copyto(own, src, casting, where)``."""
    given = number_of(src, own.dtype) if is_large(src) else as_value(src)
    if given.type.weak and casting != "unsafe" and "biufc".index(given.dtype.kind) > "biufc".index(own.dtype.kind):
        raise TypeError(f"copyto: cannot cast from {given.dtype} to {own.dtype} according to the rule {casting!r}")
    given = broadcast_value(casted(given, own.dtype, casting, "copyto"), own.shape)
    return registry["where"](broadcast_value(mask_of(where), own.shape), given, own)


def mask_of(where: Any) -> Value:
    mask = as_value(where)
    if mask.dtype != BOOL:
        raise TypeError(f"where= must be boolean, not {mask.dtype}")
    return mask


def computed_under(
    own: Value, where: Any, function: Callable[..., Value], operands: Sequence[Value], casting: str = "same_kind"
) -> Value:
    """Return ``own`` after a call of a ufunc with ``out=own`` and ``where=``, which computes only what the mask
    selects."""
    mask = broadcast_value(mask_of(where), own.shape)
    if not own.ndim:
        return registry["where"](mask, casted(function(*operands), own.dtype, casting, "out="), own)
    chosen = [selected(broadcast_value(each, own.shape), mask, 0) if each.ndim else each for each in operands]
    return put_selected(own, mask, casted(function(*chosen), own.dtype, casting, "out="), 0)


def put_mask(own: Value, mask: Any, values: Any) -> Value:
    """Return ``own`` after ``np.putmask(own, mask, values)``, where the values stand at their own positions, and are
    repeated."""
    values = stored(values, own.dtype, "putmask")
    mask = fitting(mask, own, "putmask: mask and data must be the same size")
    alike = values.ndim == own.ndim and all(map(shapes.same, values.shape, own.shape))
    return registry["where"](mask, values, own) if alike else put_repeated(own, mask, values, packed=False)


def place_mask(own: Value, mask: Any, values: Any) -> Value:
    """Return ``own`` after ``np.place(own, mask, values)``: the first values go to the true positions, in order."""
    values = stored(values, own.dtype, "place")
    mask = fitting(mask, own, "place: mask and data must be the same size")
    some = shapes.compare("not_equal", shapes.product(values.shape), 0)
    none = registry["logical_not"](registry["any"](mask))
    shapes.require(both(some, none, "logical_or"), "place: cannot insert from an empty array")
    return put_repeated(own, mask, values, packed=True)


def put_repeated(own: Value, mask: Value, values: Value, *, packed: bool) -> Value:
    """Return an array with values where a mask is true: those at the same positions, or one after the other."""
    size, count = shapes.product(own.shape), shapes.product(values.shape)
    if shapes.resolve(count) == 1:
        return registry["where"](mask, reshape_value(values, ()), own)
    flat = (reshape_value(each, [length]) for each, length in ((own, size), (mask, size), (values, count)))
    return reshape_value(registry["put_repeated"].bind(*flat, packed=packed), own.shape)


def fitting(mask: Any, own: Value, subject: str) -> Value:
    """Return a mask of any shape in the shape of an array, which must have as many elements."""
    mask = registry["not_equal"](as_value(mask), 0) if as_value(mask).dtype != BOOL else as_value(mask)
    if mask.ndim == own.ndim and all(map(shapes.same, mask.shape, own.shape)):
        return mask
    shapes.require_same(shapes.product(mask.shape), shapes.product(own.shape), subject)
    return reshape_value(mask, own.shape)
