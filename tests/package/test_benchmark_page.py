"""The page of benchmarks, from the figures of a run."""

from asv_benchmarks.page import joined, text


def result(what, row, system, *samples, absent=""):
    return {"what": what, "row": row, "system": system, "samples": samples, "absent": absent, "failed": ""}


def document(*results, load=1.0):
    machine = {"processor": "a processor", "system": "a system", "python": "3.11.0", "load": load}
    return {"machine": machine, "threads": 1, "versions": {"numbagraph": "1", "jax": "2"}, "results": results}


RUN = document(
    *(result("run", f"chain-{size}", "numbagraph", 2e-9 * size, 1e-9 * size, 3e-9 * size) for size in (10, 100, 1000)),
    *(result("run", f"chain-{size}", "jax", 3e-9 * size) for size in (10, 100, 1000)),
    result("run", "lu-5", "numbagraph", 1e-3),
    result("run", "lu-5", "jax", absent="not expressible"),
)


def test_times_are_ours_and_ratios_are_those_of_peers():
    page = text(RUN, {})
    assert "| chain, 1,000 | 2 µs | 1.5 × |" in page
    assert "| lu, 5 | 1 ms | – |" in page
    assert "chain, 100 " not in page  # the largest size alone
    assert "## By size" in page
    assert "## Import" not in page


def test_plots_stand_where_they_belong():
    page = text(RUN, {"run": "images/a.png", "scaling": "images/b.png"})
    assert page.index("## A call") < page.index("a.png") < page.index("## By size") < page.index("b.png")


def test_the_page_says_whether_the_machine_had_other_work():
    assert "other work" not in text(RUN, {})
    page = text(joined([RUN, document(result("import", "import", "jax", 0.5), load=6.0)]), {})
    assert "a load of 6.0, where 1 " in page
    assert "| import | – |" in page


def test_kernels_are_compared_with_the_best_of_their_peers():
    times = {"jacobi": (1e-3, 4e-3, 1e-3), "lu": (1e-3, 8e-4, 5e-4), "sum_loops": (1e-3, 9e-1, 4e-3)}
    systems = ("numbagraph", "numpy", "numba")
    cells = [
        result("kernels medium", row, system, time)
        for row, found in times.items()
        for system, time in zip(systems, found, strict=True)
    ]
    page = text(document(*cells, result("kernels medium", "lu", "jax", absent="none")), {"kernels medium": "k.png"})
    assert "2 kernels in NumPy's style" in page
    assert "a geometric mean of 0.707; below 0.9: lu (0.5)." in page
    assert "1 kernels in loops, against the best of numba: a geometric mean of 4; below 0.9: none." in page
    assert page.index("k.png") < page.index("| jacobi | 1 ms | 4 × | 1 × |")
