"""Loops over lengths that elements decide, which fill arrays: values, and the checks that are made before the loop."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from numbagraph import grad, graph_jit
from numbagraph.loops import lengths


def sums(keys, values):
    unique, inverse = np.unique(keys, return_inverse=True)
    total = np.zeros(len(unique))
    for k in range(len(unique)):
        total[k] = np.sum(values[inverse == k])
    return total


def largest(keys, values):
    unique, inverse = np.unique(keys, return_inverse=True)
    found = np.full(len(unique), -1e9)
    for i in range(len(inverse)):
        found[inverse[i]] = max(found[inverse[i]], values[i])
    return found


def differences(keys, values):
    bounds = np.flatnonzero(keys > 1)
    found = np.zeros(len(bounds) + 1)
    for k in range(len(bounds)):
        found[k + 1] = found[k] + values[bounds[k]]
    return found


def repeated(keys, values):
    many = np.repeat(values, keys)
    found = np.empty(len(many))
    for k in range(len(many)):
        found[len(many) - 1 - k] = many[k]
    return found


def factorised(keys, values):
    some = values[keys > 1]
    matrix = np.eye(len(some)) * 3
    for k in range(len(some)):
        matrix[k, 0] += some[k] * 0.01
        matrix[0, k] += some[k] * 0.01
    return np.linalg.solve(matrix, some)


def read_in_branches(keys, values):
    some = np.sort(values[keys > 1])
    found = np.zeros(len(values))
    for i in range(len(values)):
        if values[i] > 0.1 and len(some) > 0:
            found[i] = some[-1] * values[i] + some[some > 0.2].sum()
        elif len(some) > 0:
            found[i] = some[0]
    return found


def table_in_branches(keys, values):
    unique = np.unique(keys)
    table = np.full((len(unique), len(unique)), values.sum())
    found = np.zeros(len(values))
    for i in range(len(values)):
        for j in range(len(unique)):
            if values[i] > 0.1:
                found[i] += np.sin(table[0, j])
            else:
                found[i : i + 1] += table[-1, j] * values[i]
    return found


PROGRAMS = [sums, largest, differences, repeated, factorised, read_in_branches, table_in_branches]
KEYS = [np.array([3, 1, 3, 2, 2, 9]), np.array([1]), np.array([5, 5]), np.array([], int)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_loops_over_late_lengths_fill_arrays(program):
    compiled = graph_jit(program)
    for keys in KEYS:
        values = np.cos(np.arange(len(keys)))
        np.testing.assert_allclose(compiled(keys, values), program(keys, values), rtol=1e-13)


@pytest.mark.parametrize("program", PROGRAMS)
def test_their_derivatives_agree_with_differences(program):
    keys, values = KEYS[0], np.cos(np.arange(6.0))

    def total(values):
        return np.sum(np.sin(program(keys, values)))

    steps = 1e-6 * np.eye(6)
    expected = [(total(values + step) - total(values - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(graph_jit(grad(total))(values), expected, atol=1e-8)


def test_regions_that_results_share_are_looked_at_once(monkeypatch):
    looked: list[int] = []
    everything = lengths.everything

    def counted(graph):
        looked.append(id(graph))
        return everything(graph)

    def solution(y):
        found = solve_ivp(lambda t, y: -y, (0, 1), y, t_eval=[0.5, 1.0], dense_output=True)
        return found.y, found.sol(0.5)

    monkeypatch.setattr(lengths, "everything", counted)
    found = graph_jit(solution)(np.ones(2))
    np.testing.assert_allclose(found[0][:, 0], found[1])
    assert 0 < len(looked) < 50
