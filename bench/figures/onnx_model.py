"""onnx_model - writes ONNX files without any package: protobuf's wire format is a few lines.

    graph = Graph()
    x = graph.input("x", [1, 128, 28, 28])
    y = graph.node("Conv", x, graph.weight([256, 128, 1, 1]))
    graph.output(graph.node("Relu", y), [1, 256, 28, 28])
    graph.save("conv.onnx")
"""
import array
import random
import struct

FLOAT, INT64 = 1, 7


def varint(value):
    value &= (1 << 64) - 1  # negative numbers take ten bytes
    result = bytearray()
    while True:
        result.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(result)


def field(number, value):
    """An integer, a float, text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else bytes(value)
    return varint(number << 3 | 2) + varint(len(data)) + data


def declaration(name, dims, element):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def attribute(name, value):
    """AttributeProto of an integer, a float, text, or a list of integers."""
    kinds = {int: (3, 2), float: (2, 1), str: (4, 3)}
    if type(value) in kinds:
        place, kind = kinds[type(value)]
        return field(1, name) + field(place, value) + field(20, kind)
    return field(1, name) + b"".join(field(8, item) for item in value) + field(20, 7)


class Graph:
    """A graph of opset 17. Values are their names; weights are Gaussian, from a fixed seed."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.tensors = [], [], [], []
        self.random = random.Random(1)

    def input(self, name, dims):
        self.inputs.append(declaration(name, dims, FLOAT))
        return name

    def output(self, name, dims):
        self.outputs.append(declaration(name, dims, FLOAT))

    def tensor(self, dims, data, element=FLOAT):
        """An initializer of these values."""
        name = f"w{len(self.tensors)}"
        raw = array.array({FLOAT: "f", INT64: "q"}[element], data).tobytes()
        self.tensors.append(b"".join(field(1, dim) for dim in dims) + field(2, element) + field(8, name) + field(9, raw))
        return name

    def weight(self, dims, scale=None, mean=0.0):
        """Random values; by default of a size that keeps sums of products near one."""
        count, fan = 1, 1
        for place, dim in enumerate(dims):
            count *= dim
            fan *= dim if place > 0 or len(dims) == 1 else 1
        scale = fan ** -0.5 if scale is None else scale
        return self.tensor(dims, (self.random.gauss(mean, scale) for _ in range(count)))

    def positive(self, count):
        """Variances, or scales."""
        return self.tensor([count], (self.random.uniform(0.5, 1.5) for _ in range(count)))

    def scalar(self, value):
        return self.tensor([], [value])

    def integers(self, *values):
        return self.tensor([len(values)], values, INT64)

    def node(self, op, *inputs, outputs=1, **attributes):
        """The name of its result; a list of them where there are several."""
        name = f"{op.lower()}{len(self.nodes)}"
        results = [f"{name}.{i}" for i in range(outputs)] if outputs > 1 else [f"{name}.out"]
        self.nodes.append(b"".join(field(1, i) for i in inputs) + b"".join(field(2, r) for r in results) +
                          field(3, name) + field(4, op) +
                          b"".join(field(5, attribute(*item)) for item in attributes.items()))
        return results if outputs > 1 else results[0]

    def save(self, path):
        graph = (b"".join(field(1, n) for n in self.nodes) + field(2, "main") +
                 b"".join(field(5, t) for t in self.tensors) + b"".join(field(11, i) for i in self.inputs) +
                 b"".join(field(12, o) for o in self.outputs))
        with open(path, "wb") as file:
            file.write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))
        return path
