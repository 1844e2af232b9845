"""On a machine with small caches `full` computes anchors band by band inside the ones that read them: at most half of the
bytes of activations that the baseline moves beyond the last cache level."""
import json
import os
import subprocess
import sys
import tempfile

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
CACHES = {"l1_bytes": 32 << 10, "l2_bytes": 256 << 10, "l3_bytes": 2 << 20}


def beyond_last_level(model, fusion, target):
    """Bytes of activations from and to memory, and how many kernels there are."""
    text = subprocess.run([os.environ["TOKAMAK"], "explain", model, "--format", "json", "--fusion", fusion,
                           "--target-description", target], check=True, capture_output=True, text=True).stdout
    data = json.loads(text)
    memory = data["levels"]["fused"]["memory"]
    return memory["read"] + memory["written"], len(data["groups"])


def main():
    if not os.path.exists(os.path.join(MODELS, "mobilenet_v2.onnx")):
        print("no models here: scripts/fetch-models and scripts/export-models get them")
        sys.exit(77)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as target:
        json.dump(CACHES, target)
        target.flush()
        failed = False
        for name in ("mobilenet_v2", "efficientnet_b0"):
            path = os.path.join(MODELS, name + ".onnx")
            baseline, kernels_before = beyond_last_level(path, "dominator", target.name)
            banded, kernels = beyond_last_level(path, "full", target.name)
            print("%s: %.1f MB in %d kernels instead of %.1f MB in %d, %.2f" % (
                name, banded / 1e6, kernels, baseline / 1e6, kernels_before, banded / baseline))
            failed |= banded * 2 > baseline
    sys.exit(failed)


main()
