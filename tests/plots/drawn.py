"""What a test asks of a picture: its texts, and which of them lie on each other."""

from types import SimpleNamespace


def a_curve(name, mean, std=None, x=None):
    n = len(mean)
    return SimpleNamespace(
        name=name,
        x=tuple(range(1, n + 1)) if x is None else x,
        mean=mean,
        std=(0.0,) * n if std is None else std,
    )


def lines_of(axes):
    """Lines with data of their own, by label."""
    return {line.get_label(): line for line in axes.lines if line.get_label()[0] != "_"}


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def letters(text, renderer):
    """The box of a text, without the line that ties it to a point."""
    from matplotlib.text import Text

    return Text.get_window_extent(text, renderer)


def clashes(axes):
    """Pairs of texts on or beside the axes whose letters meet, once all is in its place."""
    figure = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    labels = [axes.xaxis.label, axes.yaxis.label]
    shown = [t for t in [*axes.texts, *ticks, *labels] if t.get_text() and t.get_visible()]
    # Boxes include ascent and descent that letters rarely use, so let them touch.
    boxes = [(t.get_text(), letters(t, renderer).padded(-1.5)) for t in shown]
    return [
        (one, other)
        for i, (one, box) in enumerate(boxes)
        for other, beside in boxes[:i]
        if box.overlaps(beside)
    ]


def outside(axes):
    """Texts that the picture cuts off."""
    figure = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    width, height = figure.bbox.width, figure.bbox.height
    boxes = [(text.get_text(), letters(text, renderer)) for text in axes.texts]
    return [
        text
        for text, box in boxes
        if box.x0 < -1 or box.y0 < -4 or box.x1 > width + 1 or box.y1 > height + 4
    ]
