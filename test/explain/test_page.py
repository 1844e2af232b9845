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

# Appended to the page: events as a pointer makes them, and what came of each as [NAME=TEXT] in the document.
PRESSES = """
const record = (name, text) => document.body.append(`[${name}=${String(text).replace(/[\\[\\]]/g, "")}]`);
const panel = () => element("panel").textContent;
function press(types, x, y, more) {
  const frame = canvas.getBoundingClientRect();
  const place = { clientX: frame.left + (x - view.left) * view.scale, clientY: frame.top + (y - view.top) * view.scale };
  for (const type of types)
    canvas.dispatchEvent(new (type === "wheel" ? WheelEvent : PointerEvent)(type, { ...place, pointerId: 1, ...more }));
}
const click = ["pointerdown", "pointerup"], middle = (box) => [box.x + box.w / 2, box.y + box.h / 2];
const named = (name) => nodes.findIndex((node) => node.name === name);
press(click, ...middle(picture.nodes[named("left")]));
record("node", panel());
const between = edges.findIndex((edge) => edge.producer === named("meet") && edge.consumer === named("product"));
const points = picture.edges[between];
press(click, (points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2);
record("edge", panel());
const box = picture.groups[nodes[named("left")].group];
press(click, box.x + box.w - 3, box.y + 3);
record("group", panel());
const sizes = [];
for (const i of [0, 1]) {
  const group = picture.groups[nodes[named("left")].group];
  press(["dblclick"], group.x + group.w - 3, group.y + 3);
  sizes.push(view.collapsed.size);
}
record("collapsed", sizes);
const scale = view.scale;
press(["wheel"], ...middle(box), { deltaY: -200 });
record("zoomed", view.scale > scale);
const top0 = view.top, [x0, y0] = middle(box);
press(["pointerdown"], x0, y0);
press(["pointermove"], x0, y0 + 50);
press(["pointerup"], x0, y0);
record("dragged", view.top < top0);
element("search").value = "PRODUCT";
element("search").dispatchEvent(new Event("input"));
element("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
record("found", element("found").textContent);
element("show-tree").click();
record("tree", picture.links.length > 0 && picture.nodes[named("exp")].y > picture.nodes[named("meet")].y);
element("tab-groups").click();
record("groups", panel());
"""


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Browser(Explain):
    def open(self, model, address="", script=""):
        """The document behind its script and `script`, and its text."""
        with open(self.path("page.html"), "w") as file:
            page = self.explain(model, "html")
            file.write(page.replace("</body>", f"<script>{script}</script></body>") if script else page)
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

    def test_presses(self):
        """Node, edge and group by a click in the drawing; collapse by a double click; wheel, drag, search, tree."""
        _, text = self.open(models.branches(), script=PRESSES)
        record = dict(line.split("=", 1) for line in re.findall(r"\[(.*?)\]", text, re.DOTALL))
        self.assertIn("left", record["node"])
        self.assertIn("post-dominator", record["node"])
        self.assertIn("Value d", record["edge"])
        self.assertIn("Decision", record["edge"])
        self.assertIn("Bytes and flops", record["group"])
        self.assertEqual(record["collapsed"], "1,0")
        self.assertEqual(record["zoomed"], "true")
        self.assertEqual(record["dragged"], "true")
        self.assertEqual(record["found"], "1 of 1")
        self.assertEqual(record["tree"], "true")
        self.assertIn("saved", record["groups"])

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
        _, text = self.open(models.large(), "#select=group-900")
        self.assertIn("4000 nodes", text)
        self.assertIn("Values at its border", text)


if __name__ == "__main__":
    unittest.main()
