"""What `tokamak explain` says of a real model on a described machine."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")


def skip_without(name):
    """Ends the test as skipped where the models have not been fetched."""
    if not os.path.exists(os.path.join(MODELS, name + ".onnx")):
        print("no models here: scripts/fetch-models and scripts/export-models get them")
        sys.exit(77)


@contextlib.contextmanager
def machine(description):
    """The path of a file for --target-description."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as target:
        json.dump(description, target)
        target.flush()
        yield target.name


def explained(name, fusion, target, *options):
    """The JSON of `explain`, as Python's values."""
    command = [os.environ["TOKAMAK"], "explain", os.path.join(MODELS, name + ".onnx"), "--format", "json",
               "--fusion", fusion, "--target-description", target]
    return json.loads(subprocess.run([*command, *options], check=True, capture_output=True, text=True).stdout)
