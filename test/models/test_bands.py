"""On a machine with small caches `full` computes anchors band by band inside the ones that read them: at most half, or 0.7
where intermediate values are less wide, of the bytes of activations that the baseline moves beyond the last cache level."""
import sys

from explained import explained, machine, skip_without

CACHES = {"l1_bytes": 32 << 10, "l2_bytes": 256 << 10, "l3_bytes": 2 << 20}
# Model, extents of x, part of the bytes.
CASES = [("mobilenet_v2", "1x3x224x224", 0.5), ("efficientnet_b0", "1x3x224x224", 0.5),
         ("ch_PP-OCRv4_det_infer", "1x3x640x640", 0.7)]


def beyond_last_level(model, shape, fusion, target):
    """Bytes of activations from and to memory, and how many kernels there are."""
    data = explained(model, fusion, target, "--target-cpu", "x86-64-v3", "--shape", "x=" + shape)
    memory = data["levels"]["fused"]["memory"]
    return memory["read"] + memory["written"], len(data["groups"])


def main():
    skip_without("mobilenet_v2")
    failed = False
    with machine(CACHES) as target:
        for name, shape, part in CASES:
            baseline, kernels_before = beyond_last_level(name, shape, "dominator", target)
            banded, kernels = beyond_last_level(name, shape, "full", target)
            print("%s: %.1f MB in %d kernels instead of %.1f MB in %d, %.2f" % (
                name, banded / 1e6, kernels, baseline / 1e6, kernels_before, banded / baseline))
            failed |= banded > part * baseline
    sys.exit(failed)


main()
