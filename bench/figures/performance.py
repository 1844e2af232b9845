"""performance - draws what bench-models measured: times as fast as the peer, a bar a model and thread count.

usage: performance.py MEASURED.json CHART.svg
"""
import json
import math
import statistics
import sys

from svg import COLOURS, GRID, INK, Drawing

BAR, GAP, LEFT, TOP = 9, 8, 250, 70


def chart(rows):
    """`rows`: threads, model, shape, fast (ratios by round), as bench-models writes them. Logarithmic axis."""
    threads = sorted({row["threads"] for row in rows})
    names = list(dict.fromkeys((row["model"], row["shape"]) for row in rows))
    step = BAR * len(threads) + GAP
    drawing = Drawing(860, TOP + step * len(names) + 40)
    right, bottom = drawing.width - 50, drawing.height - 30
    low = min(0.8, *(min(row["fast"]) for row in rows))
    high = max(2, *(max(row["fast"]) for row in rows)) * 1.05
    x = lambda value: LEFT + (right - LEFT) * math.log(value / low) / math.log(high / low)
    drawing.text(20, 24, "Times as fast as ONNX Runtime, batch 1", anchor="start", size=15, weight="bold")
    drawing.legend(20, 48, [(f"{n} thread{'s' if n > 1 else ''}", COLOURS[i + 1]) for i, n in enumerate(threads)])
    for tick in (1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32):
        if low <= tick <= high:
            drawing.line([(x(tick), TOP - 8), (x(tick), bottom)], INK if tick == 1 else GRID)
            drawing.text(x(tick), bottom + 16, f"{tick:g}", size=11)
    for place, (model, shape) in enumerate(names):
        y = TOP + place * step
        drawing.text(LEFT - 8, y + step / 2, f"{model.replace('_barracuda', '')} {shape}"[:40], anchor="end", size=10)
        for row in rows:
            if (row["model"], row["shape"]) != (model, shape):
                continue
            number = threads.index(row["threads"])
            fast, top = statistics.median(row["fast"]), y + number * BAR
            drawing.rect(min(x(1), x(fast)), top, abs(x(fast) - x(1)), BAR - 1, COLOURS[number + 1])
            drawing.line([(x(min(row["fast"])), top + BAR / 2), (x(max(row["fast"])), top + BAR / 2)], INK)
            drawing.text(max(x(max(row["fast"])), x(1)) + 5, top + BAR - 1, f"{fast:.2f}", anchor="start", size=9)
    return str(drawing)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(chart(rows))


main()
