"""Options that several commands share, gathered in small value objects.

A command asks for one of them as a parameter; :func:`command` spreads it out into options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer

from setwise.cli.common import AsJson, Quiet, clean_exit, shown_progress

if TYPE_CHECKING:
    from setwise._support.progress import Progress

__all__ = ["Jobs", "Output", "Reading", "Source", "Unknown", "add_command", "command"]

_SOURCE = (
    "A folder of photos (anna/*.jpg, class/set/*.jpg, set/*.jpg) or clips, a video, a .mat or "
    ".npz."
)
Source: TypeAlias = Annotated[Path, typer.Argument(help=_SOURCE)]
Jobs: TypeAlias = Annotated[int, typer.Option(help="Threads; -1 is one per core.")]
Unknown: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Say unknown, letting this share of strangers in, such as 0.05."),
]


@dataclass(frozen=True)
class Reading:
    """How sets are read from files."""

    layout: Annotated[
        str,
        typer.Option(
            help='"class", "class/set", "set", "single", "bursts", "class/bursts" or "auto".'
        ),
    ] = "auto"
    probe_layout: Annotated[
        str | None,
        typer.Option(help="Of the probes; auto, or bursts where the gallery has bursts."),
    ] = None
    gap: Annotated[
        float, typer.Option(help="Seconds between two photos that begin a new burst.")
    ] = 30.0
    features: Annotated[
        str,
        typer.Option(
            help='What of images is looked at: "pixels", "edges", "network", "faces", several '
            'with commas, or "auto": all that are installed but faces.'
        ),
    ] = "auto"
    size: Annotated[
        int | None,
        typer.Option(help="Pixels of a side of images and video: 64, or 96 for networks."),
    ] = None
    colour: Annotated[
        bool, typer.Option("--colour", help="Keep the colours, as for networks anyway.")
    ] = False
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache",
            help="Keep no vectors of images in your cache for the next time.",
        ),
    ] = False
    exclude: Annotated[
        list[str] | None,
        typer.Option(help='Leave out files or folders of such names, such as "*.tmp".'),
    ] = None
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also follow links that leave the folder.")
    ] = False
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out files that cannot be read.")
    ] = False
    max_bad: Annotated[
        float, typer.Option(help="Share of the files that --skip-bad may leave out.")
    ] = 0.05
    max_pixels: Annotated[int, typer.Option(help="Largest image that is opened.")] = 25_000_000
    max_files: Annotated[int, typer.Option(help="Most files of a folder.")] = 100_000
    variable: Annotated[
        str | None, typer.Option(help="Of a .mat or .npz file: what holds the sets.")
    ] = None
    labels: Annotated[
        str | None, typer.Option(help="Of a .mat or .npz file: what holds the classes.")
    ] = None
    groups: Annotated[
        str | None, typer.Option(help="Of such a file: which set each vector belongs to.")
    ] = None
    probe_variable: Annotated[
        str | None, typer.Option(help="Of such a file of probes, where it is another.")
    ] = None

    @property
    def needs_colour(self) -> bool:
        """Whether a network will look at the images, which sees colours and details."""
        from setwise.classify.image_looks import named_features

        names = named_features(self.features, "setwise --features")
        return not {"network", "faces"}.isdisjoint(names)

    def of_gallery(self) -> dict[str, Any]:
        """What `load_sets` has to know of labelled sets."""
        return {
            "layout": self.layout,
            "gap_s": self.gap,
            "size": self.size or (96 if self.needs_colour else 64),
            "colour": self.colour or self.needs_colour,
            "exclude": tuple(self.exclude or ()),
            "follow_links": self.follow_links,
            "on_error": "skip" if self.skip_bad else "raise",
            "max_bad": self.max_bad,
            "max_pixels": self.max_pixels,
            "max_files": self.max_files,
            "variable": self.variable,
            "labels": self.labels,
            "groups": self.groups,
        }

    def of_probes(self, image_shape: tuple[int, ...] | None = None) -> dict[str, Any]:
        """What it has to know of probes; images are made as large as the gallery's."""
        layout = self.probe_layout or ("bursts" if "bursts" in self.layout else "auto")
        own: dict[str, Any] = {
            "layout": layout,
            "variable": self.probe_variable or self.variable,
            "labels": None,
        }
        if image_shape is not None:
            own |= {"size": image_shape[:2], "colour": len(image_shape) == 3}
        return self.of_gallery() | own

    def check(self) -> None:
        """Refuse what no source could be read with, before any is; have the cache ready."""
        from setwise._support.parameters import check_choice, check_count, check_number
        from setwise.io.layouts import LAYOUTS

        known = ("auto", *LAYOUTS)
        check_choice("setwise", "--layout", self.layout, known)
        if self.probe_layout is not None:
            check_choice("setwise", "--probe-layout", self.probe_layout, known)
        check_number("setwise", "--gap", self.gap)
        if self.max_bad != 0:
            check_number("setwise", "--max-bad", self.max_bad, at_most=1.0)
        for option in ("size", "max_pixels", "max_files"):
            if getattr(self, option) is not None:
                check_count("setwise", f"--{option.replace('_', '-')}", getattr(self, option))
        if self.needs_colour and not self.no_cache:
            from setwise.features.cache import keep_in_file
            from setwise.io.datasets.places import cache_folder

            keep_in_file(cache_folder() / "embeddings.sqlite")


@dataclass(frozen=True)
class Output:
    """How a command talks."""

    as_json: AsJson = False
    quiet: Quiet = False

    @property
    def is_silent(self) -> bool:
        """Whether nothing but the result is wanted."""
        return self.as_json or self.quiet

    @contextmanager
    def progress(self) -> Iterator[Progress | None]:
        """Show how far work is, unless nobody wants to know."""
        with shown_progress(is_silent=self.is_silent) as report:
            yield report


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command of typer: value objects spread out into options, errors in one line each."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {n: kind for n, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for name, parameter in signature(function).parameters.items():
        if name in groups:
            parameters += _options_of(groups[name])
        else:
            plain = {"kind": Parameter.KEYWORD_ONLY, "annotation": hints[name]}
            parameters.append(parameter.replace(**plain))

    @wraps(function)
    def run(**given: Any) -> None:
        with clean_exit():
            objects = {
                name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
                for name, kind in groups.items()
            }
            function(**given, **objects)

    del run.__wrapped__  # type: ignore[attr-defined]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def add_command(
    app: typer.Typer, function: Callable[..., None], name: str | None = None
) -> None:
    """Make a function a command, whose help ends in the example of its docstring."""
    words, _, examples = cleandoc(function.__doc__ or "").partition("\n\nExample")
    epilog = f"\b\nExample{examples}" if examples else None
    app.command(name, help=words, epilog=epilog)(function)


def _options_of(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
