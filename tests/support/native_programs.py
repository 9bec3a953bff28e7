"""Native functions for tests, whose programs are written by hand in LLVM IR."""

import numpy as np

from numbagraph.ir.abi import ArrayLeaf, NativeSignature, Result
from numbagraph.runtime.compile import Library, compile_module
from numbagraph.runtime.entry import EntryPlan, make_callable

FLOAT = np.dtype(np.float64)
DTYPES = [
    np.dtype(name)
    for name in [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
]

DECLARATIONS = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @usleep(i32)
declare double @exp(double)
"""


def vector(contiguous=True, dtype=FLOAT):
    return ArrayLeaf(dtype, (False,), contiguous)


def layout_of(array):
    ones = tuple(length == 1 for length in array.shape)
    return ArrayLeaf(array.dtype, ones, array.flags.c_contiguous, array.flags.fnc)


def shapes_text(extents, work=0, guard=0):
    """The shape function: an extent is a number, or the name of a place in ``meta`` as in "m0"."""
    lines = []
    for place, extent in enumerate((*extents, work)):
        value = str(extent)
        if value.startswith("m"):
            lines.append(f"%a{place} = getelementptr i64, ptr %meta, i64 {value[1:]}")
            lines.append(f"%v{place} = load i64, ptr %a{place}")
            value = f"%v{place}"
        lines.append(f"%e{place} = getelementptr i64, ptr %extents, i64 {place}")
        lines.append(f"store i64 {value}, ptr %e{place}")
    body = "\n  ".join(lines)
    return f"define i32 @shapes(ptr %data, ptr %meta, ptr %extents) {{\n  {body}\n  ret i32 {guard}\n}}\n"


def program_text(body, code=0):
    return f"define i32 @program(ptr %data, ptr %meta, ptr %results) {{\n{body}\n  ret i32 {code}\n}}\n"


def copy_text(result, source, size):
    """Copy bytes into a result, from "data", "meta", or the first element of a leaf as in "0"."""
    where = f"%{source}"
    prefix = ""
    if source.isdigit():
        where = f"%leaf{result}"
        prefix = (
            f"%place{result} = getelementptr ptr, ptr %data, i64 {source}\n{where} = load ptr, ptr %place{result}\n"
        )
    return f"""{prefix}
  %result{result}.at = getelementptr ptr, ptr %results, i64 {result}
  %result{result} = load ptr, ptr %result{result}.at
  call void @llvm.memcpy.p0.p0.i64(ptr %result{result}, ptr {where}, i64 {size}, i1 false)"""


ADD_ONE = """
  %x = load ptr, ptr %data
  %y = load ptr, ptr %results
  %n = load i64, ptr %meta
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %x.at = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %x.at
  %sum = fadd double %value, 1.0
  %y.at = getelementptr double, ptr %y, i64 %i
  store double %sum, ptr %y.at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:"""


def plan(signature, shapes, program, **options):
    library = Library(compile_module(DECLARATIONS + shapes + program), {})
    return EntryPlan(
        signature,
        shapes=library.address("shapes"),
        program=library.address("program"),
        keepalive=library,
        **options,
    )


def native(*arguments, **options):
    return make_callable([plan(*arguments, **options)], "native")


def add_one(**options):
    signature = NativeSignature((vector(),), (), (Result(FLOAT, 1),), single=True)
    return native(signature, shapes_text(["m0"], work="m0"), program_text(ADD_ONE), **options)


def identity(leaf, boxed, dtype=None):
    """Returns the value of a rank-0 argument."""
    dtype = dtype or leaf.dtype
    signature = NativeSignature((leaf,), (), (Result(dtype, 0, boxed),), single=True)
    return native(signature, shapes_text([]), program_text(copy_text(0, "0", dtype.itemsize)))


def probe(leaves, captured=()):
    """Returns the pointers and the extents and strides that a program is given."""
    leaf_of = [layout_of(array) for array in captured]
    integers = Result(np.dtype(np.int64), 1)
    signature = NativeSignature(tuple(leaves), tuple(leaf_of), (integers, integers), single=False)
    pointers, words = len(signature.leaves), signature.meta_offsets[-1]
    body = copy_text(0, "data", 8 * pointers) + copy_text(1, "meta", 8 * words)
    return native(signature, shapes_text([pointers, words]), program_text(body), captured=captured)


def donating(others=(), captured=()):
    leaves = [layout_of(array) for array in (*others, *captured)]
    arguments = (vector(), *leaves[: len(others)])
    signature = NativeSignature(arguments, tuple(leaves[len(others) :]), (Result(FLOAT, 1, donated=0),), single=True)
    return native(signature, shapes_text(["m0"]), program_text(ADD_ONE), captured=captured)


def unaligned(n):
    return np.frombuffer(bytes(8 * n + 1), dtype=np.uint8)[1:].view(np.float64)
