"""svg - charts as SVG text, without any package. Readable on white and on dark pages alike: each has its own background."""
import math
from xml.sax.saxutils import escape

COLOURS = ["#9aa5b1", "#4a90d9", "#e2733d", "#3a9d5d", "#8e5bb5", "#c2a83e", "#c94f7c", "#3fa7a7"]
INK, GRID = "#27313b", "#dde2e7"


class Drawing:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = [f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>']

    def text(self, x, y, words, anchor="middle", size=12, weight="normal", colour=INK):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
                          f'font-weight="{weight}" fill="{colour}">{escape(words)}</text>')

    def rect(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0):.1f}" '
                          f'fill="{colour}"/>')

    def line(self, points, colour, width=1.0, dash=""):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')

    def legend(self, x, y, entries):
        """`entries`: (words, colour), side by side."""
        for words, colour in entries:
            self.rect(x, y - 10, 12, 12, colour)
            self.text(x + 17, y, words, anchor="start")
            x += 34 + 6.6 * len(words)

    def __str__(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" font-family="Helvetica, Arial, sans-serif">\n' +
                "\n".join(self.parts) + "\n</svg>\n")


def bars(title, axis, groups, series, marks=None, mark_words=""):
    """Bars side by side. `groups`: (lines of words below, values by series, (low, high) by series); `marks`: one value
    a group, drawn as a dashed line across its bars."""
    bar, gap, left, top, bottom = 26, 34, 60, 64, 66
    step = bar * len(series) + gap
    chart = Drawing(left + step * len(groups) + 20, 380)
    height = chart.height - top - bottom
    highest = 1.12 * max([value for _, values, _ in groups for value in values] + list(marks or []))
    ticks = next(tick for tick in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100) if highest / tick <= 8)
    y = lambda value: top + height * (1 - value / highest)
    chart.text(left, 22, title, anchor="start", size=15, weight="bold")
    chart.legend(left, 44, list(zip(series, COLOURS)) + ([(mark_words, INK)] if marks else []))
    for i in range(int(highest / ticks) + 1):
        chart.line([(left, y(i * ticks)), (chart.width - 20, y(i * ticks))], GRID)
        chart.text(left - 8, y(i * ticks) + 4, f"{i * ticks:g}", anchor="end", size=11)
    chart.parts.append(f'<text transform="translate(18 {top + height / 2:.0f}) rotate(-90)" text-anchor="middle" '
                       f'font-size="12" fill="{INK}">{escape(axis)}</text>')
    for place, (words, values, spreads) in enumerate(groups):
        x = left + gap / 2 + place * step
        for i, (value, (low, high)) in enumerate(zip(values, spreads)):
            chart.rect(x + i * bar, y(value), bar - 3, y(0) - y(value), COLOURS[i])
            middle = x + i * bar + (bar - 3) / 2
            chart.line([(middle, y(low)), (middle, y(high))], INK, 1.2)
            chart.text(middle, y(max(value, high)) - 5, f"{value:.2f}", size=10)
        if marks:
            chart.line([(x - 5, y(marks[place])), (x + len(series) * bar + 2, y(marks[place]))], INK, 1.6, "5 3")
        for i, line in enumerate(words):
            chart.text(x + len(series) * bar / 2, y(0) + 18 + 15 * i, line, size=11)
    return str(chart)


def curves(title, horizontal, vertical, series, reference=None):
    """Both axes logarithmic. `series`: name -> [(x, y)]; `reference`: (words, [(x, y)]), dashed."""
    chart = Drawing(640, 420)
    left, right, top, bottom = 64, 20, 84, 50
    every = [point for points in series.values() for point in points] + (reference[1] if reference else [])
    span = lambda values: (math.log10(min(values)), math.log10(max(values)))
    (x0, x1), (y0, y1) = span([x for x, _ in every]), span([y for _, y in every])
    y0, y1 = math.floor(y0), math.ceil(y1)
    x = lambda value: left + (chart.width - left - right) * (math.log10(value) - x0) / (x1 - x0)
    y = lambda value: top + (chart.height - top - bottom) * (y1 - math.log10(value)) / (y1 - y0)
    chart.text(left, 24, title, anchor="start", size=15, weight="bold")
    chart.legend(left, 46, list(zip(series, COLOURS[1:])))
    if reference:
        chart.text(left, 66, f"dashed: {reference[0]}", anchor="start")
        chart.line([(x(a), y(b)) for a, b in reference[1]], INK, 1.2, "5 3")
    for power in range(y0, y1 + 1):
        chart.line([(left, y(10.0**power)), (chart.width - right, y(10.0**power))], GRID)
        chart.text(left - 8, y(10.0**power) + 4, f"{10.0**power:g}", anchor="end", size=11)
    for value in sorted({a for points in series.values() for a, _ in points}):
        chart.text(x(value), chart.height - bottom + 18, f"{value:,}", size=11)
    chart.text((left + chart.width) / 2, chart.height - 12, horizontal)
    chart.parts.append(f'<text transform="translate(18 {(top + chart.height - bottom) / 2:.0f}) rotate(-90)" '
                       f'text-anchor="middle" font-size="12" fill="{INK}">{escape(vertical)}</text>')
    for colour, points in zip(COLOURS[1:], series.values()):
        chart.line([(x(a), y(b)) for a, b in points], colour, 1.8)
        for a, b in points:
            chart.dot(x(a), y(b), colour)
    return str(chart)
