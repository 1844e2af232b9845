#!/usr/bin/python3
"""export_models.py DIR [NAME ...] - writes DIR/NAME.onnx for torchvision architectures and small sequence models.

Weights are random from a fixed seed. BatchNormalization statistics come from training-mode passes over random images, so
that activations stay in the range that a trained model has; the operator itself is kept in the graph (PRESERVE), because
folding it is the compiler's work. Batch and sequence extents are symbolic, and heights and widths of images where the
architecture takes any. Existing files are kept.
"""
import os
import sys
import warnings

import torch
import torchvision
from torch import nn

IMAGE_SIZE = {
    "resnet18": 224, "resnet50": 224, "mobilenet_v2": 224, "mobilenet_v3_large": 224, "densenet121": 224,
    "squeezenet1_1": 224, "googlenet": 224, "inception_v3": 299, "efficientnet_b0": 224, "vit_b_16": 224,
}
SEQUENCE = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


def settle(model, size):
    """Replaces the running statistics by the mean over three batches of noise; scales and shifts become uneven."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.7, 1.3)
        nn.init.uniform_(norm.bias, -0.2, 0.2)
        norm.momentum = None  # a plain mean over the passes
    if norms:
        model.train()
        with torch.no_grad():
            for _ in range(3):
                model(torch.randn(4, 3, size, size))
    for norm in norms:
        norm.momentum = 0.1
    return model.eval()


def vision(name):
    """A torchvision classifier without auxiliary heads."""
    heads = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    model = getattr(torchvision.models, name)(weights=None, **heads)
    if heads:
        model.aux_logits = False
    if name == "inception_v3":
        model.AuxLogits = None
    elif name == "googlenet":
        model.aux1 = model.aux2 = None
    elif name == "vit_b_16":
        nn.init.normal_(model.heads.head.weight, std=0.05)  # torchvision starts it at zero: all outputs equal
    size = IMAGE_SIZE[name]
    extents = {0: "N"} if name == "vit_b_16" else {0: "N", 2: "H", 3: "W"}
    return settle(model, size), (torch.randn(1, 3, size, size),), {"x": extents}, {"y": {0: "N"}}


class Tagger(nn.Module):
    """Two recurrent layers over [T, N, 40] and a log-softmax head."""

    def __init__(self, cell):
        super().__init__()
        self.layers = cell(40, 128, num_layers=2)
        self.head = nn.Linear(128, 32)

    def forward(self, x):
        return self.head(self.layers(x)[0]).log_softmax(-1)


class Bert(nn.Module):
    """A small encoder with token and position embeddings: pooled first token and all hidden states."""

    def __init__(self, words=8000, positions=512, width=256):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width)
        block = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=4 * width, activation="gelu", batch_first=True)
        self.blocks = nn.TransformerEncoder(block, num_layers=4, enable_nested_tensor=False)
        self.pooler = nn.Linear(width, width)

    def forward(self, ids, mask):
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        hidden = self.norm(self.words(ids) + self.positions(places))
        hidden = self.blocks(hidden, src_key_padding_mask=mask == 0)
        return self.pooler(hidden[:, 0]).tanh(), hidden


def build(name):
    """(model, example inputs, inputs, outputs); the last two map names to the symbolic extents by axis."""
    if name in IMAGE_SIZE:
        return vision(name)
    sequence, words = {0: "T", 1: "N"}, {0: "N", 1: "S"}
    if name in SEQUENCE:
        return Tagger(SEQUENCE[name]).eval(), (torch.randn(50, 1, 40),), {"x": sequence}, {"y": sequence}
    ids = torch.randint(0, 8000, (1, 64))
    return (Bert().eval(), (ids, torch.ones_like(ids)), {"ids": words, "mask": words},
            {"pooled": {0: "N"}, "hidden": words})


def main():
    known = [*IMAGE_SIZE, *SEQUENCE, "bert_small"]
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, names = sys.argv[1], sys.argv[2:] or known
    for name in names:
        if name not in known:
            sys.exit(f"export_models: unknown model '{name}' (known: {' '.join(known)})")
    warnings.filterwarnings("ignore")
    for name in names:
        path = os.path.join(folder, name + ".onnx")
        if os.path.exists(path):
            continue
        torch.manual_seed(0)
        model, example, inputs, outputs = build(name)
        # Not under no_grad: there this PyTorch takes a fused encoder path that has no ONNX form.
        torch.onnx.export(model, example, path + ".partial", opset_version=17, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE, input_names=list(inputs),
                          output_names=list(outputs), dynamic_axes=inputs | outputs)
        os.rename(path + ".partial", path)
        print(path, flush=True)


main()
