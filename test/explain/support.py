"""Running `tokamak explain` on the models of models.py."""
import os
import subprocess
import tempfile
import unittest

TOKAMAK = os.environ["TOKAMAK"]


class Explain(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_explain(self, model, form, *options, **keywords):
        with open(self.path("model.onnx"), "wb") as file:
            file.write(model)
        return subprocess.run([TOKAMAK, "explain", "model.onnx", "--format", form, *options], cwd=self.folder.name,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=200, **keywords)

    def explain(self, model, form, *options):
        done = self.run_explain(model, form, *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()
