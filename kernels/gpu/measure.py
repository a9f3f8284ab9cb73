#!/usr/bin/env python3
"""Measures the speed of hyper commands beside JAX programs of the same work on one GPU, and writes a JSON file.

    go build -o new ./hyper/cmd/hyper                      # and "old" from another revision
    python3 kernels/gpu/measure.py --ours new=./new --ours old=./old --jax ../shared/peers --out gpu.json

First all programs run side by side once, so that they are compiled at the same time and lie in the compile caches. Then
they take turns, in rounds, so that each of them meets the same conditions. The file is written after each measurement,
and no measurement starts after --seconds. It has run-periods a second, compilation excluded. On 16 cores the first part
takes some 90 seconds, and a round 60. --backend xla:cpu --shrink 100 --runs 2 rehearses on a CPU.

--test explore=./explore.test runs a test binary (go test -c) in hyper/explore on the backend, after the measurements.
"""
import argparse, concurrent.futures, json, os, pathlib, statistics, subprocess, sys, tempfile, time

FIGURE2 = "arms=100 index-dim=30 batch=1024 index-samples=16 sgd-steps=1 step-size=0.3 integrate=sampled"
FIGURE3 = ("actions=200 index-dim=10 batch=64 sgd-steps=8 index-samples=16 index-set=iid optimizer=sgd step-size=0.003 "
           "clip=0 perturbation=0")
FIGURE4 = "size=200 policy-samples=500"
# experiment and agent, settings, periods by number of runs, JAX program and its arguments
WORK = [
    ("neural linear", FIGURE3, {64: 5000, 1024: 1000},
     "fig4_nn_bandit.py --agent linear --n-actions 200 --m 10 --batch 64 --nz 16 --sgd-steps 8 --lr 0.003"),
    ("gaussian linear", FIGURE2, {64: 20000, 1024: 4000},
     "fig3_gaussian.py --agent linear --K 100 --m 30 --batch 1024 --nz 16 --sgd-steps 1 --lr 0.3"),
    ("ids ids", FIGURE4, {64: 2000}, "fig5_ids.py --N 200 --functions 500"),
]


def last_json(command, env, timeout):
    """Runs a command, and returns the JSON object in the last line of its output, or the error."""
    try:
        done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=timeout)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"error": "timeout"}
    except (IndexError, json.JSONDecodeError):
        return {"error": (done.stderr or done.stdout)[-500:]}


def ours(args, binary, work, runs, periods, timeout):
    experiment, agent = work[0].split()
    with tempfile.TemporaryDirectory() as out:
        command = [binary, "run", experiment, "--agent", agent, "--backend", args.backend, "--runs", runs, "--periods",
                   periods, "--json", "--out", out + "/run"]
        if args.backend == "xla:cuda":  # A CPU is faster with several small batches, which is the default.
            command += ["--batch-runs", runs, "--workers", 1]
        for s in work[1].split():
            command += ["--set", s]
        r = last_json([str(c) for c in command], {}, timeout)
    return r if "error" in r else {"rate": r["run_periods_per_second"], "compile": r["compile_seconds"],
                                   "regret": r["average_regret"], "diverged": r["diverged"]}


def jax(args, work, runs, periods, timeout):
    program, *flags = work[3].split()
    path = pathlib.Path(args.jax) / program
    if not path.exists():
        return {"error": f"there is no {program}"}
    env = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
           "JAX_PLATFORMS": "cuda" if args.backend == "xla:cuda" else "cpu", "JAX_DEFAULT_MATMUL_PRECISION": "highest",
           "JAX_COMPILATION_CACHE_DIR": args.cache}
    r = last_json([args.python, str(path), *flags, "--T", str(periods), "--seeds", str(runs)], env, timeout)
    return r if "error" in r else {"rate": 1e6 / r["us_per_step_seed"], "compile": r["compile_s"], "jax": r["jax"],
                                   "regret": list(r["avg"].values())[-1][0]}


def summary(measured):
    """Returns, for each cell, the median rate of each program, and its ratio to JAX."""
    out = {}
    for m in measured:
        if "rate" in m:
            out.setdefault(m["work"], {}).setdefault(m["program"], []).append(m["rate"])
    for cell, rates in out.items():
        out[cell] = {p: round(statistics.median(r)) for p, r in rates.items()}
        if "jax" in out[cell]:
            out[cell] |= {p + "/jax": round(r / out[cell]["jax"], 2) for p, r in list(out[cell].items()) if p != "jax"}
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ours", action="append", default=[], metavar="NAME=BINARY")
    p.add_argument("--test", action="append", default=[], metavar="PACKAGE=BINARY")
    p.add_argument("--jax", metavar="FOLDER", help="the JAX programs")
    p.add_argument("--python", default=sys.executable, help="the Python with JAX")
    p.add_argument("--backend", default="xla:cuda")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--seconds", type=float, default=330)
    p.add_argument("--shrink", type=int, default=1, help="divide the periods by this number")
    p.add_argument("--runs", type=int, default=0, help="replace the numbers of runs")
    p.add_argument("--out", default="gpu.json")
    args = p.parse_args()
    args.cache = tempfile.mkdtemp()
    card = subprocess.run("nvidia-smi -L || true", shell=True, capture_output=True, text=True).stdout.strip()
    report = {"backend": args.backend, "card": card, "cpus": os.cpu_count(), "measured": [], "tests": {}}
    begin = time.monotonic()

    def left():
        return args.seconds - (time.monotonic() - begin)

    def save():
        report["summary"], report["seconds"] = summary(report["measured"]), round(time.monotonic() - begin, 1)
        pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")

    programs = [x.split("=", 1) for x in args.ours] + ([["jax", ""]] if args.jax else [])
    cells = []
    for work in WORK:
        for runs, periods in ({args.runs: min(work[2].values())} if args.runs else work[2]).items():
            cells += [(work, runs, max(2, periods // args.shrink), *p) for p in programs]

    def measure(cell):
        work, runs, periods, name, binary = cell
        if name == "jax":
            return jax(args, work, runs, periods, left())
        return ours(args, binary, work, runs, periods, left())

    with concurrent.futures.ThreadPoolExecutor(len(cells)) as pool:
        list(pool.map(measure, cells))
    for number in range(args.rounds):
        for cell in cells:
            if left() > 5:
                m = {"round": number, "work": f"{cell[0][0]} {cell[1]}", "program": cell[3], **measure(cell)}
                report["measured"].append(m)
                print(m, flush=True)
                save()
    for package, binary in (x.split("=", 1) for x in args.test):
        if left() > 5:
            done = subprocess.run([os.path.abspath(binary), "-test.short", f"-test.timeout={left():.0f}s"], capture_output=True,
                                  text=True, cwd="hyper/" + package, env={**os.environ, "HYPER_BACKEND": args.backend})
            report["tests"][package] = {"exit": done.returncode, "output": done.stdout[-2000:]}
            save()
    print(json.dumps(report["summary"], indent=1))


if __name__ == "__main__":
    main()
