"""Options of several commands, as dataclasses: :func:`command` makes options of the fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer
from typer import Argument, Option

from setwise.cli.common import AsJson, Quiet, clean_exit, say, shown_progress

if TYPE_CHECKING:
    from setwise._support.progress import Progress

_SOURCE = (
    "Folder of photos (anna/*.jpg, class/set/*.jpg, set/*.jpg) or clips, photo, video, "
    ".mat, .npz, .csv, .parquet."
)
_UNKNOWN = "False-acceptance rate for unknown classes, such as 0.05; without, all are known."
_LAYOUT = '"class", "class/set", "set", "single", "bursts", "class/bursts" or "auto".'
_PROBE_LAYOUT = "Layout of the probes; by default auto, or bursts if the gallery has bursts."
_FEATURES = (
    '"pixels", "edges", "network", "faces", several, or "auto": all installed but faces.'
)
_VARIABLES = ("variable", "labels", "groups")
GAP_S = 30.0
_GAP = f"Seconds without a photo between two bursts; {GAP_S:.0f}, or those of a gallery file."
_LINKS = "Also follow links out of the folder."
Source: TypeAlias = Annotated[Path, Argument(help=_SOURCE)]
Jobs: TypeAlias = Annotated[int, Option(help="Threads; -1 for one per core.")]
Unknown: TypeAlias = Annotated[float | None, Option(help=_UNKNOWN)]


@dataclass(frozen=True)
class Reading:
    """Options for reading sets from files."""

    layout: Annotated[str, Option(help=_LAYOUT)] = "auto"
    probe_layout: Annotated[str | None, Option(help=_PROBE_LAYOUT)] = None
    gap: Annotated[float | None, Option(help=_GAP, show_default=False)] = None
    features: Annotated[str, Option(help=_FEATURES)] = "auto"
    size: Annotated[int | None, Option(help="Pixels of a side: 64, or 96 for networks.")] = None
    colour: Annotated[bool, Option("--colour", help="Read colours; networks always do.")] = (
        False
    )
    no_cache: Annotated[bool, Option("--no-cache", help="Do not cache image vectors.")] = False
    exclude: Annotated[list[str] | None, Option(help='Names to leave out, as "*.tmp".')] = None
    follow_links: Annotated[bool, Option("--follow-links", help=_LINKS)] = False
    skip_bad: Annotated[bool, Option("--skip-bad", help="Leave out unreadable files.")] = False
    max_bad: Annotated[float, Option(help="Largest share that --skip-bad leaves out.")] = 0.05
    max_pixels: Annotated[int, Option(help="Pixels of the largest image to open.")] = 64_000_000
    max_files: Annotated[int, Option(help="Most files to read from a folder.")] = 100_000
    variable: Annotated[str | None, Option(help="Variable or column of the vectors.")] = None
    labels: Annotated[str | None, Option(help="Variable or column of the classes.")] = None
    groups: Annotated[str | None, Option(help="The same, of the set of each vector.")] = None
    probe_variable: Annotated[str | None, Option(help="Variable of the probes.")] = None

    @property
    def needs_colour(self) -> bool:
        """Whether a network gets the images, which needs colours and details."""
        from setwise.classify.image_features import named_features

        names = named_features(self.features, "setwise --features")
        return not {"network", "faces"}.isdisjoint(names)

    def of_gallery(self) -> dict[str, Any]:
        """Arguments of `load_sets` for labelled sets."""
        same = ("layout", "follow_links", "max_bad", "max_pixels", "max_files", *_VARIABLES)
        return {name: getattr(self, name) for name in same} | {
            "gap_s": GAP_S if self.gap is None else self.gap,
            "size": self.size or (96 if self.needs_colour else 64),
            "colour": self.colour or self.needs_colour,
            "exclude": tuple(self.exclude or ()),
            "on_error": "skip" if self.skip_bad else "raise",
        }

    def of_probes(self, image_shape: tuple[int, ...] | None = None) -> dict[str, Any]:
        """Arguments of `load_sets` for probes: images get the size of the gallery's."""
        layout = self.probe_layout or ("bursts" if "bursts" in self.layout else "auto")
        variable = self.probe_variable or self.variable
        own: dict[str, Any] = {"layout": layout, "variable": variable, "labels": None}
        if image_shape is not None:
            own |= {"size": image_shape[:2], "colour": len(image_shape) == 3}
        return self.of_gallery() | own

    def recorded(self, features: Sequence[str]) -> dict[str, Any]:
        """What a gallery file records of the reading, for its probes."""
        layout = self.layout if "bursts" in self.layout else "auto"
        return {"layout": layout, "gap_s": self.of_gallery()["gap_s"], "features": features}

    def as_recorded(self, own: dict[str, Any]) -> Reading:
        """These options, with what a gallery file has recorded where none is given."""
        layout, gap_s = own.get("layout"), own.get("gap_s")
        is_of_bursts = self.layout == "auto" and layout in ("bursts", "class/bursts")
        is_gap = isinstance(gap_s, int | float) and 0 < gap_s < float("inf")
        return replace(
            self,
            probe_layout=self.probe_layout or ("bursts" if is_of_bursts else None),
            gap=gap_s if self.gap is None and is_gap else self.gap,
        )

    def check(self) -> None:
        """Refuse wrong values before any source is read; open the cache of vectors."""
        from setwise._support.parameters import check_choice, check_count, check_number
        from setwise.io.layouts import LAYOUTS

        known = ("auto", *LAYOUTS)
        check_choice("setwise", "--layout", self.layout, known)
        if self.probe_layout is not None:
            check_choice("setwise", "--probe-layout", self.probe_layout, known)
        if self.gap is not None:
            check_number("setwise", "--gap", self.gap)
        if self.max_bad != 0:
            check_number("setwise", "--max-bad", self.max_bad, at_most=1.0)
        for option in ("size", "max_pixels", "max_files"):
            if getattr(self, option) is not None:
                check_count("setwise", f"--{option.replace('_', '-')}", getattr(self, option))
        if self.needs_colour and not self.no_cache:
            from setwise._support.files import cache_folder
            from setwise.features.cache import keep_in_file

            keep_in_file(cache_folder() / "embeddings.sqlite")


@dataclass(frozen=True)
class Output:
    """Options for what a command prints."""

    as_json: AsJson = False
    quiet: Quiet = False

    @property
    def is_silent(self) -> bool:
        """Whether to print the result alone."""
        return self.as_json or self.quiet

    def progress(self) -> AbstractContextManager[Progress | None]:
        """Show progress, unless the result alone is printed."""
        return shown_progress(is_silent=self.is_silent)

    def show(self, document: dict[str, Any], short: str, full: str) -> None:
        """Print the result as JSON, one line, or all of it."""
        if self.as_json:
            typer.echo(json.dumps(document, indent=2))
        else:
            say(short if self.quiet else full)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command of typer: dataclasses become options, and errors one line each."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {n: kind for n, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for name, parameter in signature(function).parameters.items():
        if name in groups:
            own = get_type_hints(groups[name], include_extras=True)
            defaults = {field.name: field.default for field in fields(groups[name])}
        else:
            own, defaults = hints, {name: parameter.default}
        parameters += [
            Parameter(one, Parameter.KEYWORD_ONLY, default=default, annotation=own[one])
            for one, default in defaults.items()
        ]

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


def add_command(app: typer.Typer, function: Callable[..., None], name: str = "") -> None:
    """Make a function a command; the example of its docstring ends its help."""
    words, _, examples = cleandoc(function.__doc__ or "").partition("\n\nExample")
    epilog = f"\b\nExample{examples}" if examples else None
    app.command(name or None, help=words, epilog=epilog)(function)
