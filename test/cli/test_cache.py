"""Compiled programs that `run` and `bench` keep on disk."""
import json
import os
import unittest

from support import Command


class Cache(Command):
    def setUp(self):
        super().setUp()
        self.programs = self.path("cache/tokamak/programs")

    def cached(self, *arguments, **options):
        return json.loads(self.good(*arguments, "--json", **options))["cached"]

    def test_run_and_bench_share_programs(self):
        self.assertFalse(self.cached("run", "dense.onnx"))
        programs = [name for name in os.listdir(self.programs) if not name.endswith(".timestamp")]
        self.assertEqual(len(programs), 1)
        self.assertTrue(self.cached("run", "dense.onnx"))
        self.assertTrue(self.cached("bench", "dense.onnx", "--runs", "1"))
        self.assertIn("read from the cache in", self.good("run", "dense.onnx"))
        self.assertFalse(self.cached("run", "dense.onnx", "--shape", "x=2x4"))

    def test_the_same_numbers(self):
        outputs = [json.loads(self.good("run", "dense.onnx", "--json"))["outputs"] for _ in range(2)]
        self.assertEqual(outputs[0], outputs[1])

    def test_switched_off(self):
        for _ in range(2):
            self.assertIn("compiled in", self.good("run", "dense.onnx", "--no-cache"))
        self.assertFalse(os.path.exists(self.programs))

    def test_not_used_where_passes_print(self):
        self.good("run", "dense.onnx")
        for option in ("--timing", "--print-after-change"):
            done = self.run_command("run", "dense.onnx", option)
            self.assertIn("compiled in", done.stdout)
            self.assertNotEqual(done.stderr, "")
        self.assertFalse(self.cached("bench", "dense.onnx", "--runs", "1", "--profile"))

    def test_a_folder_that_cannot_be_written(self):
        for home in ("/proc", self.path("dense.onnx"), ""):
            environment = {**os.environ, "XDG_CACHE_HOME": home, "HOME": home}
            self.assertFalse(self.cached("run", "dense.onnx", environment=environment))


if __name__ == "__main__":
    unittest.main()
