"""tokamak explain --format html, dot, svg: well-formed whatever the names are, and nothing left out."""
import graphlib
import html.parser
import json
import os
import re
import shutil
import unittest
import xml.etree.ElementTree

import models
from support import Explain

VOID = {"meta", "input", "br", "link", "img"}


class Page(html.parser.HTMLParser):
    """Checks that elements nest; keeps what the script elements hold."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.scripts, self.references = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes), ""))
        self.references += [value for name, value in attributes if name in ("src", "href", "action", "data")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = attributes, text + data


class Formats(Explain):
    def page(self, model, *options):
        text = self.explain(model, "html", *options)
        page = Page(text)
        self.assertEqual(page.faults, [])
        self.assertEqual(page.references, [])
        self.assertNotRegex(text, r"https?://|@import|url\(")
        data = [body for attributes, body in page.scripts if attributes.get("id") == "data"]
        self.assertEqual((len(data), len(page.scripts)), (1, 4))
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        return json.loads(data[0])

    def dot(self, model):
        """Node lines and edge lines; what is quoted is taken out, which must leave plain syntax."""
        text = self.explain(model, "dot")
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "S", text, flags=re.DOTALL)
        self.assertNotIn('"', bare)
        self.assertEqual(bare.count("{"), bare.count("}"))
        for line in bare.splitlines():
            self.assertRegex(line, r"^ *(digraph tokamak \{|\}|subgraph cluster_\d+ \{|[a-z0-9]+=[\w.]+;|"
                                   r"(node|edge|n\d+|n\d+ -> n\d+) \[([a-z]+=[\w.]+(, )?)+\];)$")
        self.assertNotRegex(text.replace("\n", ""), "[\x00-\x1f\x7f]")
        return re.findall(r"^ *(n\d+) \[", bare, re.M), re.findall(r"^ *(n\d+) -> (n\d+) \[", bare, re.M)

    def test_minimal_filtering(self):
        model = models.filtered(56)
        for options, tiles in ((), 4), (("--exact",), 0):
            groups = json.loads(self.explain(model, "json", "--disable-pass", "merge-anchors", *options))["groups"]
            self.assertEqual([group["winograd"] for group in groups], [0, tiles])
            text = self.explain(model, "text", "--disable-pass", "merge-anchors", *options)
            said = "by minimal filtering, tiles of 4x4 results" in text
            self.assertEqual(said, tiles > 0)

    def test_data_is_that_of_json(self):
        for model in (models.branches(), models.odd_names()):
            self.assertEqual(self.page(model), json.loads(self.explain(model, "json")))

    def test_graph(self):
        data = json.loads(self.explain(models.branches(), "json"))
        nodes, edges = data["graph"]["nodes"], data["graph"]["edges"]
        self.assertEqual([n["name"] for n in nodes if n["role"] == "input"], ["x", "w"])
        self.assertEqual([n["name"] for n in nodes if n["role"] == "output"], ["y"])
        operators = [n["name"] for n in nodes if n["role"] == "operator"]
        self.assertEqual(sorted(operators), ["end", "exp", "left", "meet", "product", "right"])
        ends = {(nodes[e["producer"]]["name"], nodes[e["consumer"]]["name"]): e for e in edges}
        self.assertEqual(set(ends), {("x", "exp"), ("exp", "left"), ("exp", "right"), ("left", "meet"), ("right", "meet"),
                                     ("meet", "product"), ("w", "product"), ("product", "end"), ("end", "y")})
        self.assertEqual(ends["exp", "left"]["value"], "a")
        self.assertEqual(ends["exp", "left"]["bytes"], 8 * 8 * 4)
        for (producer, consumer), edge in ends.items():
            if edge["decision"] is not None:
                decision = data["decisions"][edge["decision"]]
                self.assertEqual((decision["producer"], decision["consumer"]), (producer, consumer))
        at = {n["name"]: n for n in nodes}
        self.assertEqual(nodes[at["exp"]["post_dominator"]]["name"], "meet")
        self.assertEqual(nodes[at["left"]["post_dominator"]]["name"], "meet")
        self.assertIsNone(at["end"]["post_dominator"])
        self.assertEqual(at["product"]["flops"], 2 * 8 * 8 * 8)

    def test_groups_apart(self):
        """Apart, the groups are what runs without fusion."""
        data = json.loads(self.explain(models.branches(), "json"))
        for key in ("kernels", "bytes_read", "bytes_written", "weight_bytes"):
            self.assertEqual(sum(g["apart"][key] for g in data["groups"]), data["totals"]["unfused"][key], key)
        members = sorted(n["group"] for n in data["graph"]["nodes"] if n["group"] is not None)
        self.assertEqual(sorted(set(members)), [g["id"] for g in data["groups"]])

    def test_no_cycle(self):
        for model in (models.branches(), models.large(400)):
            graph = json.loads(self.explain(model, "json"))["graph"]
            before = {i: set() for i in range(len(graph["nodes"]))}
            for edge in graph["edges"]:
                before[edge["consumer"]].add(edge["producer"])
            order = list(graphlib.TopologicalSorter(before).static_order())  # raises where there is one
            self.assertEqual(len(order), len(graph["nodes"]))

    def test_control_flow(self):
        graph = json.loads(self.explain(models.control_flow(), "json"))["graph"]
        at = {n["name"]: n for n in graph["nodes"]}
        names = [n["name"] for n in graph["nodes"]]
        self.assertEqual({name: names[n["inside"]] for name, n in at.items() if n["inside"] is not None},
                         {"sum": "choice", "raised": "choice", "square": "choice"})
        self.assertIsNone(at["choice"]["group"])
        ends = {(names[e["producer"]], names[e["consumer"]]) for e in graph["edges"]}
        self.assertLessEqual({("outside", "sum"), ("x", "sum"), ("sum", "raised"), ("raised", "choice"),
                              ("outside", "square"), ("square", "choice"), ("c", "choice"), ("choice", "behind")}, ends)
        self.page(models.control_flow())
        self.dot(models.control_flow())

    def test_waves(self):
        """Two kernels that do not depend on each other run at once."""
        nodes = [("Softmax", ["x"], ["a"], "left"), ("Softmax", ["w"], ["b"], "right")]
        model = models.model(nodes, ["x", "w"], ["a", "b"], (96, 96))
        with open(self.path("two.json"), "w") as file:
            file.write('{"cores": 2, "dispatch_us": 1}')
        options = ("--target-cpu", "x86-64-v3", "--target-description", "two.json")
        data = json.loads(self.explain(model, "json", *options))
        waves = {group["nodes"][0]: group["wave"] for group in data["groups"]}
        self.assertEqual(waves, {"left": 0, "right": 0})
        self.assertEqual(data["waves"], 1)
        text = self.explain(model, "text", *options)
        self.assertIn("2 kernels in 1 dispatch ", text)
        self.assertEqual(text.count("in one wave with"), 2)
        self.assertIn("wave 0;", self.explain(model, "dot", *options))
        one = json.loads(self.explain(model, "json", *options, "--disable-pass", "schedule-waves"))
        self.assertEqual([group["wave"] for group in one["groups"]], [0, 1])
        self.assertGreater(one["modelled_ms"]["fused"], data["modelled_ms"]["fused"])

    def test_dot(self):
        nodes, edges = self.dot(models.branches())
        self.assertEqual((len(nodes), len(edges)), (9, 9))
        self.assertEqual(set(nodes), {f"n{i}" for i in range(9)})

    def test_odd_names(self):
        names = {n["name"] for n in self.page(models.odd_names())["graph"]["nodes"]}
        self.assertLessEqual(set(models.ODD_NAMES), names)
        nodes, _ = self.dot(models.odd_names())
        self.assertEqual(len(nodes), len(models.ODD_NAMES) + 2)

    def apart(self, model, *options):
        data = json.loads(self.explain(model, "json", *options))
        return {(d["producer"], d["consumer"]): d for d in data["decisions"] if not d["fused"]}

    def test_what_stays_apart_says_why(self):
        model = models.convolutions_apart()
        target = ("--target-cpu", "x86-64-v3")
        decisions = self.apart(model, *target)
        first = decisions["first", "second"]
        self.assertEqual(first["reason"], "no-gain")
        numbers = r"([0-9.]+) us instead of ([0-9.]+)(?: on all threads| on one thread| but for dispatches)?"
        together, apart = re.fullmatch(numbers, first["detail"]).groups()
        self.assertGreaterEqual(float(together), float(apart))
        computed = decisions["second", "third"]
        self.assertEqual((computed["reason"], computed["detail"]),
                         ("cannot-emit", "the weights of third are not constant"))
        self.assertEqual(decisions["third", "fourth"]["reason"], "graph-output")
        both = [decisions["fourth", end] for end in ("left", "right")]
        self.assertEqual([(d["reason"], d["detail"]) for d in both],
                         [("read-elsewhere", "by right"), ("read-elsewhere", "by left")])
        # The baseline's words where the baseline decides, and the same in each format.
        self.assertEqual({d["reason"] for d in self.apart(model, "--fusion", "dominator").values()},
                         {"second-anchor", "graph-output", "no-post-dominator"})
        text = self.explain(model, "text", *target)
        self.assertIn(f"first -> second: no-gain, {first['detail']}", text)
        self.assertIn("second -> third: cannot-emit, the weights of third are not constant", text)
        page = {(d["producer"], d["consumer"]): d for d in self.page(model, *target)["decisions"]}
        self.assertEqual(page["first", "second"], first)

    def test_forced_rewrites(self):
        model = models.sum_of_convolutions()
        data = json.loads(self.explain(model, "json", "--force-rewrite", "merge-sums"))
        forced = [s for s in data["searches"] if s["forced"]]
        self.assertEqual([s["steps"] for s in forced], [["merge-sums at sum"]])
        self.assertEqual({node: data["removed"][node] for node in ("second", "sum")},
                         {"second": "merged into one", "sum": "merged into one"})
        self.assertIn("forced: merge-sums at sum\n", self.explain(model, "text", "--force-rewrite", "merge-sums"))

    def test_searches_without_gain(self):
        data = json.loads(self.explain(models.sum_of_convolutions(), "json"))
        for search in data["searches"]:
            self.assertFalse(search["forced"])
            self.assertGreaterEqual(search["explored"], 1)
            self.assertEqual(search["steps"], [])
        text = self.explain(models.sum_of_convolutions(), "text")
        self.assertEqual(text.count("  around "), len(data["searches"]))
        self.assertGreater(len(data["searches"]), 0)

    def test_empty(self):
        data = self.page(models.empty())
        self.assertEqual(data["groups"], [])
        self.assertEqual([n["role"] for n in data["graph"]["nodes"]], ["input", "output"])
        self.assertEqual(self.dot(models.empty()), (["n0", "n1"], [("n0", "n1")]))

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_svg(self):
        odd = len(models.ODD_NAMES) + 2
        for model, count in ((models.branches(), 9), (models.odd_names(), odd), (models.empty(), 2)):
            root = xml.etree.ElementTree.fromstring(self.explain(model, "svg"))
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(root.tag, space + "svg")
            self.assertEqual(len(root.findall(f".//{space}g[@class='node']")), count)
        root = xml.etree.ElementTree.fromstring(self.explain(models.odd_names(), "svg"))
        text = "\n".join(t for t in root.itertext())
        for name in models.ODD_NAMES[1:6]:
            self.assertIn(name, text)

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_svg_of_a_large_graph_has_kernels_as_nodes(self):
        root = xml.etree.ElementTree.fromstring(self.explain(models.chain(2000), "svg"))
        nodes = root.findall(".//{http://www.w3.org/2000/svg}g[@class='node']")
        self.assertEqual(len(nodes), 1000 + 2)  # the input and the output stand for themselves

    def test_svg_of_what_takes_too_long_is_refused_at_once(self):
        # No Graphviz is started: this one would never end.
        with open(self.path("dot"), "w") as file:
            file.write("#!/bin/sh\nexec /bin/sleep 1000\n")
        os.chmod(self.path("dot"), 0o755)
        done = self.run_explain(models.large(), "svg", env={**os.environ, "PATH": self.folder.name})
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("use --format html", done.stderr.decode())
        self.assertEqual(done.stderr.decode().count("\n"), 1)

    def test_svg_without_graphviz(self):
        done = self.run_explain(models.branches(), "svg", env={**os.environ, "PATH": "/nonexistent"})
        self.assertEqual(done.returncode, 1)
        message = done.stderr.decode()
        self.assertEqual(message.count("\n"), 1, message)
        self.assertIn("apt-get install graphviz", message)

    def test_svg_where_graphviz_fails(self):
        with open(self.path("dot"), "w") as file:
            file.write("#!/bin/sh\necho 'no layout' >&2\nexit 3\n")
        os.chmod(self.path("dot"), 0o755)
        done = self.run_explain(models.branches(), "svg", env={**os.environ, "PATH": self.folder.name})
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn("no layout", done.stderr.decode())

    def test_large(self):
        data = self.page(models.large())
        self.assertGreaterEqual(len(data["graph"]["nodes"]), 4000)
        nodes, edges = self.dot(models.large())
        self.assertEqual((len(nodes), len(edges)), (len(data["graph"]["nodes"]), len(data["graph"]["edges"])))


if __name__ == "__main__":
    unittest.main()
