"""The page of `explain --format html` in a browser without a window: its script runs, and shows what was asked for."""
import html
import json
import os
import re
import subprocess
import unittest

import models
from support import Explain

CHROMIUM = os.environ.get("CHROMIUM", "")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
         "--window-size=1400,900", "--virtual-time-budget=20000"]


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Browser(Explain):
    def open(self, model, address=""):
        """The document behind its script, and its text."""
        with open(self.path("page.html"), "w") as file:
            file.write(self.explain(model, "html"))
        done = subprocess.run([CHROMIUM, *FLAGS, f"--user-data-dir={self.path('profile')}", "--dump-dom",
                               f"file://{self.path('page.html')}{address}"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=200)
        document = done.stdout.decode()
        # Set last, so that an exception anywhere in the script leaves it out.
        self.assertIn('data-ready="true"', document[:2000], done.stderr.decode()[-2000:])
        body = re.sub(r"<(script|style).*?</\1>", "", document, flags=re.DOTALL)
        return document, html.unescape(re.sub(r"<[^>]*>", " ", body))

    def edge(self, producer, consumer):
        graph = json.loads(self.explain(models.branches(), "json"))["graph"]
        for number, edge in enumerate(graph["edges"]):
            if (graph["nodes"][edge["producer"]]["name"], graph["nodes"][edge["consumer"]]["name"]) == (producer, consumer):
                return number
        self.fail("no such edge")

    def test_overview(self):
        document, text = self.open(models.branches())
        self.assertIn("model.onnx - tokamak explain", document)
        for words in ("Totals of one run", "unfused", "fused", "weights read", "Decisions by reason"):
            self.assertIn(words, text)

    def test_edge(self):
        number = self.edge("meet", "product")
        _, text = self.open(models.branches(), f"#select=edge-{number}")
        for words in ("Value d", "256 B", "Decision", "reason", "at stake"):
            self.assertIn(words, text)

    def test_group_and_node(self):
        _, text = self.open(models.branches(), "#select=group-0")
        self.assertIn("Values at its border", text)
        self.assertIn("apart", text)
        _, text = self.open(models.branches(), "#view=tree&select=node-2")
        self.assertIn("post-dominator", text)
        self.assertIn("meet", text)

    def test_odd_names(self):
        """The details of the one group list all names, as text."""
        document, text = self.open(models.odd_names(), "#select=group-0")
        self.assertIn("<title>model.onnx - tokamak explain</title>", document)
        for name in models.ODD_NAMES:
            self.assertIn(" ".join(name.split()), " ".join(text.split()))

    def test_address_of_nothing(self):
        for address in ("#select=node-999", "#select=edge--1", "#select=nonsense", "#view=no&select=__proto__-0"):
            self.open(models.branches(), address)

    def test_empty(self):
        _, text = self.open(models.empty())
        self.assertIn("0 nodes as 0 kernels", text)

    def test_large(self):
        _, text = self.open(models.large(), "#select=group-1000")
        self.assertIn("4000 nodes", text)
        self.assertIn("Values at its border", text)


if __name__ == "__main__":
    unittest.main()
