"""Lists of arrays, to whose elements something is assigned."""

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([3.0, 1.0, 4.0, 1.5])
POINTS = np.array([[0.0, 0.0], [1.0, 0.1], [0.5, 2.0], [0.6, 0.7], [1.0, 1.0], [0.2, 0.9]])


@case((X, 3), (X[:2], 5))
def elements_of_rows(x, n):
    rows = [np.zeros(len(x)) for _ in range(n)]
    for i in range(n):
        for j in range(len(x)):
            rows[i][j] = x[j] + (rows[i - 1][j] if i > 0 else 0)
        rows[i] += 1
        rows[i][1:] *= 2
    return rows, rows[0]


@case((X, 3), (X[:2], 5))
def last_row_read(x, n):
    rows = [x * 1]
    for _ in range(n):
        before = rows[-1]
        new = before * 2
        rows.append(new)
        if np.abs(new - before).max() > 3:
            break
    return rows, new  # pyright: ignore[reportPossiblyUnboundVariable]


@case((X, 3), (X[:2], 5))
def copies_appended(x, n):
    now = x.copy()
    rows = []
    for t in range(n):
        now[0] += len(rows)
        rows.append(now.copy())
    return np.array(rows), rows[-1][0]


@case((110, (X > 2).astype(int), 5), (30, (POINTS[:, 0] > 0.5).astype(int), 4))
def automaton(rule, row, steps):
    table = [(rule >> k) & 1 for k in range(8)]
    rows = [row.copy()]
    for _ in range(steps):
        before = rows[-1]
        new = np.empty_like(before)
        for i in range(len(before)):
            new[i] = table[4 * before[i - 1] + 2 * before[i] + before[(i + 1) % len(before)]]
        rows.append(new)
    return np.array(rows)


@case((POINTS,), (POINTS[:4],))
def hull(points):
    points = points[np.lexsort((points[:, 1], points[:, 0]))]

    def turn(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    lower = []
    for p in points:
        while len(lower) >= 2 and turn(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    upper = []
    for p in points[::-1]:
        while len(upper) >= 2 and turn(upper[-2], upper[-1], p) <= 0:
            upper.pop()
        upper.append(p)
    return np.array(lower[:-1] + upper[:-1])


@refused("an array that is an element of a list", (X, 3))
def row_under_a_name(x, n):
    rows = [x * i for i in range(n)]
    row = rows[0]
    row[0] = 5.0
    return rows


@refused("an array that is an element of a list", (X, 3))
def rows_in_turn(x, n):
    rows = [x * i for i in range(n)]
    for row in rows:
        row[1] = 3.0
    return rows


@refused("an array that is an element of a list", (X, 3))
def appended_row_under_a_name(x, n):
    rows = [x.copy()]
    for _ in range(n):
        row = rows[-1]
        rows.append(row + 1)
        row[0] = 7.0
    return rows


@refused("is an element of a list", (X, 3))
def row_read_before(x, n):
    rows = [x.copy()]
    s = 0.0
    for t in range(n):
        row = rows[-1]
        rows[-1][0] = t
        s += row[0]
        rows.append(row + 1)
    return s


@refused("is an element of a list", (X, 3))
def row_of_the_step_before(x, n):
    rows = [x * 1]
    row = rows[0]
    for i in range(n):
        rows.append(row * 2)
        rows[-1][0] = i
        row = rows[-1]
    return rows


@refused("an array is an element of a list", (X, 3))
def appended_again(x, n):
    now = x.copy()
    rows = []
    for _ in range(n):
        now[0] += len(rows)
        rows.append(now)
    return rows


@refused("an element of a list", (X, 3))
def arguments_as_rows(x, n):
    rows = [x]
    for i in range(n):
        rows.append(rows[-1] * 2)
        rows[0][0] = i
    return len(rows)


@case((X, 3), (X, 1))
def other_list_of_rows(x, n):
    rows = [x * i for i in range(n)]
    others = [row for row in rows]
    others[0][0] = 3.0
    return rows


@case((X, 3))
def part_of_rows(x, n):
    rows = [x * i for i in range(n)]
    others = rows[1:]
    others[0][0] = 3.0
    return rows


@case((X, 3), (X, 1))
def repeated_row(x, n):
    rows = [x * 1] * n
    rows[0][0] = 3.0
    return rows
