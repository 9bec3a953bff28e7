"""The language of signatures."""

import pytest

from numbagraph.blockwise.signature import SignatureError, parse
from numbagraph.ir.shapes import ShapeError


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("(m,n),(n,p)->(m,p)", None),
        (" ( m , n ) , ( n ) -> ( m ) ", "(m,n),(n)->(m)"),
        ("(3),(3)->(3)", None),
        ("(m?,n),(n,p?)->(m?,p?)", None),
        ("(n|1),(n)->(n)", None),
        ("(m),(n)->(m+n-1)", None),
        ("(n)->(n * (n - 1) // 2)", "(n)->(n*(n-1)//2)"),
        ("(m),(n)->(max(m, n)),(min(m,2))", "(m),(n)->(max(m,n)),(min(m,2))"),
        ("(),(),<n>->(n)", None),
        ("(n>=2)->(),(n-1)", None),
        ("(m,n<=m)->()", None),
        ("()->()", None),
        ("->(n)", None),
        ("(n)->(k)", None),
    ],
)
def test_what_can_be_read(text, canonical):
    assert str(parse(text)) == (canonical or text)
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("(m,n", 4, "')' should stand here"),
        ("(m,n)->", 7, "'(' should stand here"),
        ("m->n", 0, "'(' should stand here"),
        ("(m)", 3, "'->' should stand here"),
        ("(m)->(m) x", 9, "the end of the signature"),
        ("(m,n)->(m.n)", 8, "lengths are integers and names"),
        ("(m)->(m/2)", 6, "lengths are integers and names"),
        ("(m)->(1.5)", 6, "lengths are integers and names"),
        ("(m)->(abs(m))", 6, "lengths are integers and names"),
        ("(m)->(m+)", 6, "a length should stand here"),
        ("(m!)->()", 1, "the name of a dimension"),
        ("(m,)->()", 3, "the name of a dimension"),
        ("(m)->(n-1)", 6, "no operand says what n is"),
        ("(m>=k)->()", 4, "no operand says what k is"),
        ("(m?|1)->()", 3, "optional or repeated"),
        ("(3?)->()", 1, "a fixed length"),
        ("(m)->(m?)", 7, "m is not optional"),
    ],
)
def test_errors_point_at_the_character(text, place, message):
    with pytest.raises(SignatureError, match=message.replace("(", r"\(").replace(")", r"\)")) as error:
        parse(text)
    lines = str(error.value).split("\n")
    assert lines[1:] == [f"  {text}", "  " + " " * place + "^"]


@pytest.mark.parametrize(
    ("text", "operands", "results"),
    [
        ("(m,n),(n,p)->(m,p)", [(2, 3), (3, 4)], [(2, 4)]),
        ("(m,n),(n,p)->(m,p)", [(7, 2, 3), (3, 4)], [(2, 4)]),
        ("(m?,n),(n,p?)->(m?,p?)", [(3,), (3, 4)], [(4,)]),
        ("(m?,n),(n,p?)->(m?,p?)", [(3,), (3,)], [()]),
        ("(n|1),(n)->(n)", [(1,), (4,)], [(4,)]),
        ("(n|1),(n|1)->(n)", [(4,), (1,)], [(4,)]),
        ("(n|1),(n|1)->(n)", [(1,), (1,)], [(1,)]),
        ("(m),(n)->(m+n-1)", [(3,), (4,)], [(6,)]),
        ("(n)->(n*(n-1)//2)", [(5,)], [(10,)]),
        ("(n)->(-n+7)", [(5,)], [(2,)]),
        ("(m),(n)->(max(m,n,2)),(min(m,n))", [(3,), (4,)], [(4,), (3,)]),
        ("(),<n>->(n),(n,2)", [(), 3], [(3,), (3, 2)]),
        ("(3)->(3)", [(3,)], [(3,)]),
    ],
)
def test_lengths_of_results(text, operands, results):
    signature = parse(text)
    assert signature.output_shapes("f", signature.bind("f", operands)) == results


def test_lengths_that_a_function_says():
    signature = parse("(n)->(k,n)")
    assert signature.open == ["k"]
    assert signature.output_shapes("f", signature.bind("f", [(3,)]), {"k": 5}) == [(5, 3)]


@pytest.mark.parametrize(
    ("text", "operands", "message"),
    [
        (
            "(m,n),(n)->(m)",
            [(2, 3), (4,)],
            r"f: axis -1 of operand 1, whose shape is \(4,\), has length 4, but n is 3 in .*axis -1 of operand 0",
        ),
        ("(n,n)->()", [(2, 3)], "axis -1 of operand 0, .* has length 3, but n is 2"),
        ("(3)->()", [(2,)], "has length 2, but 3 is 3"),
        ("(n|1),(n)->()", [(2,), (4,)], "has length 4, but n is 2"),
        ("(n),(n|1)->()", [(1,), (4,)], "has length 4, but n is 1"),
        ("(m,n)->()", [(4,)], r"operand 0, of shape \(4,\), has 1 dimensions, and needs at least 2"),
        ("(m?,n)->()", [()], "has 0 dimensions, and needs at least 1"),
        ("(n>=2)->()", [(1,)], "n>=2 in .*, but n is 1"),
        ("(m,n<m)->()", [(3, 3)], "n<m in .*, but n is 3"),
        ("(m),(n)->(m-n)", [(3,), (4,)], "the length m-n of a result is negative in .*, with m = 3, n = 4"),
    ],
)
def test_operands_that_do_not_fit(text, operands, message):
    signature = parse(text)
    with pytest.raises(ShapeError, match=message):
        signature.output_shapes("f", signature.bind("f", operands))
