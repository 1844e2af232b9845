"""measure - what the figures ask of the built programs. TOKAMAK_BUILD names another build folder than build/."""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("TOKAMAK_BUILD", os.path.join(ROOT, "build")), "bin")


def program(name):
    path = os.path.join(BIN, name)
    if not os.path.exists(path):
        sys.exit(f"{os.path.basename(sys.argv[0])}: {path} is missing: run scripts/build {name}")
    return path


def run(*command):
    """(standard output, standard error) of a command that must succeed."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout, result.stderr


def pinned(cpus, *command):
    return run("taskset", "-c", cpus, *command)


def last_cpus(threads):
    """The last processors: the first ones serve interrupts."""
    last = max(os.sched_getaffinity(0))
    return f"{last + 1 - threads}-{last}"


def turns(model, sides, *options, threads=1, rounds=15):
    """`sides`: label -> options. The sides of bench_turns, in order, as a dictionary by label."""
    words = [word for label, own in sides.items() for word in ("--side", f"{label}: {' '.join(own)}")]
    out, _ = pinned(last_cpus(threads), program("bench_turns"), model, *options, "--threads", str(threads), "--rounds",
                    str(rounds), *words)
    return {side["label"]: side for side in json.loads(out)["sides"]}


def profile(model, *options, runs=50):
    """Its kernels, on one thread."""
    out, _ = pinned(last_cpus(1), program("tokamak"), "bench", model, *options, "--threads", "1", "--runs", str(runs),
                    "--profile", "--json")
    return json.loads(out)["profile"]


def explain(model, *options):
    return json.loads(run(program("tokamak"), "explain", model, *options, "--format", "json")[0])


def passes_that_changed(model, *options):
    """Names of the passes that did anything, each once, in order; partitioning and its outlining left out."""
    with tempfile.TemporaryDirectory() as folder:
        _, dumps = run(program("tokamak"), "compile", model, *options, "--print-after-change", "-o",
                       os.path.join(folder, "model.so"))
    names = re.findall(r"IR Dump After \w+ \(([\w-]+)\)", dumps)
    return [name for name in dict.fromkeys(names) if name != "outline-groups"]


def calibrate(path):
    """Measures this machine into `path`; returns the description."""
    run(program("tokamak"), "calibrate", "-o", path)
    with open(path) as file:
        return json.load(file)
