"""Operands that are packed before nests which reduce short rows: for lengths about those where it is worth it."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.intrinsics.emitters.target import emitting_for, host
from numbagraph.ir.structs import replace
from numbagraph.testing import LAYOUTS

RNG = np.random.default_rng(0)
FUNCTIONS = {
    "squares": lambda a, b: ((a[:, None] - b) ** 2).sum(-1),
    "largest": lambda a, b: np.abs(a[:, None] - b).max(-1),
    "smallest": lambda a, b: (a[:, None] * b).min(-1),
    "any": lambda a, b: np.any(a[:, None] < b, -1),
    "differ": lambda a, b: np.mean(a[:, None] != b, -1),
    "cosines": lambda a, b: (a[:, None] * b).sum(-1) / np.sqrt((a[:, None] ** 2).sum(-1) * (b**2).sum(-1) + 1),
    "chosen": lambda a, b: np.where(a[:, None] > b, a[:, None], b * 2).sum(-1),
    "function of one": lambda a, b: np.abs(a[:, None] - np.sin(b)).sum(-1),
    "function of both": lambda a, b: np.exp(-((a[:, None] - b) ** 2)).sum(-1),
    "weighted": lambda a, b: (np.abs(a[:, None] - b) * np.arange(1, 1 + a.shape[1])).sum(-1),
    "reversed": lambda a, b: (a[:, None] * b[::-1, ::-1]).sum(-1),
    "both ways": lambda a, b: (a[:, None] - b).sum(-1) + (b[:, None] - a).max(-1, initial=0).T,
    "itself": lambda a, b: np.abs(b[:, None] - b).sum(-1),
}
LENGTHS = [
    (times, rows, columns)
    for times in (0, 1, 2, 9, 70)
    for rows in (0, 1, 15, 16, 17, 32, 33, 63, 64, 130)
    for columns in (0, 1, 3, 8, 33, 256, 257)
]


def close(found, expected):
    assert found.dtype == expected.dtype
    rounding = 1e-4 if expected.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding)


def numbers(dtype, *shape):
    found = RNG.uniform(-1, 1, shape) if dtype[0] == "f" else RNG.integers(0, 9, shape)
    return found.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", *(pytest.param(each, marks=pytest.mark.repeats) for each in ("f4", "i4"))])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lengths(name, dtype):
    function = FUNCTIONS[name]
    compiled = graph_jit(lambda a, b: function(a, b))
    for times, rows, columns in LENGTHS:
        if not columns and name in ("largest", "smallest", "differ", "both ways"):
            continue
        a, b = numbers(dtype, times, columns), numbers(dtype, rows, columns)
        close(compiled(a, b), function(a, b))


@pytest.mark.parametrize("name", ["squares", "largest"])
def test_lengths_without_avx_512(name):
    with emitting_for(replace(host(), features=host().features.replace("+avx512", "-avx512"))):
        test_lengths(name, "f8")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(layout):
    function = FUNCTIONS["squares"]
    a, b = numbers("f8", 20, 5), numbers("f8", 80, 5)
    for given in ((a, layout(b)), (layout(a), layout(b))):
        close(graph_jit(lambda a, b: function(a, b))(*given), function(*given))


def test_special_numbers_stay_in_their_rows():
    a, b = numbers("f8", 20, 5), numbers("f8", 100, 5)
    a[3, 2], b[7, 1], b[99, 4], b[64, 0] = np.nan, np.inf, np.nan, -np.inf
    for name in ("squares", "largest", "smallest"):
        function = FUNCTIONS[name]
        close(graph_jit(lambda a, b, function=function: function(a, b))(a, b), function(a, b))


def test_one_column_that_is_repeated():
    compiled = graph_jit(lambda a, b: FUNCTIONS["squares"](a, b))
    for a, b in ((20, 5), (80, 1)), ((20, 1), (80, 5)), ((20, 5), (1, 5)), ((1, 5), (80, 5)):
        given = numbers("f8", *a), numbers("f8", *b)
        close(compiled(*given), FUNCTIONS["squares"](*given))


def kernel_gradients(a, b, k):
    apart = (a[:, None] - b) * k[:, :, None]
    return apart.sum(1), apart.sum(0)


def accelerations(a, b, k):
    apart = a[:, None] - b
    return (apart * (k / ((apart**2).sum(-1) + 1) ** 1.5)[:, :, None]).sum(1)


BETWEEN = {
    "weighted": lambda a, b, k: (b * k[:, :, None]).sum(1),
    "differences": lambda a, b, k: ((a[:, None] - b) * k[:, :, None]).sum(1),
    "over the first": lambda a, b, k: ((a[:, None] - b) * k[:, :, None]).sum(0),
    "over both": lambda a, b, k: ((a[:, None] - b) * k[:, :, None]).sum((0, 1)),
    "largest": lambda a, b, k: (b * k[:, :, None]).max(1, initial=-9),
    "largest over the first": lambda a, b, k: (a[:, None] * b * k[:, :, None]).max(0, initial=-9),
    "two operands": lambda a, b, k: (np.where(b > 0, b[::-1], 2.0) * k[:, :, None]).sum(1),
    "kept": lambda a, b, k: ((a[:, None] - b) * k[:, :, None]).sum(1, keepdims=True),
    "one of several": lambda a, b, k: ((a[:, None] - b) * k[:, :, None]).sum(1)[:1],
    "both": kernel_gradients,
    "accelerations": accelerations,
}
BETWEEN_LENGTHS = [
    (times, rows, columns)
    for times in (0, 1, 2, 9, 70)
    for rows in (0, 1, 63, 64, 65, 600)
    for columns in (0, 1, 3, 8, 32, 33)
]


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("parallel", [False, pytest.param(True, marks=pytest.mark.repeats(but_each=3))])
@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.repeats)])
def test_sums_between(name, parallel, dtype):
    function = BETWEEN[name]
    compiled = graph_jit(lambda a, b, k: function(a, b, k), parallel=parallel)
    for times, rows, columns in BETWEEN_LENGTHS:
        given = numbers(dtype, times, columns), numbers(dtype, rows, columns), numbers(dtype, times, rows)
        found, expected = compiled(*given), function(*given)
        for one, other in zip(found, expected, strict=True) if name == "both" else [(found, expected)]:
            close(one, other)


def test_sums_between_of_batches():
    def function(a, b, k):
        apart = (a[:, :, None] - b[:, None]) * k[..., None]
        return apart.sum(2), apart.sum(1), apart.sum((0, 1)), (a[0, :, None] * b[0] * k[0, ..., None]).sum(0)

    compiled = graph_jit(function)
    for batch, times, rows, columns in ((3, 10, 70, 4), (9, 3, 64, 2), (1, 200, 150, 7), (2, 9, 70, 40)):
        given = [numbers("f8", batch, *each) for each in ((times, columns), (rows, columns), (times, rows))]
        for one, other in zip(compiled(*given), function(*given), strict=True):
            close(one, other)


def test_sums_between_in_steps():
    def function(x, v):
        for _ in range(5):
            apart = x[None] - x[:, None]
            v = v + 0.01 * (apart / ((apart**2).sum(-1) + 0.1)[:, :, None]).sum(1)
            x = x + 0.01 * v
        return x, v

    for count, columns in ((100, 3), (64, 2), (10, 3), (70, 50)):
        x, v = numbers("f8", count, columns), numbers("f8", count, columns)
        for one, other in zip(graph_jit(function)(x, v), function(x, v), strict=True):
            close(one, other)


def test_gradients_by_both_operands():
    def function(x):
        return np.sum(np.exp(-((x[:, None] - x) ** 2).sum(-1)))

    for count, columns in ((100, 3), (64, 2), (10, 3), (70, 50)):
        x = numbers("f8", count, columns)
        apart = x[:, None] - x
        expected = -4 * (apart * np.exp(-(apart**2).sum(-1))[:, :, None]).sum(1)
        close(graph_jit(grad(function))(x), expected)
        close(graph_jit(grad(function), parallel=True)(x), expected)


BATCHED = {
    "of one": lambda a, b: ((a[:, :, None] - b[0]) ** 2).sum(-1),
    "of each": lambda a, b: ((a[:, :, None] - b[:, None]) ** 2).sum(-1),
    "of the first": lambda a, b: ((a[0, :, None] - b[:, None]) ** 2).sum(-1),
    "of planes": lambda a, b: ((a[:, :, None] - b[:, None]) ** 2).sum((-1, -2)),
    "of an outer axis": lambda a, b: ((a[:, :, None] - b[:, None]) ** 2).sum(0),
}


@pytest.mark.parametrize("name", BATCHED)
@pytest.mark.parametrize("parallel", [False, True])
def test_batches(name, parallel):
    compiled = graph_jit(lambda a, b: BATCHED[name](a, b), parallel=parallel)
    for batch, times, rows, columns in ((3, 10, 70, 4), (9, 3, 64, 2), (1, 200, 150, 7)):
        a, b = numbers("f8", batch, times, columns), numbers("f8", batch, rows, columns)
        close(compiled(a, b), BATCHED[name](a, b))


def test_under_vmap():
    a, b = numbers("f8", 4, 20, 3), numbers("f8", 4, 90, 3)
    found = vmap(FUNCTIONS["squares"])(a, b)
    close(found, np.stack([FUNCTIONS["squares"](*each) for each in zip(a, b, strict=True)]))


def moved(a, b):
    b = b * 2
    first = ((a[:, None] - b) ** 2).sum(-1)
    b[3:9] = 1
    return first, np.abs(a[:, None] - b).sum(-1)


def in_steps(a, b):
    b = b.copy()
    total = np.zeros((len(a), len(b)))
    for step in range(4):
        total += np.abs(a[:, None] - b).sum(-1)
        b[step] += 1.5
        b *= 0.5
    return total


@pytest.mark.parametrize("function", [moved, in_steps])
def test_what_is_packed_changes(function):
    a, b = numbers("f8", 12, 3), numbers("f8", 77, 3)
    found, expected = graph_jit(function)(a, b), function(a, b)
    for one, other in zip(found, expected, strict=True):
        close(one, other)


def test_arguments_are_written_where_they_are_packed():
    def function(a, b):
        b[:, :] = ((a[:, None] - b) ** 2).sum(-1)

    a, b = numbers("f8", 80, 80), numbers("f8", 80, 80)
    expected = b.copy()
    function(a, expected)
    graph_jit(function)(a, b)
    close(b, expected)


def test_donated():
    function = FUNCTIONS["squares"]
    a, b = numbers("f8", 70, 70), numbers("f8", 70, 70)
    expected = function(a, b)
    close(graph_jit(lambda a, b: function(a, b), donate_argnames="b")(a, b.copy()), expected)


def test_gradients():
    def function(a, b):
        return np.sum(np.sqrt(((a[:, None] - b) ** 2).sum(-1)))

    a, b = numbers("f8", 12, 3), numbers("f8", 90, 3)
    apart = a[:, None] - b
    close(graph_jit(grad(function))(a, b), (apart / np.linalg.norm(apart, axis=-1, keepdims=True)).sum(1))


def test_rows_are_reduced_in_vectors_across_them():
    function = graph_jit(lambda a, b: FUNCTIONS["squares"](a, b))
    a, b = numbers("f8", 12, 3), numbers("f8", 90, 3)
    code = function.llvm(a, b, optimised=False)
    assert "strip.head" in code
    assert "pack" in code


def test_what_is_packed_is_explained():
    function = graph_jit(lambda a, b: FUNCTIONS["squares"](a, b))
    many, few = (function.explain(numbers("f8", 12, 3), numbers("f8", rows, 3)) for rows in (90, 9))
    assert "(pack): once < 1 x i2 < 3 x i1 < 90" in many
    assert "(pack): once < 0 x i2 < 3 x i1 < 9" in few


def test_what_is_not_packed_takes_no_memory():
    function = graph_jit(lambda a, b: FUNCTIONS["squares"](a, b))
    many, few = (function.explain(numbers("f8", 12, 3), numbers("f8", rows, 3)) for rows in (90, 9))
    assert "b_packed: 2.1 KiB" in many
    assert "b_packed: 0 bytes" in few
