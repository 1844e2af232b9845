"""Attention, its heads' products and its transpositions are one kernel: `full` moves at most 0.7 of the bytes of
activations that the baseline moves."""
import json
import os
import subprocess
import sys
import tempfile

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
MACHINE = {"l1_bytes": 48 << 10, "l2_bytes": 1 << 20, "l3_bytes": 32 << 20}
CASES = [("bert_small", []), ("bert_small", ["--shape", "ids=1x512", "--shape", "mask=1x512"]), ("vit_b_16", [])]


def activations(model, shapes, fusion, target):
    """Bytes that the kernels read and write, and how many kernels there are."""
    text = subprocess.run([os.environ["TOKAMAK"], "explain", model, "--format", "json", "--fusion", fusion,
                           "--target-cpu", "x86-64-v3", "--target-description", target] + shapes,
                          check=True, capture_output=True, text=True).stdout
    totals = json.loads(text)["totals"]["fused"]
    return totals["bytes_read"] + totals["bytes_written"], totals["kernels"]


def main():
    if not os.path.exists(os.path.join(MODELS, "bert_small.onnx")):
        print("no models here: scripts/fetch-models and scripts/export-models get them")
        sys.exit(77)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as target:
        json.dump(MACHINE, target)
        target.flush()
        failed = False
        for name, shapes in CASES:
            path = os.path.join(MODELS, name + ".onnx")
            baseline, kernels_before = activations(path, shapes, "dominator", target.name)
            fused, kernels = activations(path, shapes, "full", target.name)
            print("%s %s: %d bytes in %d kernels instead of %d in %d, %.2f" % (
                name, " ".join(shapes), fused, kernels, baseline, kernels_before, fused / baseline))
            failed |= fused > 0.7 * baseline or kernels > kernels_before
    sys.exit(failed)


main()
