"""What the tests of the command share: running it, and NumPy files without NumPy."""
import os
import struct
import subprocess
import tempfile
import unittest

TOKAMAK = os.environ["TOKAMAK"]
TOKAMAK_OPT = os.environ["TOKAMAK_OPT"]
WRITE_TEST_MODELS = os.environ["WRITE_TEST_MODELS"]
CC = os.environ.get("CC", "cc")

FORMATS = {"<f4": "f", "<f8": "d", "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q", "|u1": "B", "<u2": "H",
           "<u4": "I", "<u8": "Q", "|b1": "?", "<f2": "e", "<V2": "H"}


def write_npy(path, descr, shape, values):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        descr, "".join("%d," % extent for extent in shape))
    text += " " * ((64 - (11 + len(text)) % 64) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(struct.pack("<%d%s" % (len(values), FORMATS[descr]), *values))


def read_npy(path):
    """(descr, shape, values)"""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + length].decode())  # a literal that the command wrote
    code = FORMATS[header["descr"]]
    body = data[10 + length:]
    values = struct.unpack("<%d%s" % (len(body) // struct.calcsize(code), code), body)
    return header["descr"], header["shape"], list(values)


class Command(unittest.TestCase):
    """Each test has a folder of its own with the test models in it, and works there."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        subprocess.run([WRITE_TEST_MODELS, self.folder.name], check=True)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_command(self, *arguments, environment=None):
        """`environment`: instead of this one's, with a cache of the test's own."""
        if environment is None:
            environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        return subprocess.run([TOKAMAK, *arguments], cwd=self.folder.name, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, env=environment)

    def good(self, *arguments, **options):
        """Its standard output; standard error must be empty."""
        done = self.run_command(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def fails(self, status, *parts_and_arguments, parts=(), **options):
        """Exits with `status` and one line on standard error that holds all `parts`."""
        done = self.run_command(*parts_and_arguments, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tokamak: error: "), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        return done.stderr
