#!/usr/bin/env bash
# JAX 0.10.2: the gradient through `jnp.unique` (and so `union1d`) is zero, without an error or a warning.
#
# `unique` gathers its result from the sorted array, of which the derivative is a scatter: that through `jnp.sort` is 1 for
# each element. Outside of `jit`, where the number of results may depend on the values, `jax.grad` takes `unique` as well,
# and gives 0 for each element. Seen on 2026-11-29:
#
#     sort   [1.0, 1.0]
#     unique [0.0, 0.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet 'jax==0.10.2' 'jaxlib==0.10.2'
seen=$("$folder/bin/python" - <<'END'
import jax
import jax.numpy as jnp

for name in ("sort", "unique"):
    gradient = jax.grad(lambda x, function=getattr(jnp, name): jnp.sum(function(x)))(jnp.array([0.25, 0.75]))
    print(name, gradient.tolist())
END
)
echo "$seen"
[ "$seen" = $'sort [1.0, 1.0]\nunique [0.0, 0.0]' ]
