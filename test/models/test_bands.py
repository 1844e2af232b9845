"""On a machine with small caches `full` computes anchors band by band inside the ones that read them: at most half of the
bytes of activations that the baseline moves beyond the last cache level."""
import sys

from explained import explained, machine, skip_without

CACHES = {"l1_bytes": 32 << 10, "l2_bytes": 256 << 10, "l3_bytes": 2 << 20}


def beyond_last_level(model, fusion, target):
    """Bytes of activations from and to memory, and how many kernels there are."""
    data = explained(model, fusion, target, "--shape", "x=1x3x224x224")
    memory = data["levels"]["fused"]["memory"]
    return memory["read"] + memory["written"], len(data["groups"])


def main():
    skip_without("mobilenet_v2")
    failed = False
    with machine(CACHES) as target:
        for name in ("mobilenet_v2", "efficientnet_b0"):
            baseline, kernels_before = beyond_last_level(name, "dominator", target)
            banded, kernels = beyond_last_level(name, "full", target)
            print("%s: %.1f MB in %d kernels instead of %.1f MB in %d, %.2f" % (
                name, banded / 1e6, kernels, baseline / 1e6, kernels_before, banded / baseline))
            failed |= banded * 2 > baseline
    sys.exit(failed)


main()
