"""tokamak explain: every node is accounted for."""
import json
import unittest

from support import Command


class Explain(Command):
    def explain(self, model, *options):
        return json.loads(self.good("explain", model, "--format", "json", *options))

    def test_fused(self):
        data = self.explain("dense.onnx", "--shape", "x=2x4")
        self.assertEqual(len(data["groups"]), 1)
        group = data["groups"][0]
        self.assertEqual(group["nodes"], ["dense", "bias", "activation"])
        self.assertEqual((group["inputs"], group["outputs"]), (["x"], ["y"]))
        self.assertEqual((group["bytes_read"], group["bytes_written"], group["weight_bytes"]), (32, 24, 60))
        self.assertEqual(group["flops"], 2 * 2 * 4 * 3 + 2 * 2 * 3)
        self.assertEqual(data["removed"], {})
        unfused, fused = data["totals"]["unfused"], data["totals"]["fused"]
        self.assertEqual((unfused["kernels"], fused["kernels"]), (3, 1))
        self.assertEqual((unfused["bytes_read"], fused["bytes_read"]), (32 + 24 + 24, 32))
        self.assertEqual((unfused["bytes_written"], fused["bytes_written"]), (3 * 24, 24))
        self.assertEqual(unfused["flops"], fused["flops"])
        self.assertTrue(all(decision["fused"] for decision in data["decisions"]))
        self.assertEqual({(d["producer"], d["consumer"]) for d in data["decisions"]},
                         {("dense", "bias"), ("bias", "activation")})

    def test_unfused(self):
        data = self.explain("dense.onnx", "--fusion", "none")
        self.assertEqual([group["nodes"] for group in data["groups"]], [["dense"], ["bias"], ["activation"]])
        self.assertEqual([group["outputs"] for group in data["groups"]], [["product"], ["sum"], ["y"]])
        self.assertEqual([group["inputs"] for group in data["groups"]], [["x"], ["product"], ["sum"]])
        self.assertFalse(any(decision["fused"] for decision in data["decisions"]))

    def test_removed(self):
        for fusion in ("none", "full"):
            data = self.explain("clean_up.onnx", "--fusion", fusion)
            removed = data["removed"]
            self.assertEqual(removed["dead"], "dead")
            self.assertEqual(removed["folded"], "folded")
            self.assertEqual(removed["identity"], "identity")
            self.assertEqual(removed["second"], "merged into first")
            grouped = {node for group in data["groups"] for node in group["nodes"]}
            if fusion == "none":
                self.assertEqual(grouped, {"first", "scale", "sum"})
            else:  # 2 first + first
                self.assertEqual(grouped, {"first", "sum"})
                self.assertEqual(removed["scale"], "merged into sum")

    def test_nodes_without_names(self):
        data = self.explain("two_inputs.onnx")
        self.assertEqual(sorted(node for group in data["groups"] for node in group["nodes"]), ["Add_0", "Mul_1"])

    def test_nodes_of_one_name(self):
        for fusion in ("none", "full"):
            data = self.explain("same_names.onnx", "--fusion", fusion)
            self.assertEqual([node for group in data["groups"] for node in group["nodes"]],
                             ["same", "same#2", "Tanh_2#2", "Tanh_2"])
            edges = [(d["producer"], d["consumer"]) for d in data["decisions"]]
            self.assertIn(("same", "same#2"), edges)
            self.assertIn(("Tanh_2#2", "Tanh_2"), edges)

    def test_rules(self):
        data = self.explain("multiply_add_twice.onnx", "--rules", "arithmetic")
        self.assertEqual(data["removed"], {node: "merged into fourth" for node in ("first", "second", "third")})

    def test_rules_see_what_a_node_consists_of(self):
        self.assertEqual(self.explain("hard_swish.onnx")["removed"], {})
        removed = self.explain("hard_swish.onnx", "--rules", "arithmetic")["removed"]
        self.assertEqual(set(removed), {"shift", "clip", "multiply"})

    def test_bound_and_shaped(self):
        data = self.explain("reshape_by_input.onnx", "--bind", "shape=3,2", "--fusion", "none")
        self.assertEqual(data["removed"], {"reshape": "identity"})

    def test_text(self):
        text = self.good("explain", "dense.onnx")
        self.assertIn("dense, bias, activation", text)
        self.assertIn("unfused", text)
        self.good("explain", "dense.onnx", "-o", "explained.txt")
        with open(self.path("explained.txt")) as file:
            self.assertEqual(file.read(), text)
        self.fails(1, "explain", "dense.onnx", "-o", "no/such/file", parts=["no/such/file"])
        self.fails(1, "explain", "nosuch.onnx", parts=["nosuch.onnx"])


if __name__ == "__main__":
    unittest.main()
