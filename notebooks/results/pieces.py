#!/usr/bin/env python3
"""Makes the missing searches and studies of PROTOCOL.md, piece by piece, and puts them into this folder.

    go build -o hyper-bin ./hyper/cmd/hyper
    python3 notebooks/results/pieces.py --hyper ./hyper-bin --hours 2       # begin no piece after two hours
    python3 notebooks/results/pieces.py --hyper ./hyper-bin --list          # which pieces exist, and which are missing

The program can be stopped at any time, and continues when it is started again. Unfinished pieces lie in --work. Use one
build for a piece from its beginning to its end: hyper refuses to continue results of a build with different results.

On a machine with a GPU, under NVIDIA's MPS daemon (nvidia-cuda-mps-control -d), eight agents side by side fill the GPU:

    python3 notebooks/results/pieces.py --hyper ./hyper-bin --backend xla:cuda --whole --jobs 8 --minutes 9 --copy DIR

makes each study in one piece, ends after nine minutes, and also copies the finished pieces to DIR.
"""

import argparse
import concurrent.futures
import gzip
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PERIODS, FIRST_SEED, RUNS = 100_000, 1_300_000, 32  # RUNS is the number of runs of a piece of a study.

LIKE = ["optimizer=sgd", "clip=0"]
HYPERMODEL = LIKE + ["index-set=iid", "perturbation=0"]
SPACE = ["step-size=0.001:0.3", "sgd-steps=2,4,8", "batch=16,64"]
AGENTS = {  # name: agent, settings, space
    "egreedy": ("egreedy", LIKE + ["initial-scale=1"], SPACE + ["prior-variance=0.225:22.5", "anneal=3:300"]),
    "linear": ("linear", HYPERMODEL + ["initial-map=1"], SPACE + ["index-samples=4,16", "prior-factor=0.1:10"]),
}
for n in (10, 30, 100):
    AGENTS[f"ensemble-{n}"] = ("ensemble", HYPERMODEL + [f"particles={n}", "integrate=sampled", "initial-scale=1"],
                               SPACE + ["index-samples=4,16", "prior-factor=0.1:10"])


# Stratum B: each agent at its best.
BEST = ["optimizer=adam,adam,sgd", "step-size[optimizer=adam]=0.0005:0.05", "step-size[optimizer=sgd]=0.001:0.3",
        "clip=0,1,5", "schedule=constant,inverse-root,cosine", "schedule-after[schedule=inverse-root]=300:30000",
        f"schedule-periods[schedule=cosine]={PERIODS}", "sgd-steps=2,4,8"]
HYPER_BEST = ["prior-factor=0.1:10", "perturbation=0,0.5,1"]
BEST_AGENTS = {
    "egreedy": ("egreedy", [], BEST + ["prior-variance=0.225:22.5", "initial-scale=0.3,1,3", "anneal=3:300"]),
    "linear": ("linear", [], BEST + HYPER_BEST + ["initial-map=0.1,0.3,1", "index-set=iid,frame",
                                                  "index-samples[index-set=iid]=16", "index-samples[index-set=frame]=60"]),
}
for n in (10, 30):
    BEST_AGENTS[f"ensemble-{n}"] = ("ensemble", [f"particles={n}"], BEST + HYPER_BEST + [
        "initial-scale=0.3,1,3", "integrate=sampled,analytic", "index-samples[integrate=sampled]=16"])


class Search:
    """A search of settings for an agent with a number of actions. Its record is a file in a folder of tuning."""

    def __init__(self, folder, name, agents, actions, seed, rungs, champion=None):
        self.agent, sets, self.space = agents[name]
        self.sets = sets + [f"actions={actions}"]
        self.name, self.seed, self.rungs, self.champion = f"{name}-{actions}", seed, rungs, champion
        if champion and champion.name == self.name:
            self.name += "-2"
        self.out = f"search-{self.name}" if folder == "like-for-like" else f"search-{folder}-{self.name}"
        self.file = HERE / "tuning" / folder / f"{self.name}.json"

    def there(self):
        return self.file.exists()

    def winner(self):
        return json.loads(self.file.read_text())["rungs"][-1]["results"][0]["settings"]

    def make(self, hyper, work, common):
        out = work / self.out
        if common:  # On a GPU the programs of several settings are compiled at the same time.
            common = common + ["--workers", "4", "--batch-runs", "512"]
        command = [hyper, "tune", "neural", "--agent", self.agent, "--seed", self.seed, "--out", out, *common]
        for s in self.sets:
            command += ["--set", s]
        for s in self.space:
            command += ["--space", s]
        for rung in self.rungs:
            command += ["--rung", rung]
        if self.champion:
            command += ["--champion", self.champion.file]
        run(command)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(out / "tune.json", self.file)
        shutil.rmtree(out)


class Study:
    """Runs of an agent with consecutive seeds: a file in the folder of its experiment."""

    def __init__(self, folder, name, agent, sets, first, runs=RUNS, periods=PERIODS, search=None, experiment="neural"):
        self.agent, self.sets, self.first, self.runs, self.periods = agent, sets, first, runs, periods
        self.search, self.experiment = search, experiment
        self.name = f"{name}-{first}"
        self.file = HERE / experiment / folder / f"{self.name}.jsonl.gz"
        self.out = f"{folder}-{self.name}"
        self.parts = f"{name}-[0-9]*.jsonl.gz"

    def there(self):
        """Return whether a file of this study has the runs."""
        for file in self.file.parent.glob(self.parts):
            with gzip.open(file, "rt") as f:
                spec = json.loads(f.readline())["spec"]
            if spec["seed"] <= self.first < spec["seed"] + spec["runs"]:
                return True
        return False

    def make(self, hyper, work, common):
        out = work / self.out
        if (out / "results.jsonl").exists():
            run([hyper, "resume", out])
        else:
            sets = list(self.sets)
            if self.search:
                sets += [f"{k}={v}" for k, v in sorted(self.search.winner().items())]
            command = [hyper, "run", self.experiment, "--agent", self.agent, "--periods", str(self.periods), "--runs",
                       str(self.runs), "--seed", str(self.first), "--out", out, *common]
            for s in sets:
                command += ["--set", s]
            run(command)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        run([hyper, "export", out, self.file])
        shutil.rmtree(out)


def like_for_like(name, actions, more=(), label=None, seeds=128):
    """Return the pieces of stratum A for an agent: its search and its study."""
    search = Search("like-for-like", name, AGENTS, actions, 2_200_000, ["24:8:10000", "8:16:30000", f"3:32:{PERIODS}"])
    sets = [s for s in search.sets if s.split("=")[0] not in [m.split("=")[0] for m in more]] + list(more)
    return [search] + [Study(f"like-for-like-{actions}", label or name, search.agent, sets, first, search=search)
                       for first in range(FIRST_SEED, FIRST_SEED + seeds, RUNS)]


def at_its_best(name, seeds=64):
    """Return the pieces of stratum B for an agent: its search and its study."""
    search = Search("best", name, BEST_AGENTS, 1000, 2_300_000, ["16:8:10000", "6:16:30000", f"2:32:{PERIODS}"])
    return [search] + [Study("best-1000", name, search.agent, search.sets, first, search=search)
                       for first in range(FIRST_SEED, FIRST_SEED + seeds, RUNS)]


# The second search for the ensemble of 10 at its best. It is near the winners of the first.
AGAIN = {"ensemble-10": ("ensemble", ["particles=10", "integrate=analytic"], [
    "optimizer=sgd,sgd,adam", "step-size[optimizer=adam]=0.0003:0.003", "step-size[optimizer=sgd]=0.02:0.5",
    "clip=0.3,1,3", "schedule=constant,inverse-root", "schedule-after[schedule=inverse-root]=1000:30000",
    "sgd-steps=1,2,4", "prior-factor=0.1:10", "perturbation=0,0.5,1", "initial-scale=1,3,10"])}


# The winner of the first search with steps that fall. The seeds are the first search's own.
WINNER = ["particles=10", "clip=1", "initial-scale=3", "integrate=analytic", "optimizer=sgd", "perturbation=0.5",
          "prior-factor=0.31", "sgd-steps=2", "step-size=0.121", "schedule=inverse-root"]
FALLING = {"ensemble-10-falling": ("ensemble", WINNER, ["schedule-after=1000,3000,10000"])}


def winner_without(*keys):
    return [w for w in WINNER if w.split("=")[0] not in keys]


# A search near it with the usual initial parameters, on seeds of its own.
SMALL = {"ensemble-10-small": ("ensemble", winner_without(
    "initial-scale", "prior-factor", "sgd-steps", "step-size") + ["initial-scale=1"], [
    "batch=16,64", "step-size=0.08,0.121,0.18", "sgd-steps=2,4", "prior-factor=0.1,0.31,1",
    "schedule-after=10000,30000"])}
# A search with rewards in units of their own deviation, also on seeds of its own.
SCALED = {"ensemble-10-scaled": ("ensemble", winner_without(
    "initial-scale", "perturbation", "prior-factor", "step-size") + ["standardize-rewards=yes"], [
    "initial-scale=1,3", "noise-variance=0.2,0.4,0.8", "perturbation=0.5,1", "prior-factor=0.1,0.31,1",
    "prior-multiplier=0.5,0.7,1", "step-size=0.08,0.121,0.18", "schedule-after=10000,30000"])}
# A search with some random actions: one sampled function, as in Thompson sampling, and actions at random as often as
# epsilon-greedy takes them.
EXPLORING = {"ensemble-10-exploring": ("ensemble", winner_without(
    "initial-scale", "optimizer", "perturbation", "prior-factor", "sgd-steps", "step-size") + [
    "standardize-rewards=yes", "noise-variance=0.4", "policy=egreedy", "policy-samples=1"], [
    "anneal=3,10,30", "optimizer=adam,adam,sgd", "step-size[optimizer=adam]=0.003,0.006,0.01,0.02",
    "step-size[optimizer=sgd]=0.121,0.18", "sgd-steps=2,4", "schedule-after=1000,3000,10000,30000",
    "initial-scale=1,3", "perturbation=0.5,1", "prior-factor=0.1,0.31,1", "prior-multiplier=0.5,1"])}


def ensemble_again():
    """Return the pieces of later searches for the ensemble of 10, and of runs that compare their winners. The second
    search has no runs: its winner is not better than the first one's."""
    constant = at_its_best("ensemble-10")[0]
    second = Search("again", "ensemble-10", AGAIN, 1000, 2_400_000, ["16:8:10000", "6:16:30000", f"2:32:{PERIODS}"])
    falling = Search("again", "ensemble-10-falling", FALLING, 1000, 2_300_000, [f"3:32:{PERIODS}"])
    small = Search("again", "ensemble-10-small", SMALL, 1000, 2_500_000, ["12:32:20000", f"3:64:{PERIODS}"])
    scaled = Search("again", "ensemble-10-scaled", SCALED, 1000, 2_600_000,
                    ["16:64:5000", "6:128:20000", f"2:64:{PERIODS}"])
    exploring = Search("again", "ensemble-10-exploring", EXPLORING, 1000, 2_700_000, ["12:64:20000", f"4:64:{PERIODS}"])
    studies = [("again-1000", falling, 1_400_000), ("again-1000", constant, 1_400_000),
               ("fourth-1000", falling, 2_500_000), ("fourth-1000", small, 1_600_000),
               ("fourth-1000", falling, 1_600_000), ("fourth-1000", constant, 1_600_000),
               ("fourth-1000", constant, 2_500_000), ("fifth-1000", scaled, 1_700_000),
               ("fifth-1000", constant, 1_700_000), ("fifth-1000", scaled, 1_700_064),
               ("fifth-1000", constant, 1_700_064), ("sixth-1000", exploring, 1_800_000),
               ("sixth-1000", constant, 1_800_000), ("sixth-1000", exploring, 1_800_064),
               ("sixth-1000", constant, 1_800_064)]
    names = {falling: "ensemble-10", constant: "ensemble-10-constant", small: "ensemble-10-small",
             scaled: "ensemble-10-scaled", exploring: "ensemble-10-exploring"}
    return [second, falling, small, scaled, exploring] + [
        Study(folder, names[search], "ensemble", search.sets, first, search=search)
        for folder, search, seed in studies for first in range(seed, seed + 64, RUNS)]


def independent(actions, seeds=128):
    return [Study(f"like-for-like-{actions}", "independent", "independent", [f"actions={actions}"], first)
            for first in range(FIRST_SEED, FIRST_SEED + seeds, RUNS)]


def near_exact(arms):
    """Return the pieces of sentence 1 for a number of arms."""
    return [Study("near-exact", f"{agent}-{arms}", agent, [f"arms={arms}", *sets], FIRST_SEED, 128, 10_000,
                  experiment="gaussian")
            for agent, sets in (("exact", []), ("linear", ["index-dim=10"]))]


SENTENCE_9 = ["optimizer=sgd", "step-size=0.0917", "sgd-steps=8", "clip=1", "index-set=iid", "index-samples=16",
              "prior-factor=3.03"]


def priors():
    """Return the pieces of sentence 9 that give the narrow and the wide prior 64 runs. 24 runs lie in the same folder."""
    return [Study("sgd-100000", f"multiplier-{multiplier}", "linear", SENTENCE_9 + [f"prior-multiplier={multiplier}"],
                  1_100_000 + first, runs, experiment="prior-sensitivity")
            for first, runs in ((24, 24), (48, 16)) for multiplier in ("0.01", "30")]


def similar():
    """Return the pieces of the second test of sentence 4. The agents have the settings of stratum A."""
    out = []
    for first in range(1_500_000, 1_500_256, RUNS):
        for name in ("linear", "ensemble-30"):
            search = like_for_like(name, 200)[0]
            out.append(Study("similar-200", name, search.agent, search.sets, first, search=search))
    return out


def noise():
    """Return the pieces of sentence 9 that give noise 2 48 runs with and without perturbations. 24 runs lie there."""
    return [Study("sgd-100000", f"perturbation-{p}", "linear", SENTENCE_9 + ["noise=2", f"perturbation={p}"],
                  1_100_024, 24, experiment="noise-sensitivity") for p in (0, 1)]


# Appendix D's diagonal agent with dense rows of B. Its searches are like those of the other reading in tuning/equal.
DENSE = {"diagonal-dense": ("diagonal", ["index-samples=4", "prior-rows=dense"], [
    "optimizer=adam,adam,sgd", "step-size[optimizer=adam]=0.0005:0.05", "step-size[optimizer=sgd]=0.01:1",
    "clip[optimizer=sgd]=0,1,5", "sgd-steps=2,4,8", "prior-factor=0.1:10", "prior-multiplier=0.01,0.1,1",
    "perturbation=0,0.5,1"])}


def dense_diagonal():
    """Return the pieces of that agent. B has 99 MB a run. Therefore they take some 6 hours on two cores, and less with
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1. A build of revision adccec7f takes 2 to 3 hours, with the same digests."""
    first = Search("equal", "diagonal-dense", DENSE, 200, 2_000_000, ["24:16:500", "8:16:1000", "3:32:2000"])
    second = Search("equal", "diagonal-dense", DENSE, 200, 2_100_000, ["12:16:500", "3:32:2000"], first)
    return [first, second] + [Study("dense", "diagonal", "diagonal", second.sets, seed, 20, 5_000, second,
                                    experiment="posterior-approximations")
                              for seed in range(1_100_000, 1_100_060, 20)]


def agents():
    """Return lists of pieces in the order in which they are made: each list has the pieces of one agent."""
    out = [like_for_like("egreedy", 1000), independent(1000), like_for_like("ensemble-10", 1000),
           like_for_like("linear", 1000), like_for_like("ensemble-30", 1000)]
    out += [near_exact(arms) for arms in (10, 30, 100)]
    out += [like_for_like(name, 200, seeds=64) for name in ("egreedy", "ensemble-10", "linear", "ensemble-30")]
    out += [independent(200, seeds=64), like_for_like("ensemble-100", 1000)]
    out += [like_for_like(name, 1000, ["clip=5"], name + "-bounded", seeds=64)[1:] for name in ("linear", "ensemble-10")]
    out += [at_its_best(name) for name in ("egreedy", "ensemble-10", "linear", "ensemble-30")]
    out += [ensemble_again(), similar(), priors(), noise()]
    return out + [like_for_like("ensemble-100", 1000, ["particles=300"], "ensemble-300")[1:], dense_diagonal()]


def whole(pieces):
    """Return the pieces of an agent with all seeds of its study in one piece."""
    out = [p for p in pieces if isinstance(p, Search)]
    studies = [p for p in pieces if isinstance(p, Study)]
    if studies and any(p.there() for p in studies) or len({p.parts for p in studies}) > 1:
        return pieces  # The study has begun in several pieces, or there are several studies.
    if studies:
        studies[0].runs = sum(p.runs for p in studies)
    return out + studies[:1]


running, lock = set(), threading.Lock()


def run(command):
    command = [str(c) for c in command]
    print(time.strftime("%H:%M:%S"), " ".join(command), flush=True)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    with lock:
        running.add(process)
    status = process.wait()
    with lock:
        running.discard(process)
    if status:
        raise subprocess.CalledProcessError(status, command)


def interrupt():
    """Interrupt all running commands. They save their results."""
    with lock:
        for process in running:
            process.send_signal(signal.SIGINT)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--hyper", default="hyper", help="the hyper command (default: the one in PATH)")
    p.add_argument("--work", default=pathlib.Path("hyper-out/pieces"), type=pathlib.Path,
                   help="the folder for unfinished pieces (default: %(default)s)")
    p.add_argument("--only", default="", help="make only the pieces whose file's path matches this regular expression")
    p.add_argument("--hours", type=float, default=1e9, help="begin no new piece after this number of hours")
    p.add_argument("--minutes", type=float, help="end after this number of minutes, and save unfinished pieces")
    p.add_argument("--backend", help="the backend, as for hyper run, such as xla:cuda")
    p.add_argument("--whole", action="store_true", help="make each study in one piece instead of pieces of 32 runs")
    p.add_argument("--jobs", type=int, default=1, help="the number of agents to work on at the same time (default: 1)")
    p.add_argument("--copy", type=pathlib.Path, help="copy each finished piece to this folder too")
    p.add_argument("--list", action="store_true", help="list existing and missing pieces, and make none")
    args = p.parse_args()
    common = ["--backend", args.backend] if args.backend else []
    chosen = [[p for p in (whole(a) if args.whole else a) if re.search(args.only, str(p.file.relative_to(HERE)))]
              for a in agents()]
    if args.list:
        for piece in sum(chosen, []):
            print("exists " if piece.there() else "missing", piece.file.relative_to(HERE))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    begin, over = time.time(), threading.Event()

    def make(pieces):
        for piece in pieces:
            if piece.there():
                continue
            if over.is_set() or time.time() - begin > args.hours * 3600:
                return
            piece.make(args.hyper, args.work, common)
            if args.copy:
                to = args.copy / piece.file.relative_to(HERE)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(piece.file, to)

    def end():
        over.set()
        interrupt()

    if args.minutes:
        timer = threading.Timer(60 * args.minutes, end)
        timer.daemon = True
        timer.start()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for made in [pool.submit(make, pieces) for pieces in chosen]:
            try:
                made.result()
            except subprocess.CalledProcessError as e:
                if not over.is_set():
                    print(f"pieces.py: {' '.join(e.cmd)} failed with status {e.returncode}", file=sys.stderr)
                    failed = 1
    sys.exit(failed)


if __name__ == "__main__":
    main()
