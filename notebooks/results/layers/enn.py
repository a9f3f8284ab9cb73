"""Trains enn's networks beside those of hyper/layers: enn.py ENN TEST MODE.

ENN is a clone of github.com/google-deepmind/enn, and TEST is the program that `go test -c ./hyper/layers` makes. The
two libraries train one after the other, and which is first changes from seed to seed. The modes append to files in the
folder of this program what these lack:

    search [SET...]  trains with each value, for rows.jsonl
    study [SET...]   trains with the chosen values, for rows.jsonl
    again            trains with more seeds where a number of the study is worse, for again.jsonl
    times SEED       times the steps of both libraries in turns, for times.jsonl
    clock SEED       the same by the clock, for clock.jsonl

The program needs jax 0.10.2, dm-haiku 0.0.17, optax 0.2.8, chex 0.1.92 and absl-py. enn imports more, for parts that
are not used here: modules without content are in their place.
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

ENN, TEST = sys.argv[1:3]
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
SEARCH, STUDY, AGAIN = range(101, 106), range(201, 211), range(211, 251)  # seeds
SETS = {  # table, test rows, training rows
    "digits-300": ("digits", 597, 300),
    "digits-1000": ("digits", 597, 1000),
    "segment-300": ("segment", 810, 300),
}
PENALTIES, SCALES = [0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2], [0.3, 1, 3, 10, 30, 100]
VALUES = {
    "plain": PENALTIES,
    "dropout": [0.05, 0.1, 0.2, 0.3, 0.4, 0.5],
    "ensemble": PENALTIES,
    "ensemble-prior": SCALES,
    "full-linear": SCALES,
    "epinet": SCALES,
    "last-layer-linear": SCALES,
    "last-layer-bayes": [1e-3, 1e-2, 0.1, 1, 10, 100],
}
LIBRARIES = {m: ["hyper/layers"] if m.startswith("last-layer") else ["hyper/layers", "enn"] for m in VALUES}
FOLDER = Path(__file__).resolve().parent
HERE = FOLDER.parents[2]


def by_hash(prefix, numbers):
    return sorted(numbers, key=lambda i: hashlib.sha256(f"{prefix}:{i}".encode()).digest())


def data(name, seed, search):
    """The training data and the test inputs, as studySet.data of the Go test has them."""
    table, tests, n = SETS[name]
    with gzip.open(HERE / f"hyper/bandit/sheet/data/{table}.csv.gz", "rt") as f:
        rows = list(csv.reader(f))[1:]
    names = sorted({r[-1] for r in rows})
    order = by_hash(table, range(len(rows)))
    pool, test = by_hash(f"{table}:{seed}", order[:-tests]), order[-tests:]
    if search:
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


def experiment(name, method, v, seed, search=False):
    """An experiment, and a function of its parameters, state, inputs and indices: the logits.

    An experiment without a prior is made once and then starts anew, so that its program is compiled once.
    """
    x, y, tests, k = data(name, seed, search)
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


def run(cell):
    """Trains a network of enn. It returns the logits of the tests, and the row without the scores."""
    method, seed = cell["method"], cell["seed"]
    e, forward, tests = experiment(cell["set"], method, cell["value"], seed, cell.get("search", False))
    train(e, WARM)
    used, clock = train(e, STEPS - WARM)
    z = {"plain": jnp.arange(1), "ensemble": jnp.arange(PARTICLES), "ensemble-prior": jnp.arange(PARTICLES)}.get(method)
    if z is None:
        z = jax.vmap(e.enn.indexer)(jax.random.split(jax.random.PRNGKey(seed), SAMPLES))
    logits = np.asarray(forward(e.state.params, e.state.network_state, tests, z), dtype="<f4")
    trained = hk.data_structures.filter(lambda module, *_: "prior_epinet" not in module, e.state.params)
    return logits, {"parameters": hk.data_structures.tree_size(trained), "cpu_us": used, "wall_us": clock,
                    "on": "jax"}


def read(name="rows.jsonl"):
    path = FOLDER / name
    return [json.loads(r) for r in open(path)] if path.exists() else []


def append(row, name):
    with open(FOLDER / name, "a") as f:
        f.write(json.dumps(row) + "\n")


class Own:
    """The Go program, which trains the networks of hyper/layers, and scores the logits of enn."""

    def __init__(self):
        command = [os.path.abspath(TEST), "-test.run", "^TestStudy$", "-test.timeout", "0", "-study.serve"]
        self.process = subprocess.Popen(command, cwd=HERE / "hyper/layers", stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, do, **question):
        print(json.dumps({"do": do, **question}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def beside(own, cell, libraries, path):
    """Trains a cell of the study in each library, one after the other, and appends the rows that a file lacks.

    libraries has the value of each library.
    """
    for library in sorted(libraries, reverse=cell["seed"] % 2 == 1):
        this = {"library": library, **cell, "value": libraries[library]}
        if key(this) in map(key, read(path)):
            continue
        if library != "enn":
            row = own.ask("run", **this)
        else:
            logits, row = run(this)
            with tempfile.NamedTemporaryFile(suffix=".f32") as f:
                logits.tofile(f)
                f.flush()
                scores = own.ask("score", logits=f.name, **this)
            row = {**this, **{k: scores[k] for k in ("error", "marginal", "joint")}, **row}
        append(row, path)
        print(*this.values(), *(round(row[k], 3) for k in ("error", "marginal", "joint", "cpu_us")), flush=True)


def key(row):
    return [row.get(k) for k in ("library", "search", "set", "method", "value", "by", "seed")]


def chosen(rows, library, name, method):
    """The values with the smallest mean joint NLL and with the smallest mean marginal NLL in a search."""
    best = []
    for measure in "joint", "marginal":
        found = {v: [r[measure] for r in rows if r.get("search") and r["value"] == v and
                     (r["library"], r["set"], r["method"]) == (library, name, method)] for v in VALUES[method]}
        assert all(len(of) == len(SEARCH) for of in found.values()), f"the search of {method} is not complete"
        best.append(min(found, key=lambda v: sum(found[v])))
    return best


def search(own, sets):
    for name in sets:
        for method, values in VALUES.items():
            for value in values:
                for seed in SEARCH:
                    beside(own, {"search": True, "set": name, "method": method, "seed": seed},
                           dict.fromkeys(LIBRARIES[method], value), "rows.jsonl")


def study(own, sets):
    rows = read()
    for seed in STUDY:
        for name in sets:
            for method, libraries in LIBRARIES.items():
                best = {library: chosen(rows, library, name, method) for library in libraries}
                cell = {"set": name, "method": method, "seed": seed}
                beside(own, cell, {library: joint for library, (joint, _) in best.items()}, "rows.jsonl")
                other = {library: single for library, (joint, single) in best.items() if single != joint}
                beside(own, {**cell, "by": "marginal"}, other, "rows.jsonl")


def again(own):
    rows = read()
    for asked in own.ask("worse") or []:
        at = 1 if asked.get("by") else 0
        libraries = {l: chosen(rows, l, asked["set"], asked["method"])[at] for l in LIBRARIES[asked["method"]]}
        cell = {k: asked[k] for k in ("set", "method", "by") if asked.get(k)}
        for seed in AGAIN:
            beside(own, {**cell, "seed": seed}, libraries, "again.jsonl")


def times(own, seed, clock):
    """Times the steps of both libraries: each trains a round while the other waits. Which is first changes.

    The times are on processors or, with clock, on the clock.
    """
    rows = read()
    for name in SETS:
        for method, libraries in LIBRARIES.items():
            value = {library: chosen(rows, library, name, method)[0] for library in libraries}
            own.ask("start", set=name, method=method, value=value["hyper/layers"], seed=seed)
            sides = {"hyper/layers": lambda: own.ask("steps", steps=ROUND)["wall_us" if clock else "cpu_us"]}
            if "enn" in libraries:
                e = experiment(name, method, value["enn"], seed)[0]
                train(e, WARM)
                sides["enn"] = lambda: train(e, ROUND)[clock]
            rounds = {library: [] for library in sides}
            for i in range(ROUNDS):
                for library in sorted(sides, reverse=(seed + i) % 2 == 1):
                    rounds[library].append(round(sides[library](), 1))
            for library, all in rounds.items():
                append({"library": library, "set": name, "method": method, "seed": seed, "rounds_us": all},
                       "clock.jsonl" if clock else "times.jsonl")


def main():
    mode, more, own = sys.argv[3], sys.argv[4:], Own()
    if mode in ("times", "clock"):
        times(own, int(more[0]), mode == "clock")
    elif mode == "again":
        again(own)
    else:
        {"search": search, "study": study}[mode](own, more or SETS)


main()
