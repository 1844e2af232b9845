"""ONNX files for the tests of explain, written without any package."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "figures"))
from onnx_model import field

FLOAT, BOOL = 1, 9


def tensor_value(name, dims, element=FLOAT):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def node(op, inputs, outputs, name, graphs=None):
    """graphs: attribute name -> subgraph."""
    result = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    result += field(3, name) + field(4, op)
    for attribute, graph in (graphs or {}).items():
        result += field(5, field(1, attribute) + field(6, graph) + field(20, 5))
    return result


def graph_of(nodes, inputs, outputs):
    """nodes: arguments of `node`; inputs, outputs: arguments of `tensor_value`."""
    return (b"".join(field(1, node(*n)) for n in nodes) + field(2, "graph") +
            b"".join(field(11, tensor_value(*i)) for i in inputs) +
            b"".join(field(12, tensor_value(*o)) for o in outputs))


def model_of(graph):
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def model(nodes, inputs, outputs, dims=(8,)):
    """inputs, outputs: names; all have shape `dims`."""
    return model_of(graph_of(nodes, [(name, dims) for name in inputs], [(name, dims) for name in outputs]))


# Everything that HTML, XML, JSON or Graphviz read as something else.
ODD_NAMES = ["</script><script>document.title='broken'</script>", "a<b>&c", "\"double\" 'single'", "&lt;&amp;",
             "gr\u00f6\u00dfe \u6f22\u5b57 \U0001F642", "back\\slash\\N\\", "two\nlines", "control\x01\x1f", "{|}<port>",
             "<!--", "]]>", "\u2028\u2029", "x" * 300]


def odd_names():
    """A chain, so that every name is that of a node, a value and an end of a decision."""
    nodes = [("Tanh" if i % 2 else "Exp", [ODD_NAMES[i - 1] + "'" if i else "x"], [name + "'"], name)
             for i, name in enumerate(ODD_NAMES)]
    return model(nodes, ["x"], [ODD_NAMES[-1] + "'"])


def branches():
    """A value that is read twice, whose paths meet again, in front of a matrix product."""
    nodes = [("Exp", ["x"], ["a"], "exp"), ("Tanh", ["a"], ["b"], "left"), ("Sigmoid", ["a"], ["c"], "right"),
             ("Add", ["b", "c"], ["d"], "meet"), ("MatMul", ["d", "w"], ["e"], "product"), ("Relu", ["e"], ["y"], "end")]
    return model(nodes, ["x", "w"], ["y"], (8, 8))


def control_flow():
    """Both branches of an If read a value from outside."""
    taken = graph_of([("Add", ["a", "x"], ["t"], "sum"), ("Exp", ["t"], ["u"], "raised")], [], [("u", (8,))])
    other = graph_of([("Mul", ["a", "a"], ["v"], "square")], [], [("v", (8,))])
    nodes = [("Tanh", ["x"], ["a"], "outside"),
             ("If", ["c"], ["b"], "choice", {"then_branch": taken, "else_branch": other}),
             ("Relu", ["b"], ["y"], "behind")]
    return model_of(graph_of(nodes, [("x", (8,)), ("c", (), BOOL)], [("y", (8,))]))


def empty():
    return model([], ["x"], ["x"])


def weights(name, dims, seed=0):
    count = 1
    for dim in dims:
        count *= dim
    values = struct.pack(f"<{count}f", *(((i * 37 + seed) % 101 - 50) / 100 for i in range(count)))
    return field(5, b"".join(field(1, dim) for dim in dims) + field(2, FLOAT) + field(8, name) + field(9, values))


def sum_of_convolutions():
    """Two convolutions of one input, and the ReLU of their sum."""
    nodes = [("Conv", ["x", "v"], ["a"], "one"), ("Conv", ["x", "w"], ["b"], "second"),
             ("Add", ["a", "b"], ["c"], "sum"), ("Relu", ["c"], ["y"], "end")]
    return model_of(graph_of(nodes, [("x", (1, 8, 10, 10))], [("y", (1, 8, 8, 8))]) +
                    weights("v", (8, 8, 3, 3)) + weights("w", (8, 8, 3, 3)))


def convolutions_apart():
    """Convolutions behind one another whose kernels stay apart, each pair for another reason."""
    nodes = [("Conv", ["x", "v1"], ["a"], "first"), ("Conv", ["a", "v2"], ["b"], "second"),
             ("Conv", ["b", "w"], ["c"], "third"), ("Conv", ["c", "v3"], ["d"], "fourth"),
             ("Conv", ["d", "v4"], ["e"], "left"), ("Conv", ["d", "v5"], ["f"], "right")]
    side = [64, 62, 60, 58, 56, 54]
    shape = [(1, 8, n, n) for n in side]
    outputs = [("c", shape[3]), ("e", shape[5]), ("f", shape[5])]
    return model_of(graph_of(nodes, [("x", shape[0]), ("w", (8, 8, 3, 3))], outputs) +
                    b"".join(weights(f"v{i}", (8, 8, 3, 3), seed=i) for i in range(1, 6)))


def filtered(side):
    """A convolution of 64 channels, 3x3 taps and `side` rows and columns of results, behind one of 2x2 taps."""
    nodes = [("Conv", ["x", "v"], ["a"], "first"), ("Conv", ["a", "w"], ["y"], "second")]
    return model_of(graph_of(nodes, [("x", (1, 64, side + 3, side + 3))], [("y", (1, 64, side, side))]) +
                    weights("v", (64, 64, 2, 2)) + weights("w", (64, 64, 3, 3)))


def chain(count):
    """Matrix products and additions behind one another."""
    nodes, last = [], "x"
    for i in range(count // 2):
        nodes += [("MatMul", [last, "w"], [f"p{i}"], f"product{i}"), ("Add", [f"p{i}", last], [f"s{i}"], f"sum{i}")]
        last = f"s{i}"
    return model_of(graph_of(nodes, [("x", (4, 4))], [(last, (4, 4))]) + weights("w", (4, 4)))


def large(count=4000):
    """`count` nodes: diamonds behind one another, with a value kept from far above every so often."""
    nodes, last, kept = [], "x", "x"
    for i in range(count // 4):
        a, b, c, d = (f"{letter}{i}" for letter in "abcd")
        nodes += [("Exp", [last], [a], f"/block{i}/exp"), ("Tanh", [a], [b], f"/block{i}/tanh"),
                  ("MatMul", [a, kept], [c], f"/block{i}/product"), ("Add", [b, c], [d], f"/block{i}/add")]
        last = d
        if i % 50 == 0:
            kept = d
    return model(nodes, ["x"], [last], (4, 4))
