"""Write docs/reproduced.md and its pictures from what `setwise reproduce` has left in out/.

    python benchmarks/write_reproduced.py [--out out/reproduce]

Every table is as the command wrote it; nothing is measured here.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from setwise.evaluation import plot_accuracy_time
from setwise_paper.study import study_named

DOCS = Path("docs")
FIRST = ("eth80", "eth80-64", "yaleb", "coil20", "hands", "vowels")
OWN = "benchmarks/objects.toml"  # not shipped, for it needs the renderer beside it
# Datasets on which all methods are compared.
COMPARED = ("eth80", "yaleb", "coil20", "hands", "vowels")
HEAD = """# What was reproduced, in numbers

Written by `make reproduce` from the results of `setwise reproduce`: percent of the probe sets
labelled rightly, mean and standard deviation over the folds; seconds to learn a gallery and
to judge a probe, one thread each, medians over the folds, while two items were worked on at a
time (but for Table 4, which was timed alone). *Paper*: Mahmood and Mian. All methods with
their defaults, on raw pixels or coefficients, unless it says otherwise. What to make of it:
[reproduction.md](reproduction.md).

![Accuracy against time on ETH-80](rivals_eth80.png)

![Accuracy against time, mean of five datasets](rivals_all.png)
"""


def rows_of(folder: Path) -> dict[str, dict]:
    """The compared methods of a study, by name; only where all of its items are finished."""
    content = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    if not content["is_complete"]:
        return {}
    return {row["name"]: row for row in content["experiments"]["methods"]["rows"]}


def draw(file: str, title: str, studies: list[dict[str, dict]]) -> None:
    """Accuracy against time, averaged over studies; methods that are in all of them."""
    points = []
    for name in studies[0]:
        rows = [rows[name] for rows in studies if name in rows]
        if len(rows) == len(studies):
            mean = sum(row["mean"] for row in rows) / len(rows) / 100
            variance = sum(row["std"] ** 2 / row["n_folds"] for row in rows)
            error = math.sqrt(variance) / len(rows) / 100
            times = [math.log(row["probe_seconds"]) for row in rows]
            points.append(
                (name, math.exp(sum(times) / len(times)), mean, mean - error, mean + error)
            )
    note = "Bars: one standard error over the folds. One thread a method."
    plot_accuracy_time(points, DOCS / file, title=title, note=note)


def section(study_name: str, out: Path) -> str:
    name, study = study_named(study_name)
    folder = out / name
    about = " ".join(study.about.split())
    tables = (folder / "tables.md").read_text(encoding="utf-8").strip()
    return f"## {study.title}\n\n{about} (`setwise reproduce {study_name}`)\n\n{tables}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/reproduce"))
    out = parser.parse_args().out
    done = [name for name in (*FIRST, OWN) if (out / Path(name).stem / "tables.md").exists()]
    parts = [HEAD, *(section(name, out) for name in done)]
    (DOCS / "reproduced.md").write_text("\n".join(parts), encoding="utf-8")
    compared = [rows_of(out / name) for name in COMPARED if name in done]
    # Pictures of the whole only: a part would be mistaken for it.
    if len(compared) == len(COMPARED) and all(compared):
        draw("rivals_eth80.png", "ETH-80, ten splits", compared[:1])
        draw("rivals_all.png", "Mean of five datasets", compared)


if __name__ == "__main__":
    main()
