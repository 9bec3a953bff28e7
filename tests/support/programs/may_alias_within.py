"""The same of dicts, and of lists within others and in attributes of objects."""

from collections import deque

from collections import namedtuple

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
BY_ANOTHER = "may be out of date: a loop or a branch on traced values has appended to it by another name"


Point = namedtuple("Point", ["a", "b"])


class Table:
    def __init__(self, rows):
        self.rows = rows


@refused(BY_ANOTHER, (X, 9), (X, 1))
def dict_after_a_branch(x, n):
    d = {"a": 0.0}
    e = d
    if x[0] > n:
        d = {"a": x[0]}
    d["a"] = 4.0
    return e["a"] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def dict_with_a_key_more(x, n):
    d = {"a": 0.0}
    e = d
    if x[0] > n:
        d = {"a": x[0]}
    d["b"] = 4.0
    return len(e) + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def row_of_a_list(x, n):
    d = [[0.0], [1.0]]
    e = d[0]
    if x[0] > n:
        d[0] = [x[0]]
    d[0][0] = 4.0
    return e[0] + 0 * x[0]


@case((X, 9), (X, 1))
def row_that_is_read(x, n):
    d = [[0.0], [1.0]]
    e = d[0]
    if x[0] > n:
        d[0] = [x[0]]
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def row_of_another_list(x, n):
    d = [[0.0], [1.0]]
    e = d[0]
    if x[0] > n:
        d = [[x[0]], [2.0]]
    d[0][0] = 4.0
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def attribute_after_a_branch(x, n):
    table = Table([0.0])
    e = table.rows
    if x[0] > n:
        table.rows = [x[0]]
    table.rows[0] = 4.0
    return e[0] + 0 * x[0]


@case((X, 9), (X, 1))
def attribute_that_is_read(x, n):
    table = Table([0.0])
    e = table.rows
    if x[0] > n:
        table.rows = [x[0]]
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def attribute_of_another_object(x, n):
    table = Table([0.0])
    e = table
    if x[0] > n:
        table = Table([x[0]])
    table.rows[0] = 4.0
    return e.rows[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def held_by_another_list(x, n):
    d = [0.0]
    e = [d]
    if x[0] > n:
        d = [x[0]]
    d[0] = 4.0
    return e[0][0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_in_a_tuple(x, n):
    path = [0.0]
    best = (0.0, [3.0])
    if x[0] > n:
        best = (x[0], path)
    path[0] = 4.0
    return best[1][0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_in_a_tuple_that_changes(x, n):
    path = [0.0]
    best = (0.0, [3.0])
    if x[0] > n:
        best = (x[0], path)
    best[1][0] = 4.0
    return path[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_in_a_list(x, n):
    path = [0.0]
    best = [[3.0]]
    if x[0] > n:
        best = [path]
    path[0] = 4.0
    return best[0][0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_put_into_a_list(x, n):
    path = [0.0]
    best = [[3.0]]
    if x[0] > n:
        best[0] = path
    path[0] = 4.0
    return best[0][0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_put_into_a_list_that_changes(x, n):
    path = [0.0]
    best = [[3.0]]
    if x[0] > n:
        best[0] = path
    best[0][0] = 4.0
    return path[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def rows_swapped_in_steps(x, n):
    d = [[0.0], [1.0]]
    e = d[0]
    for i in range(n - 1):
        d[0], d[1] = d[1], d[0]
    d[0][0] = 4.0
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def rows_swapped_and_changed(x, n):
    d = [[0.0], [1.0]]
    e = d[0]
    for i in range(n - 1):
        d[0], d[1] = d[1], d[0]
        d[0][0] += x[i]
    return e[0] + 0 * x[0]


@case((X, 5), (X, 1), (X, 3))
def rows_swapped_by_one_name(x, n):
    d = [[0.0], [1.0]]
    for i in range(n - 1):
        d[0], d[1] = d[1], d[0]
        d[0][0] += x[i]
    return d[0][0] + 2 * d[1][0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_of_a_dict(x, n):
    d = {"a": [0.0], "b": [1.0]}
    e = d["a"]
    if x[0] > n:
        d["a"] = [x[0]]
    d["a"][0] = 3.0
    return e[0] + 0 * x[0]


@case((X, 5), (X, 1), (X, 3))
def lists_of_a_dict_by_one_name(x, n):
    d = {"a": [0.0], "b": [1.0]}
    if x[0] > n:
        d["a"] = [x[0]]
    d["a"][0] += 3.0
    for i in range(n - 1):
        if x[i] > 0:
            d["b"] = [x[i]]
        d["b"][0] += 1
    return d["a"][0] + d["b"][0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def items_of_a_dict(x, n):
    d = {"a": 0.0}
    e = d
    if x[0] > n:
        d = {"a": x[0]}
    d["a"] = 4.0
    return sum(v for k, v in e.items()) + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def element_of_a_dict_by_a_method(x, n):
    d = {"a": 0.0}
    e = d
    if x[0] > n:
        d = {"a": x[0]}
    d["a"] = 4.0
    return e.get("a", 7.0) + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def key_of_a_dict(x, n):
    d = {"a": 0.0}
    e = d
    if x[0] > n:
        d = {"a": x[0]}
    d["b"] = 4.0
    return x[0] if "b" in e else 2 * x[0]


@case((X, 5), (X, 1), (X, 3))
def list_of_a_tuple_with_names(x, n):
    p = Point([0.0], 1.0)
    for i in range(n - 1):
        if x[i] > 0:
            p = Point([x[i]], p.b + 1)
        p.a[0] += x[i]
    return p.a[0] + p.b + 0 * x[0]


@case((X, 5), (X, 3))
def list_of_a_tuple_that_steps_change(x, n):
    best = (1.0, [1.0])
    for i in range(n - 1):
        path = [x[i]]
        if x[i] < 0:
            best = (x[i], path)
        best[1][0] += 1
    return best[1][0] + best[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_within_a_tuple_with_names(x, n):
    p = Point([0.0], 1.0)
    e = p.a
    if x[0] > n:
        p = Point([x[0]], 2.0)
    p.a[0] = 3.0
    return e[0] + p.b


@refused(BY_ANOTHER, (X, 5), (X, 3))
def list_from_outside_changed_in_steps(x, n):
    path, best = [0.0], [[1.0]]
    for i in range(n - 1):
        if x[i] < 0:
            best = [path]
        best[0][0] += 1
    return path[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 3))
def list_from_outside_read_in_the_next_step(x, n):
    path, best, total = [0.0], [[1.0]], 0.0
    for i in range(n - 1):
        total += path[0]
        if x[i] < 0:
            best = [path]
        best[0][0] += 1
    return total


@refused(BY_ANOTHER, (X, 5), (X, 3))
def list_from_outside_in_a_loop_of_a_loop(x, n):
    path, best, total = [0.0], Point([1.0], 1.0), 0.0
    for i in range(n - 1):
        for _ in range(2):
            if x[i] < 0:
                best = Point(path, x[i])
            best.a[0] += 1
        total += path[0]
    return total
