"""Programs whose variables share arrays, and programs whose errors come after writes."""

import math

import numpy as np

from tests.support.programs.declared import case, refused


@case((np.arange(4.0), 1), (np.arange(4.0), -1))
def writes_then_raises(x, n):
    if n < 0:
        x[0] = 99
        raise ValueError("n")
    return x.sum()


@refused("'a' and another variable are one array", (np.zeros(3), 4))
def alias_of_start_read(a, n):
    a = a.copy()
    b = a
    s = 0.0
    for i in range(n):
        a[0] += 1
        s += b[0]
        a = a + 1
    return s


@refused("are one array", (np.zeros(3), 4))
def two_names_rebound(a, n):
    a = a.copy()
    b = a
    s = 0.0
    for i in range(n):
        a[0] += 1
        s += b[0]
        a = a + 1
        b = b * 2
    return s


@refused("'y' and another variable are one array", (np.zeros(3), 4))
def end_alias(a, n):
    x = a.copy()
    y = a * 2
    s = 0.0
    for i in range(n):
        x[0] += 1
        s += y[0]
        y = x
    return s


@refused("are one array", (np.arange(3.0), 4))
def view_start_rebound(a, n):
    a = a.copy()
    v = a[1:]
    s = 0.0
    for i in range(n):
        v[0] += 1
        s += a[1]
        a = a * 2
    return s


@case((np.array([1, 2, 3]), np.array([0.5, 1.5])))
def sums_of_two_dtypes(a, b):
    out = []
    for v in (b, a):
        t = 0
        for i in range(len(v)):
            t = t + v[i]
        out.append(t)
    return out[0], out[1]


@case((8.0,), (0.0,))
def logarithms(x):
    if x == 0:
        return 0.0
    return math.log(x, 2) + math.log(x, 10.0)


@case((-8.0, 1 / 3), (0.0, -1.0), (2.0, 0.5), (-2.0, 3.0))
def power_of_math(x, y):
    if x > 100:
        return 0.0
    return math.pow(x, y)


@case((4.0,), (-4.0,))
def caught_in_the_branch(x):
    if x > 0:
        try:
            raise ValueError("a")
        except ValueError:
            y = 1.0
    else:
        y = 2.0
    return y


@refused("may be out of date", (3,))
def list_by_two_names(n):
    first = []
    second = first
    for i in range(n):
        first.append(i * 2.0)
    return np.array(first).sum(), len(second)


@case(*((np.arange(3.0), np.zeros(3), n) for n in (0, 2, 3)))
def buffers_of_arguments(a, b, n):
    for i in range(n):
        b[1:] = a[:-1]
        a, b = b, a


@case((np.arange(3.0), 3))
def some_loops_need_numbers(x, n):
    s = 0.0
    for k in range(12):
        s += math.factorial(k) * x[0] + np.zeros(k).sum()
    for i in range(n):
        s += i
    return s


class Base:
    def shifted(self, x):
        return x + 1


class Derived(Base):
    def shifted(self, x):
        if x > 0:
            y = 1.0
        else:
            y = 2.0
        return super().shifted(x) + y


@case((1.0,), (-1.0,))
def method_of_the_base(x):
    return Derived().shifted(x)


@case((2.0,))
def swallowed_type_error(x):
    try:
        v = float(x)
    except TypeError:
        v = -1.0
    return v * 2


@refused("cannot convert 2", (np.uint64(2**63 + 5),))
def integer_of_64_bits(u):
    return float(int(u)) if u > 0 else 0.0


@case((np.arange(5.0), 2))
def writes_in_nested_branches(x, k):
    for i in range(len(x)):
        if i > k:
            x[i] = x[i - 1] + 1
            if x[i] > 3:
                x[0] = -1
    return x


@case((5,))
def array_in_a_tuple(n):
    a = np.zeros(2)
    t = (a, 1)
    for i in range(n):
        t[0][0] += i
        t = (t[0], t[1] + 1)
    return a, t[1]


@case((5,))
def array_of_a_dict_by_name(n):
    d = {"a": np.zeros(2), "b": np.ones(2)}
    a = d["a"]
    for i in range(n):
        d["a"][0] += i
        d["b"] = d["b"] * 2
    return a, d["a"], d["b"]


@case((4, 1.0), (4, -1.0))
def view_written_in_a_branch(n, c):
    a = np.zeros(3)
    b = a[1:]
    if c > 0:
        b[0] = 5
        a = a + 1
    return a, b


@refused("the result of a loop, which may be this array", (np.arange(3.0), 3), (np.arange(3.0), 4))
def swapped_then_written(b, k):
    w = b.copy()
    for _ in range(k):
        w, b = b, w
    v = b
    v[1] = -6.0
    return v


@refused("the result of a loop, which may be this array", (np.arange(3.0), 3), (np.arange(3.0), 4))
def copy_swapped_then_updated(b, k):
    w = b.copy()
    for _ in range(k):
        w, b = b, w
    w += 1
    return w


@case((np.arange(3.0), 3), (np.arange(3.0), 4), (np.arange(3.0), 0))
def own_buffers_swapped_then_written(x, k):
    a, b = x + 1, x * 2
    for _ in range(k):
        a, b = b, a
    a[1] = -6.0
    b += 1
    return a, b


@refused("assigned to after a loop that took no step", (np.arange(3.0), 0))
def rebound_in_no_step_then_written(x, n):
    for _ in range(n):
        x = x + 1
    x[0] = 9
    return x


@case((np.ones(3), np.ones(2) * 5, 1.0), (np.ones(3), np.zeros(0), 1.0), (np.zeros(0), np.ones(2), 2.0))
def return_from_loop_in_loop_with_else(a, b, n):
    for _ in a:
        for _ in b:
            return b[-1]
    else:
        n = n + 1.0
    return a.sum() + n


@refused("is read by another name", (np.arange(4.0),))
def dict_by_two_names(x):
    d = {"s": 0.0}
    e = d
    t = 0.0
    for v in x:
        d["s"] += v
        t += e["s"]
    return t


@refused("is read by another name", (np.arange(4.0),))
def list_within_a_tuple(x):
    d = [0.0, 1.0]
    e = (d, 2)
    t = 0.0
    for v in x:
        d[0] += v
        t += e[0][0]
    return t


@refused("is read by another name", (1.0,), (-1.0,))
def list_by_two_names_in_a_branch(x):
    d = [0.0, [1.0]]
    e = d[1]
    t = 0.0
    if x > 0:
        if x > 0.5:
            d[1][0] += x
        t = e[0] * 2
    return t


@case((np.arange(4.0), 1.0), (np.arange(4.0), -1.0))
def list_read_before_it_changes(x, v):
    d = [0.0, 1.0]
    e = d
    t = x[0]
    if v > 0:
        t = e[1] + x[1]
        d[0] += v
    for each in x:
        d[1] += each
    return t, e[0] + d[1], e[1]


@case((np.arange(4.0), 1.0), (np.arange(4.0), -1.0))
def entries_deleted(x, v):
    d = {"a": v, "b": 2.0}
    parts = [v, v * 2, v * 3]
    for each in x:
        d["b"] += each
        rest = [each, v, 1.0]
        del rest[0]
        d["a"] = rest[0]
    del d["a"], parts[1:]
    return d, parts


@case((1.0,), (-1.0,))
def deleted_in_a_branch(x):
    parts = [x, x * 2]
    if x > 0:
        del parts[0]
    return parts


@refused("are one array in a loop", (np.arange(4.0), np.arange(4.0) * 10, 4))
def bound_in_a_branch(a, b, n):
    v, w = a.copy(), b.copy()
    for i in range(n):
        v[0] += 1
        if i == 1:
            v = w
    return v, w


@refused("are one array in a loop", (np.arange(4.0), np.arange(4.0) * 10, 4))
def bound_in_an_inner_loop(a, b, n):
    v, w = a.copy(), b.copy()
    for i in range(n):
        v[0] += 1
        for _ in range(i):
            v = w
    return v, w


@refused("are one array in a loop", (np.arange(4.0), np.arange(4.0) * 10, 4))
def bound_to_an_argument_in_a_branch(a, b, n):
    v = np.zeros(3)
    for i in range(n):
        v[0] += 1
        if b[i] > 5:
            v = a[1:]


@refused("are one array in a loop", (np.arange(4.0), np.arange(4.0) * 10, 4))
def bound_in_an_expression(a, b, n):
    v, w = a.copy(), b.copy()
    i = 0
    while i < n:
        v[0] += 1
        v = w if i == 1 else v
        i += 1
    return v, w


@refused("are one array in a loop", (np.arange(4.0), np.arange(4.0) * 10, 4))
def both_bound_in_a_branch(a, b, n):
    v, w = a.copy(), b.copy()
    for i in range(n):
        v[0] += 1
        w[1] += 1
        t = a + i
        if i == 2:
            v = t
            w = t
    return v, w


@refused("was bound to other arrays in a loop", (np.arange(4.0), np.arange(4.0) * 10, 4))
def swapped_in_a_branch_and_kept(a, b, n):
    u, v = a.copy(), b.copy()
    keep = u
    for i in range(n):
        v[1:] = u[:-1] + 1
        if i % 2 == 0:
            u, v = v, u
    return u, v, keep


@case((np.arange(4.0), np.arange(4.0) * 10, 4), (np.arange(4.0), np.arange(4.0) * 10, 0))
def swapped_in_a_branch(a, b, n):
    u, v = a.copy(), b.copy()
    for i in range(n):
        v[1:] = u[:-1] + 1
        if i % 2 == 0:
            u, v = v, u
    return u, v


@case((np.arange(4.0), np.arange(4.0) * 10, 4))
def replaced_in_a_branch(a, b, n):
    t, best, current = np.zeros(4), a.copy(), b.copy()
    for i in range(n):
        t[0] += a[i]
        current[i] += 1
        if a[i] > 1:
            t = b + 1
        elif a[i] > 0:
            t = t * 2
        if current.sum() > best.sum():
            best = current.copy()
    return t, best, current
