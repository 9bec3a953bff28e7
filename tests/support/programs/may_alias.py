"""Lists and dicts that variables share before a branch or a loop binds one of them to others on some path only."""

from collections import deque

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
BY_ANOTHER = "may be out of date: a loop or a branch on traced values has appended to it by another name"


@refused(BY_ANOTHER, (X, 9), (X, 1))
def list_after_a_branch(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    d[0] = 4.0
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def list_after_a_loop(x, n):
    d = [0.0]
    e = d
    for i in range(n - 1):
        d = [x[i]]
    d[0] = 4.0
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def longer_after_a_branch(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    d.append(4.0)
    return len(e) + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def deque_after_a_branch(x, n):
    d = deque([0.0])
    e = d
    if x[0] > n:
        d = deque([x[0]])
    d.append(4.0)
    return len(e) + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def changed_before_it_is_bound(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d[0] = 1.0
        d = [x[0]]
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def changed_in_steps_before_it_is_bound(x, n):
    d = [0.0]
    e = d
    for i in range(n - 1):
        d[0] += 1
        if x[i] < 0:
            d = [5.0]
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def changed_in_steps_after_it_is_bound(x, n):
    d = [0.0]
    e = d
    for i in range(n - 1):
        if x[i] < 0:
            d = [5.0]
        d[0] += 1
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def changed_in_a_later_loop(x, n):
    d = [0.0]
    e = d
    s = 0.0
    if x[0] > n:
        d = [x[0]]
    for i in range(n - 1):
        d[0] += 1
        s += e[0]
    return s * 1.0


@case((X, 5), (X, 1), (X, 3))
def bound_anew_in_a_later_loop(x, n):
    d = [0.0]
    e = d
    s = 0.0
    if x[0] > n:
        d = [x[0]]
    for i in range(n - 1):
        d[0] += 1
        e = [x[i]]
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def changed_by_a_function(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]

    def g(z):
        z[0] = 4.0

    g(d)
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def bound_twice(x, n):
    d = [0.0]
    if x[0] > n:
        d = [x[0]]
    e = d
    if x[1] > n:
        d = [x[1]]
    d[0] = 4.0
    return e[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def chosen_by_an_expression(x, n):
    d = [0.0]
    e = d if x[0] > n else [x[0]]
    e[0] = 4.0
    return d[0] + 0 * x[0]


@case((X, 5), (X, 1), (X, 3))
def previous_that_nobody_reads(x, n):
    d = [0.0]
    for i in range(n - 1):
        prev = d
        if x[i] > 0:
            d = [x[i]]
        d[0] += 1.0
    return d[0] + 0 * x[0]


@case((X, 9), (X, 1))
def both_are_read(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    return e[0] + d[0] + 0 * x[0]


@case((X, 9), (X, 1))
def read_before_the_change(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    s = e[0]
    d[0] = 4.0
    return d[0] + s + 0 * x[0]


@case((X, 5), (X, 1), (X, 3))
def previous_and_current(x, n):
    prev = [1.0]
    cur = [2.0]
    for i in range(n - 1):
        prev = cur
        if x[i] > 0:
            cur = [x[i]]
        cur = [cur[0] + 1]
        cur[0] += prev[0]
    return cur[0] + 0 * x[0]


@case((X, 9), (X, 1))
def other_name_bound_anew(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    d[0] = 4.0
    e = [2.0]
    return d[0] + e[0] + 0 * x[0]


@case((X, 9), (X, 1))
def name_within_a_function(x, n):
    d = [0.0]

    def g(a, t):
        keep = a
        if t > n:
            a = [t]
        a[0] += 1
        return a

    for i in range(4):
        d = g(d, x[i])
    return d[0] + 0 * x[0]


@case((X, 5), (X, 1), (X, 3))
def previous_from_before(x, n):
    d = [0.0]
    prev = d
    for i in range(n - 1):
        prev = d
        if x[i] > 0:
            d = [x[i]]
        d[0] += 1.0
    return d[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def changed_on_the_path_that_binds_it(x, n):
    row = [0.0]
    new = [1.0]
    if x[0] > n:
        new[0] = 3.0
        row = new
    new[0] = 5.0
    return row[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def two_names_on_both_paths(x, n):
    if x[0] > n:
        a = [x[0]]
        b = a
    else:
        a = [x[1]]
        b = a
    a[0] = 7.0
    return b[0] + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def two_names_in_steps(x, n):
    a = [0.0]
    b = [1.0]
    for i in range(n - 1):
        a = [x[i]]
        b = a
    a[0] = 7.0
    return b[0] + 0 * x[0]


@case((X, 9), (X, 1))
def chosen_and_read(x, n):
    d = [0.0]
    e = d if x[0] > n else [x[0]]
    return d[0] + e[0] + 0 * x[0]


@case((X, 9), (X, 1))
def chosen_and_changed(x, n):
    e = [x[1]] if x[0] > n else [x[0]]
    e[0] += 1
    return e[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def sum_of_a_list(x, n):
    d = [0.0, 1.0]
    e = d
    if x[0] > n:
        d = [x[0], 1.0]
    d[0] = 4.0
    return sum(e) + 0 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def unpacked(x, n):
    d = [0.0, 1.0]
    e = d
    if x[0] > n:
        d = [x[0], 1.0]
    d[0] = 4.0
    a, b = e
    return a + b + x[0] * 0


@refused(BY_ANOTHER, (X, 9), (X, 1))
def truth_of_a_list(x, n):
    d = []
    e = d
    if x[0] > n:
        d = []
    d.append(1.0)
    return x[0] if e else 2 * x[0]


@refused(BY_ANOTHER, (X, 9), (X, 1))
def compared(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    d[0] = 1.0
    return x[0] if e == [0.0] else 2 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def appended_to_in_steps(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    for i in range(n - 1):
        d.append(x[i])
    return len(e) + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def appended_to_in_some_steps(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    for i in range(n - 1):
        if x[i] > 0:
            d.append(x[i])
    return len(e) + 0 * x[0]


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def appended_to_and_read_in_steps(x, n):
    d = [0.0]
    e = d
    s = 0.0
    if x[0] > n:
        d = [x[0]]
    for i in range(n - 1):
        if x[i] > 0:
            d.append(x[i])
        s += len(d)
    return len(e) + 0 * x[0] + s


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def made_shorter_in_steps(x, n):
    d = [0.0, 1.0, 2.0, 3.0]
    e = d
    s = 0.0
    if x[0] > n:
        d = [x[0], 1.0, 2.0, 3.0]
    for i in range(n - 1):
        s += e[-1] + len(e)
        if x[i] > 0:
            d.pop()
        s += len(d)
    return 0 * x[0] + s


@refused(BY_ANOTHER, (X, 5), (X, 1), (X, 3))
def length_read_in_steps(x, n):
    d = [0.0]
    e = d
    s = 0.0
    if x[0] > n:
        d = [x[0]]
    for i in range(n - 1):
        d.append(x[i])
        s += len(e)
    return s * 1.0


@refused(BY_ANOTHER, (X, 9), (X, 1))
def sorted_in_place(x, n):
    d = [2.0, 1.0]
    e = d
    if x[0] > n:
        d = [x[0], 1.0]
    d.sort()
    return e[0] + x[0] * 0


@refused("whether two variables are one list", (X, 9), (X, 1))
def identity(x, n):
    d = [0.0]
    e = d
    if x[0] > n:
        d = [x[0]]
    return x[0] if e is d else 2 * x[0]


@refused("that two variables may share", (X, 9), (X, 1))
def set_after_a_branch(x, n):
    d = {1}
    e = d
    if x[0] > n:
        d = {1}
    d.add(2)
    return len(e) + 0 * x[0]


@refused("may be another variable's too", (X, 9), (X, 1))
def array_after_a_branch(x, n):
    d = np.zeros(3)
    e = d
    if x[0] > n:
        d = x[:3].copy()
    d[0] = 4
    return e


BOUND = "that another variable may have, too|that may be another one's, too"


@refused(BOUND, (X,))
def changed_after_a_step_has_bound_it(x):
    base = [0.0, 0.0]
    row = [1.0, 2.0]
    for v in x:
        row[0] = v
        row = base
    return row[0], base[0]


@refused(BOUND, (X,))
def changed_after_a_branch_of_a_step_has_bound_it(x):
    base = [0.0, 0.0]
    row = [1.0, 2.0]
    for v in x:
        row[0] = v
        if v > 0:
            row = base
    return row[0], base[0]


@refused(BOUND, (X,))
def dict_that_a_step_binds(x):
    base = {"a": 0.0}
    row = {"a": 1.0}
    for v in x:
        row["a"] = v
        row = base
    return row["a"], base["a"]


@refused(BOUND, (X,))
def inner_list_that_a_step_binds(x):
    base = [0.0, 0.0]
    row = {"w": [1.0, 1.0]}
    for v in x:
        row["w"][0] += v
        row["w"] = base
    return row["w"][0], base[0]


@refused(BOUND, (X,))
def three_that_move_on(x):
    base, row, other = [0.0, 0.0], [1.0, 2.0], [5.0, 6.0]
    for v in x:
        row[0] += v
        row, base = base, other
    return row[0], base[0], other[0]


@case((X,), (X[:2],))
def two_that_are_exchanged(x):
    base, row = [0.0, 0.0], [1.0, 2.0]
    for v in x:
        row[0] += v
        row, base = base, row
    return row[0], base[0]


@case((X,), (X[:1],))
def another_name_of_what_changes(x):
    best, row = [0.0, 0.0], [1.0, 2.0]
    for v in x:
        best = row
        row[0] += v
    return row[0], best[0]
