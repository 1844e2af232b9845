"""Target descriptions: --target-description, tokamak calibrate, and what explain and bench say by them."""
import json
import os
import unittest

from support import Command

SMALL = {"l1_bytes": 32768, "l2_bytes": 262144, "l3_bytes": 2097152}


class Target(Command):
    def describe(self, **description):
        with open(self.path("target.json"), "w") as file:
            json.dump(description, file)
        return "--target-description", "target.json"

    def explain(self, *options):
        return json.loads(self.good("explain", "two_inputs.onnx", "--shape", "a=512x1024", "--format", "json",
                                    "--fusion", "none", "--target-cpu", "x86-64-v3", *options))

    def moved(self, levels, *names):
        return sum(sum(levels[name].values()) for name in names)

    def test_cache_sizes_decide_where_bytes_come_from(self):
        # Four values of 2 MB each.
        large = self.explain(*self.describe(l1_bytes=32768, l2_bytes=262144, l3_bytes=1 << 28))
        small = self.explain(*self.describe(**SMALL))
        self.assertEqual(self.moved(large["levels"]["fused"], "memory"), 0)
        self.assertGreater(self.moved(small["levels"]["fused"], "memory"), 4 << 20)
        for data in (large, small):
            total = data["totals"]["fused"]
            self.assertEqual(self.moved(data["levels"]["fused"], "l1", "l2", "l3", "memory"),
                             total["bytes_read"] + total["bytes_written"] + total["weight_bytes"])
            self.assertEqual(data["target"], {"cpu": "x86-64-v3", "source": "target.json"})
        self.assertGreater(small["modelled_ms"]["fused"], large["modelled_ms"]["fused"])

    def test_levels_of_operators_and_groups(self):
        data = self.explain(*self.describe(**SMALL))
        groups = sum(self.moved(group["levels"], "l1", "l2", "l3", "memory") for group in data["groups"])
        apart = sum(self.moved(group["apart_levels"], "l1", "l2", "l3", "memory") for group in data["groups"])
        self.assertEqual(groups, apart)  # nothing is fused
        nodes = [node for node in data["graph"]["nodes"] if node["role"] == "operator"]
        self.assertEqual(sum(self.moved(node["levels"], "l1", "l2", "l3", "memory") for node in nodes), apart)
        self.assertTrue(all(group["modelled"]["us"] > 0 for group in data["groups"]))
        text = self.good("explain", "two_inputs.onnx", "--target-cpu", "x86-64-v3", *self.describe(**SMALL))
        self.assertIn("on x86-64-v3 (target.json)", text)

    def test_the_same_code_runs(self):
        plain = self.good("run", "dense.onnx", "--seed", "3").splitlines()[1]
        described = self.good("run", "dense.onnx", "--seed", "3", *self.describe(**SMALL)).splitlines()[1]
        self.assertEqual(plain, described)

    def test_faults(self):
        for description, part in (({"l1_bytes": 0}, "'l1_bytes' must be above 0"), ({"caches": 1}, "there is no 'caches'"),
                                  ({"cpu": "z80"}, "'z80' is unknown"), ({"l2_bytes": 1}, "must grow")):
            options = self.describe(**description)
            for command in ("run", "explain", "bench"):
                self.fails(2, command, "dense.onnx", *options, parts=[part])
        self.fails(2, "run", "dense.onnx", "--target-description", "none.json", parts=["none.json"])
        with open(self.path("target.json"), "w") as file:
            file.write("{")
        self.fails(2, "explain", "dense.onnx", "--target-description", "target.json", parts=["is not JSON"])

    def calibrate(self, environment, *arguments):
        done = self.run_command("calibrate", *arguments, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Beside other work the time of a dispatch is not believed, and a line says so.
        if done.stderr:
            self.assertRegex(done.stderr, r"^calibrate: the machine is busy: [^\n]*\n$")

    def test_calibrate(self):
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        self.calibrate(environment)
        with open(self.path("cache/tokamak/target.json")) as file:
            measured = json.load(file)
        self.assertLess(measured["dispatch_us"], 501)
        self.assertGreaterEqual(measured["l1_gbytes_per_s"], measured["memory_gbytes_per_s"])
        for key in ("clock_ghz", "peak_gflops", "dispatch_us", "dense_convolution_efficiency", "matmul_efficiency"):
            self.assertGreater(measured[key], 0, key)
        for key in measured:
            if key.endswith("_efficiency"):
                self.assertLessEqual(measured[key], 1, key)
        # A call takes some instructions, no dispatch: the default, a tenth of a microsecond, is not measured.
        self.assertLess(measured["call_us"], 0.05)
        self.assertLess(measured["clock_ghz"], 10)
        # Per cycle: from one 8-lane to four 16-lane multiply-adds, give or take what a busy machine takes.
        self.assertLess(measured["peak_gflops"] / measured["clock_ghz"], 140)
        explained = json.loads(self.good("explain", "dense.onnx", "--format", "json", environment=environment))
        self.assertEqual(explained["target"]["source"], self.path("cache/tokamak/target.json"))
        named = json.loads(self.good("explain", "dense.onnx", "--format", "json", "--target-cpu", "x86-64-v3",
                                     environment=environment))
        self.assertEqual(named["target"]["source"], "defaults")
        self.calibrate(environment, "-o", "here.json")
        self.good("explain", "dense.onnx", "--target-description", "here.json")
        self.fails(1, "calibrate", "-o", "no/such/file", environment=environment, parts=["no/such/file"])

    def test_profile_beside_prediction(self):
        arguments = ("bench", "two_inputs.onnx", "--shape", "a=64x64", "--runs", "5", "--profile", "--fusion", "none",
                     "--threads", "1")
        data = json.loads(self.good(*arguments, "--json"))
        self.assertEqual(len(data["profile"]), 2)
        self.assertNotIn("rank_correlation", data)  # of two kernels there is none to speak of
        for kernel in data["profile"]:
            self.assertGreater(kernel["predicted_ms"], 0)
            self.assertEqual(kernel["bytes"], 3 * 4 * 64 * 64)
            self.assertEqual(kernel["flops"], 64 * 64)
        self.assertNotIn("rank correlation", self.good(*arguments))
        arguments = ("bench", "dense.onnx", "--shape", "x=2x4", "--runs", "5", "--profile", "--fusion", "none")
        self.assertTrue(-1 <= json.loads(self.good(*arguments, "--json"))["rank_correlation"] <= 1)
        self.assertIn("over 3 kernels", self.good(*arguments))


if __name__ == "__main__":
    unittest.main()
