"""Linear algebra by what is known of the matrices: fewer factorisations, and smaller ones.

Before differentiation, too: the derivative of the better form is the better one. A rule keeps the error that NumPy
raises for a singular matrix. So ``inv(inv(a))`` stays what it is, as does ``det(inv(a))``; and Cholesky's factor of
``l @ l.T`` is `l` only where its diagonal is positive, which is known of what is such a factor already.
"""

from __future__ import annotations

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Node, Value
from numbagraph.ops.checking import check
from numbagraph.ops.linalg.common import adjoint, conj
from numbagraph.ops.linalg.determinants import sign_of_product, slogdet
from numbagraph.ops.product import Flags, is_thin, matrix_product, transposed_matrix
from numbagraph.rewrite import patterns
from numbagraph.rewrite.batches import BATCHES
from numbagraph.rewrite.engine import RuleSet, rule
from numbagraph.rewrite.facts import floating, is_op
from numbagraph.rewrite.matrix_facts import (
    LOWER,
    is_diagonal,
    is_orthogonal,
    is_symmetric,
    is_triangular,
    is_unit,
    structure,
)
from numbagraph.rewrite.patterns import (
    absolute,
    as_scalar,
    determinant_of,
    log,
    main_diagonal,
    matmul,
    solve_factored,
    solve_triangular,
    transpose,
)


def oriented(x: Value, transposed: bool) -> Value:
    """A matrix as an operand of a product."""
    return transposed_matrix(x) if transposed else x


def inverse_times(a: Value, f: Value, p: Value, c: Value, trans: int, on_error: str, transposed: Flags) -> Value:
    """``inv(a) @ c``, by solving for the columns of ``c``."""
    first, second = transposed
    return solve_factored(a, f, p, oriented(c, second), trans=trans ^ first, on_error=on_error)


def times_inverse(a: Value, f: Value, p: Value, c: Value, trans: int, on_error: str, transposed: Flags) -> Value:
    """``c @ inv(a)``, by solving for its rows with the transposed matrix."""
    first, second = transposed
    solution = solve_factored(a, f, p, oriented(c, not first), trans=trans ^ (not second), on_error=on_error)
    return transposed_matrix(solution)


def is_row(c: Value, transposed: bool) -> bool:
    return shapes.resolve(c.shape[-1 if transposed else -2]) == 1


# For many right-hand sides, as rows of data are, a product with the inverse takes half of the time of their solutions.
INVERSES = (
    rule(
        lambda a, f, p, b, c, *, trans, on_error, transposed: matmul(
            solve_factored(a, f, p, b, trans=trans, on_error=on_error), c, transposed=transposed
        ),
        inverse_times,
        where=lambda a, b, c: is_unit(b) and c.ndim <= a.ndim,
        name="inv(a) @ c",
    ),
    rule(
        lambda a, f, p, b, c, *, trans, on_error, transposed: matmul(
            c, solve_factored(a, f, p, b, trans=trans, on_error=on_error), transposed=transposed
        ),
        times_inverse,
        where=lambda a, b, c, transposed: is_unit(b) and c.ndim <= a.ndim and is_row(c, transposed[0]),
        name="c @ inv(a)",
    ),
)


def divided(a: Value, b: Value, on_error: str) -> Value:
    """The solution of a system with a diagonal matrix, which has one where no element is 0."""
    elements = main_diagonal(a)
    nonzero = registry["not_equal"](elements, as_value(0))
    if on_error == "raise":
        elements = check(elements, nonzero, message="Singular matrix", error=np.linalg.LinAlgError)
    if on_error == "nan":
        every = registry["all"](nonzero, -1, keepdims=True)
        elements = registry["where"](every, elements, np.asarray(np.nan, elements.dtype)[()])
    return b / registry["expand_dims"](elements, -1)


def conjugated(a: Value, trans: int) -> Value:
    """A diagonal matrix as ``trans`` says."""
    return conj(a) if trans == 2 else a


DIAGONAL = (
    rule(
        lambda a, f, p, b, *, trans, on_error: solve_factored(a, f, p, b, trans=trans, on_error=on_error),
        lambda a, b, on_error: divided(a, b, on_error),
        where=lambda a: is_diagonal(a),
        name="solve(a diagonal matrix)",
    ),
    rule(
        lambda a, b, *, trans, on_error: solve_triangular(a, b, trans=trans, on_error=on_error, unit_diagonal=False),
        lambda a, b, trans, on_error: divided(conjugated(a, trans), b, on_error),
        where=lambda a: is_diagonal(a),
        name="solve_triangular(a diagonal matrix)",
    ),
    rule(
        lambda a, b, *, transposed: matmul(a, b, transposed=transposed),
        lambda b, transposed: oriented(b, transposed[1]),
        where=lambda a: is_unit(a),
        name="the unit matrix @ b",
    ),
    rule(
        lambda a, b, *, transposed: matmul(a, b, transposed=transposed),
        lambda a, transposed: oriented(a, transposed[0]),
        where=lambda b: is_unit(b),
        name="a @ the unit matrix",
    ),
    rule(
        lambda a, b, *, transposed: matmul(a, b, transposed=transposed),
        lambda a, b, transposed: registry["expand_dims"](main_diagonal(a), -1) * oriented(b, transposed[1]),
        where=lambda a: is_diagonal(a),
        name="a diagonal matrix @ b",
    ),
    rule(
        lambda a, b, *, transposed: matmul(a, b, transposed=transposed),
        lambda a, b, transposed: oriented(a, transposed[0]) * registry["expand_dims"](main_diagonal(b), -2),
        where=lambda b: is_diagonal(b),
        name="a @ a diagonal matrix",
    ),
)


def by_triangle(a: Value, b: Value, trans: int, on_error: str) -> Value:
    lower = LOWER in structure(a)
    return solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=False, on_error=on_error)


def is_product_of_triangles(a: Value) -> bool:
    return is_op(a, "matmul") and all(map(is_triangular, a.inputs))


def by_triangles(a: Value, b: Value, trans: int, on_error: str) -> Value:
    """The solution of a system whose matrix is a product: by one factor after the other."""
    assert is_op(a, "matmul")
    factors = list(zip(a.inputs, a.attrs["transposed"], strict=True))
    for factor, flag in reversed(factors) if trans else factors:
        b = by_triangle(factor, b, trans ^ flag, on_error)
    return b


TRIANGULAR = (
    rule(
        lambda a, f, p, b, *, trans, on_error: solve_factored(a, f, p, b, trans=trans, on_error=on_error),
        lambda a, b, trans, on_error: by_triangle(a, b, trans, on_error),
        where=lambda a: is_triangular(a),
        name="solve(a triangular matrix)",
    ),
    rule(
        lambda a, f, p, b, *, trans, on_error: solve_factored(a, f, p, b, trans=trans, on_error=on_error),
        lambda a, b, trans, on_error: by_triangles(a, b, trans, on_error),
        where=lambda a: is_product_of_triangles(a),
        name="solve(a product of triangular matrices)",
    ),
    rule(
        lambda a, b, *, trans, lower, unit_diagonal, on_error: solve_triangular(
            transpose(a, axes=(-1, -2)), b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, on_error=on_error
        ),
        lambda a, b, trans, lower, unit_diagonal, on_error: solve_triangular(
            a, b, trans=1 - trans, lower=not lower, unit_diagonal=unit_diagonal, on_error=on_error
        ),
        where=lambda trans: trans < 2,
    ),
)

ORTHOGONAL = (
    rule(
        lambda a, f, p, b, *, trans: solve_factored(a, f, p, b, trans=trans),
        lambda a, b, trans: matrix_product(conj(a) if trans else adjoint(a), b),
        where=lambda a: is_orthogonal(a),
        name="solve(an orthogonal matrix)",
    ),
    rule(lambda x: transpose(x, axes=(-1, -2)), lambda x: x, where=lambda x: is_symmetric(x)),
)


def diagonals(a: Value) -> list[Value]:
    """The diagonals of the triangular matrices of which a matrix is the product; none where it is no such product."""
    if is_triangular(a):
        return [main_diagonal(a)]
    return [main_diagonal(each) for each in a.inputs] if is_op(a, "matmul") and is_product_of_triangles(a) else []


def product_of_diagonals(a: Value) -> Value:
    first, *rest = [patterns.prod(each, axes=(-1,)) for each in diagonals(a)]
    return first * rest[0] if rest else first


def logarithm_of_diagonals(a: Value) -> Value:
    first, *rest = [patterns.sum(log(patterns.absolute(each)), axes=(-1,)) for each in diagonals(a)]
    return first + rest[0] if rest else first


def sign_of_diagonals(a: Value) -> Value:
    first, *rest = map(sign_of_product, diagonals(a))
    return first * rest[0] if rest else first


def logarithm_of_size(a: Value) -> Value:
    """The logarithm of a determinant's magnitude, without the determinant, which may overflow."""
    return slogdet(a)[1]


def logarithm_of_determinant(a: Value) -> Value:
    """The logarithm of a determinant; NaN where the determinant is negative."""
    sign, size = slogdet(a)  # type: ignore[misc]
    return size + registry["where"](registry["less"](sign, 0), np.asarray(np.nan, a.dtype)[()], 0)


DETERMINANTS = (
    rule(
        lambda d, a, f, p: determinant_of(d, a, f, p, part="value"),
        lambda a: product_of_diagonals(a),
        where=lambda a: bool(diagonals(a)),
    ),
    rule(
        lambda d, a, f, p: determinant_of(d, a, f, p, part="logarithm"),
        lambda a: logarithm_of_diagonals(a),
        where=lambda a: floating(a) and bool(diagonals(a)),
    ),
    rule(
        lambda d, a, f, p: determinant_of(d, a, f, p, part="sign"),
        lambda a: sign_of_diagonals(a),
        where=lambda a: floating(a) and bool(diagonals(a)),
    ),
)

LOGARITHMS = (
    rule(
        lambda d, a, f, p: log(determinant_of(d, a, f, p, part="value")),
        lambda a: logarithm_of_determinant(a),
        where=lambda a: floating(a),
    ),
    rule(
        lambda d, a, f, p: log(as_scalar(determinant_of(d, a, f, p, part="value"))),
        lambda a: logarithm_of_determinant(a),
        where=lambda a: floating(a),
    ),
    rule(
        lambda d, a, f, p: log(absolute(determinant_of(d, a, f, p, part="value"))),
        lambda a: logarithm_of_size(a),
    ),
    rule(
        lambda d, a, f, p: log(absolute(as_scalar(determinant_of(d, a, f, p, part="value")))),
        lambda a: logarithm_of_size(a),
    ),
)


def is_square_product(a: Value, b: Value, node: Node, transposed: Flags) -> bool:
    """Whether the product is square, and one for BLAS."""
    return shapes.same(*node.inputs[0].shape[-2:]) and not is_thin(a, b, transposed)


DIAGONALS = (
    rule(
        lambda a, b, *, transposed: main_diagonal(matmul(a, b, transposed=transposed)),
        lambda a, b, transposed: patterns.sum(oriented(a, transposed[0]) * oriented(b, not transposed[1]), axes=(-1,)),
        where=is_square_product,
    ),
)

ALGEBRA = RuleSet(
    "algebra", [*INVERSES, *DIAGONAL, *ORTHOGONAL, *TRIANGULAR, *DETERMINANTS, *DIAGONALS, *BATCHES], exact=False
)
LOG_DETERMINANTS = RuleSet("logarithms of determinants", LOGARITHMS, exact=False)
