"""Attention, its heads' products and its transpositions are one kernel: `full` moves at most 0.7 of the bytes of
activations that the baseline moves."""
import sys

from explained import explained, machine, skip_without

MACHINE = {"l1_bytes": 48 << 10, "l2_bytes": 1 << 20, "l3_bytes": 32 << 20}
CASES = [("bert_small", []), ("bert_small", ["--shape", "ids=1x512", "--shape", "mask=1x512"]), ("vit_b_16", [])]


def activations(model, shapes, fusion, target):
    """Bytes that the kernels read and write, and how many kernels there are."""
    totals = explained(model, fusion, target, "--target-cpu", "x86-64-v3", *shapes)["totals"]["fused"]
    return totals["bytes_read"] + totals["bytes_written"], totals["kernels"]


def main():
    skip_without("bert_small")
    failed = False
    with machine(MACHINE) as target:
        for name, shapes in CASES:
            baseline, kernels_before = activations(name, shapes, "dominator", target)
            fused, kernels = activations(name, shapes, "full", target)
            print("%s %s: %d bytes in %d kernels instead of %d in %d, %.2f" % (
                name, " ".join(shapes), fused, kernels, baseline, kernels_before, fused / baseline))
            failed |= fused > 0.7 * baseline or kernels > kernels_before
    sys.exit(failed)


main()
