"""Which method for these sets? All of them on handwritten digits, on one table and picture.

Half of the probes hold images of other digits. Nothing is downloaded; about a minute.

    python examples/compare_methods.py [out/compare_methods.png]
"""

import argparse
import logging
from pathlib import Path

import setwise
from setwise.demo import digit_sets


def main() -> None:
    """Compare, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="?", type=Path, default="out/compare_methods.png")
    picture = parser.parse_args().picture
    logging.basicConfig(level="INFO", format="%(message)s")
    data = digit_sets()
    found = setwise.compare(data.gallery, data.gallery.labels, data.probes, data.probes.labels)
    print(found)
    picture.parent.mkdir(parents=True, exist_ok=True)
    found.plot(picture)
    print(f"\nPicture: {picture}")


if __name__ == "__main__":
    main()
