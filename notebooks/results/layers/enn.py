"""Trains enn's networks beside those of hyper/layers: enn.py ENN TEST ROWS [search | times SEED | clock SEED | fresh].

ENN is a clone of github.com/google-deepmind/enn, and TEST is the program that `go test -c ./hyper/layers` makes. For
each data set, method and seed, the two libraries train one after the other, and which is first changes from seed to
seed. Rows are appended to ROWS, and what has a row is left out. With `search`, the study is not run. With `times`,
the steps of both libraries are timed in turns, and rows are appended to times.jsonl in the folder of ROWS; with
`clock` the times are by the clock, and rows are appended to clock.jsonl. With `fresh`, two methods train with fresh
seeds, and rows are appended to fresh.jsonl. The program needs jax 0.10.2, dm-haiku 0.0.17, optax 0.2.8, chex 0.1.92
and absl-py. enn imports more, for parts that are not used here: modules without content are in their place.
"""

import csv
import gzip
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import MagicMock

ENN, TEST, ROWS = sys.argv[1:4]
sys.path.insert(0, ENN)
for name in ("tensorflow tensorflow.compat tensorflow.compat.v2 tensorflow_datasets tensorflow_probability "
             "tensorflow_probability.substrates jaxline rlax plotnine pandas tree sklearn dill").split():
    sys.modules[name] = MagicMock()

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from enn import datasets, losses, networks
from enn.supervised.sgd_experiment import Experiment, TrainingState

STEPS, WARM, BATCH, RATE = 500, 50, 32, 0.002
ROUNDS, ROUND = 12, 50  # of times; a round is that many steps
DIM, INDICES, PARTICLES, SAMPLES = 8, 8, 10, 100
SEARCH = range(101, 106)
SEEDS = range(1, 11)
FRESH = "dropout", "full-linear"  # methods that train with fresh seeds on segment
SETS = {  # table, test rows, training rows
    "search": ("digits", 597, 300),
    "search-segment": ("segment", 810, 300),
    "digits-300": ("digits", 597, 300),
    "digits-1000": ("digits", 597, 1000),
    "segment-300": ("segment", 810, 300),
}
VALUES = {  # of enn's networks, for the search
    "plain": [0, 1e-4, 3e-4, 1e-3, 3e-3],
    "dropout": [0.05, 0.1, 0.2, 0.3, 0.4],
    "ensemble": [0, 1e-4, 3e-4, 1e-3, 3e-3],
    "ensemble-prior": [0.3, 1, 3, 10, 30],
    "full-linear": [0.3, 1, 3, 10, 30],
    "epinet": [0.3, 1, 3, 10, 30],
}
METHODS = [*VALUES, "last-layer-linear", "last-layer-bayes"]
HERE = Path(__file__).resolve().parents[3]


def by_hash(prefix, numbers):
    return sorted(numbers, key=lambda i: hashlib.sha256(f"{prefix}:{i}".encode()).digest())


def data(name, seed):
    """The training data and the test inputs, as studySet.data of the Go test has them."""
    table, tests, n = SETS[name]
    with gzip.open(HERE / f"hyper/bandit/sheet/data/{table}.csv.gz", "rt") as f:
        rows = list(csv.reader(f))[1:]
    names = sorted({r[-1] for r in rows})
    order = by_hash(table, range(len(rows)))
    pool, test = by_hash(f"{table}:{seed}", order[:-tests]), order[-tests:]
    if name.startswith("search"):
        test = pool[n:]
    take = lambda of: np.array([[float(v) for v in rows[i][:-1]] for i in of])
    x, t = take(pool[:n]), take(test)
    mean, scale = 0, 16
    if table == "segment":
        mean, scale = x.mean(0), x.std(0)
        scale = np.where(scale < 1e-12, 1, scale)
    y = np.array([[names.index(rows[i][-1])] for i in pool[:n]])
    return ((x - mean) / scale).astype(np.float32), y, ((t - mean) / scale).astype(np.float32), len(names)


def network(method, v, k, x, seed):
    """The network, its number of indices in a training step, and a penalty for the sum of squares."""
    sizes, first = [64, 64, k], x[:1]
    if method == "plain":
        net = hk.transform_with_state(lambda x, z: hk.nets.MLP(sizes)(x))
        net = hk.without_apply_rng(net)
        return networks.EnnArray(net.apply, net.init, networks.EnsembleIndexer(1)), 1, v
    if method == "dropout":
        return networks.MLPDropoutENN(sizes, dropout_rate=v, dropout_input=False), INDICES, 0
    if method == "ensemble":
        return networks.make_einsum_ensemble_mlp_enn(sizes, PARTICLES), PARTICLES, v / PARTICLES
    if method == "ensemble-prior":
        enn = networks.make_ensemble_mlp_with_prior_enn(sizes, first, PARTICLES, prior_scale=v, seed=999 + seed)
        return enn, PARTICLES, 0
    if method == "full-linear":
        return networks.MLPHypermodelWithHypermodelPrior(
            base_output_sizes=sizes, prior_scale=v, dummy_input=first, indexer=networks.GaussianIndexer(DIM),
            prior_base_output_sizes=sizes, seed=seed, scale=False), INDICES, 0
    if method == "epinet":
        return networks.epinet.make_mlp_epinet(sizes, [15, 15], DIM, expose_layers=[False, True, False], prior_scale=v,
                                               stop_gradient=True), INDICES, 0
    return None


class Silent:
    def write(self, data):
        pass


def batches(x, y, seed):
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(x))
        for i in range(0, len(x) - BATCH + 1, BATCH):
            at = order[i:i + BATCH]
            yield datasets.ArrayBatch(x=x[at], y=y[at], data_index=at[:, None])


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def experiment(name, method, v, seed):
    """An experiment, and a function of its parameters, state, inputs and indices: the logits.

    An experiment without a prior is made once and then starts anew, so that its program is compiled once.
    """
    x, y, tests, k = data(name, seed)
    known = (method, v, x.shape[1], k) + (() if method in ("plain", "dropout", "ensemble", "epinet") else (seed,))
    if known not in kept:
        enn, indices, decay = network(method, v, k, x, seed)
        loss = losses.average_single_index_loss(losses.XentLoss(k), indices)
        if decay > 0:
            loss = losses.add_l2_weight_decay(loss, decay)
        e = Experiment(enn, loss, optax.adam(RATE), batches(x, y, seed), seed, Silent(), train_log_freq=10**9)
        at = lambda p, s, x, z: networks.parse_net_output(enn.apply(p, s, x, z)[0])
        kept[known] = e, jax.jit(jax.vmap(at, in_axes=[None, None, None, 0]))
    e, forward = kept[known]
    e.dataset, e.rng = batches(x, y, seed), hk.PRNGSequence(seed)
    params, state = e.enn.init(next(e.rng), x[:1], e.enn.indexer(next(e.rng)))
    e.state = TrainingState(params, state, optax.adam(RATE).init(params))
    return e, forward, tests


kept = {}


def train(e, steps):
    """Makes training steps, and returns the microseconds of a step on processors and on the clock."""
    used, clock = cpu(), time.perf_counter()
    e.train(steps)
    jax.block_until_ready(e.state)
    return (cpu() - used) / steps * 1e6, (time.perf_counter() - clock) / steps * 1e6


def run(name, method, v, seed):
    e, forward, tests = experiment(name, method, v, seed)
    train(e, WARM)
    used, clock = train(e, STEPS - WARM)
    z = {"plain": jnp.arange(1), "ensemble": jnp.arange(PARTICLES), "ensemble-prior": jnp.arange(PARTICLES)}.get(method)
    if z is None:
        z = jax.vmap(e.enn.indexer)(jax.random.split(jax.random.PRNGKey(seed), SAMPLES))
    logits = np.asarray(forward(e.state.params, e.state.network_state, tests, z), dtype="<f4")
    trained = hk.data_structures.filter(lambda module, *_: "prior_epinet" not in module, e.state.params)
    return logits, {"parameters": hk.data_structures.tree_size(trained), "cpu_us": used, "wall_us": clock,
                    "on": "jax"}


def read(path=ROWS):
    return [json.loads(r) for r in open(path)] if os.path.exists(path) else []


def append(row, path=ROWS):
    with open(path, "a") as f:
        f.write(json.dumps(row) + "\n")


class Own:
    """The Go program, which makes the rows of hyper/layers, and scores the logits of enn."""

    def __init__(self):
        command = [TEST, "-test.run", "^TestStudy$", "-test.timeout", "0", "-study.serve", "-study.rows",
                   os.path.abspath(ROWS)]
        self.process = subprocess.Popen(command, cwd=HERE / "hyper/layers", stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        print(json.dumps(question), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def beside(own, name, method, v, by, seed, path=ROWS):
    """Runs a cell of enn."""
    logits, row = run(name, method, v, seed)
    with tempfile.NamedTemporaryFile(suffix=".f32") as f:
        logits.tofile(f)
        f.flush()
        scores = own.ask(logits=f.name, set=name, seed=seed)
    scores = {k: scores[k] for k in ("error", "marginal", "joint")}
    by = {"by": by} if by == "marginal" else {}
    append({"library": "enn", "set": name, "method": method, "value": v, **by, "seed": seed, **scores, **row}, path)
    print(name, method, v, seed, scores, round(row["cpu_us"]), flush=True)


def chosen(rows, method, library="enn", search="search"):
    """The values of a library's search with the smallest mean joint NLL and, if it is another, the smallest mean
    marginal NLL, with the measure that chose it."""
    rows, best = [r for r in rows if (r["library"], r["set"], r["method"]) == (library, search, method)], []
    for measure in "joint", "marginal":
        found = {v: [r[measure] for r in rows if r["value"] == v] for v in {r["value"] for r in rows}}
        assert all(len(of) == len(SEARCH) for of in found.values()), f"the search of {method} is not complete"
        best.append((min(found, key=lambda v: sum(found[v])), measure))
    return best[:1] if best[0][0] == best[1][0] else best


def cells(own, name, method, values, seed):
    """Runs the cells of both libraries, one after the other."""
    done = {(r["set"], r["method"], r["value"], r.get("by", "joint"), r["seed"])
            for r in read() if r["library"] == "enn"}
    both = [lambda: own.ask(only=f"^{name}/{method}/[^/]*/{seed}$")]
    for v, by in values:
        if (name, method, v, by, seed) not in done:
            both.insert(0 if seed % 2 else len(both), lambda v=v, by=by: beside(own, name, method, v, by, seed))
    for one in both:
        one()


def file(name):
    """A file in the folder of ROWS."""
    return os.path.join(os.path.dirname(ROWS), name)


def times(own, seed, clock):
    """Times the steps of both libraries: each trains a round while the other waits. Which is first changes.

    The times are on processors or, with clock, on the clock.
    """
    for name in list(SETS)[2:]:
        for method in METHODS:
            value = lambda library: chosen(read(), method, library)[0][0]
            own.ask(start={"set": name, "method": method, "value": value("hyper/layers"), "seed": seed})
            sides = {"hyper/layers": lambda: own.ask(steps=ROUND)["wall_us" if clock else "cpu_us"]}
            if method in VALUES:
                e = experiment(name, method, value("enn"), seed)[0]
                train(e, WARM)
                sides["enn"] = lambda: train(e, ROUND)[clock]
            rounds = {library: [] for library in sides}
            for i in range(ROUNDS):
                for library in sorted(sides, reverse=(seed + i) % 2 == 1):
                    rounds[library].append(round(sides[library](), 1))
            for library, all in rounds.items():
                append({"library": library, "set": name, "method": method, "seed": seed, "rounds_us": all},
                       file("clock.jsonl" if clock else "times.jsonl"))


def fresh(own):
    """Trains the methods of FRESH on segment: with values that the search on digits chose, and then with values that a
    search on segment chooses, with other seeds."""
    path = file("fresh.jsonl")

    def both(name, method, seed, ours, enn, own_method=None):
        sides = {"hyper/layers": lambda: append(own.ask(run=dict(cell, method=own_method or method, value=ours)), path),
                 "enn": lambda: beside(own, name, method, enn, "joint", seed, path)}
        cell, values = {"set": name, "method": method, "seed": seed}, {"hyper/layers": ours, "enn": enn}
        for library in sorted(sides, reverse=seed % 2 == 1):
            row = {**cell, "library": library, "value": values[library]}
            if library != "enn":
                row["method"] = own_method or method
            if not any(r == {**r, **row} for r in read(path)):
                sides[library]()

    def study(seeds, rows, search):
        for seed in seeds:
            for method in FRESH:
                both("segment-300", method, seed, *(chosen(rows, method, library, search)[0][0]
                                                    for library in ("hyper/layers", "enn")))

    study(range(11, 51), read(), "search")
    for method in FRESH:
        for value in VALUES[method]:
            for seed in SEARCH:
                both("search-segment", method, seed, value, value)
    study(range(51, 91), read(path), "search-segment")
    for seed in range(91, 131):
        both("segment-300", "dropout", seed, 0.2, 0.2, "dropout-start")


def main():
    own = Own()
    mode = sys.argv[4] if len(sys.argv) > 4 else ""
    if mode in ("times", "clock"):
        return times(own, int(sys.argv[5]), mode == "clock")
    if mode == "fresh":
        return fresh(own)
    for method in METHODS:
        for seed in SEARCH:
            cells(own, "search", method, [(v, "joint") for v in VALUES.get(method, [])], seed)
    if mode == "search":
        return
    rows = read()
    for seed in SEEDS:
        for name in list(SETS)[2:]:
            for method in METHODS:
                cells(own, name, method, chosen(rows, method) if method in VALUES else [], seed)


main()
