"""Writes the ten data sets on which the settings of agent.Contextual were chosen: choose.py FOLDER.

It needs river 0.26.1 and scikit-learn. The sets of notebook 14 are not among them.
"""

import csv
import itertools
import sys
from pathlib import Path

import numpy as np
from river import datasets
from river.datasets import synth
from sklearn import datasets as sk


def dense(stream, n):
    rows = [(list(x.values()), y) for x, y in itertools.islice(stream, n)]
    classes = sorted({r[1] for r in rows})
    return np.array([r[0] for r in rows], float), np.array([classes.index(r[1]) for r in rows])


def load():
    for name in "iris", "wine", "breast_cancer":
        yield name, getattr(sk, "load_" + name)(return_X_y=True)
    yield "banana", dense(iter(datasets.Bananas()), 3000)
    yield "waveform", dense(synth.Waveform(seed=1), 2000)
    yield "led", dense(synth.LED(seed=1, noise_percentage=0.1), 2000)
    rbf = synth.RandomRBF(seed_model=1, seed_sample=1, n_classes=5, n_features=10, n_centroids=30)
    yield "rbf", dense(rbf, 2500)
    yield "agrawal", dense(synth.Agrawal(seed=1), 2000)
    yield "mc", sk.make_classification(2500, 20, n_informative=8, n_classes=6, n_clusters_per_class=2,
                                       random_state=1, class_sep=1.5)
    yield "quantiles", sk.make_gaussian_quantiles(n_samples=2000, n_features=6, n_classes=3, random_state=1)


folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, (x, y) in load():
    x, y = x[:1500, x.std(0) > 0], y[:1500]
    with open(folder / f"{name}.csv", "w") as f:
        w = csv.writer(f)
        w.writerow([f"x{i}" for i in range(x.shape[1])] + ["class"])
        w.writerows([f"{v:.9g}" for v in row] + [f"c{c}"] for row, c in zip(x, y))
