"""What an environment of setwise consists of, as CycloneDX 1.6 (JSON).

    python tests/release/sbom.py setwise-VERSION.cdx.json

Reads the metadata of what is installed. Needs the standard library alone, and no network.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

TOOLS = {"pip", "setuptools", "wheel"}
SPDX = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")


def normal(name: str) -> str:
    """A name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name.lower())


def licence(package: Distribution) -> str:
    """What a package declares, or the head of the licence that it brings."""
    metadata = package.metadata
    classifiers = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License")]
    # Some put the whole text there: the head of it has the name.
    declared = [metadata.get("License-Expression"), (metadata.get("License") or "")[:200]]
    words = " ".join(filter(None, [*declared, *classifiers])).replace("UNKNOWN", "").strip()
    files = [f for f in package.files or [] if re.match(r"LICEN[CS]E", f.name)]
    return words or " ".join(f.read_text()[:200] for f in files)


def reference(package: Distribution) -> str:
    """The address of a package among all packages (purl)."""
    return f"pkg:pypi/{normal(package.metadata['Name'])}@{package.version}"


def component(package: Distribution) -> dict[str, Any]:
    """A package as one component."""
    expression = package.metadata.get("License-Expression")
    told: dict[str, Any] = {"license": {"name": " ".join(licence(package).split())[:200]}}
    if expression and SPDX.fullmatch(expression):
        told = {"expression": expression}
    return {
        "type": "library",
        "bom-ref": reference(package),
        "name": package.metadata["Name"],
        "version": package.version,
        "purl": reference(package),
        "licenses": [told],
    }


def document(packages: Iterable[Distribution], root: str = "setwise") -> dict[str, Any]:
    """The list of packages, and which needs which; equal for equal environments."""
    known = {normal(one.metadata["Name"]): one for one in packages}
    known = {name: known[name] for name in sorted(known) if name not in TOOLS}
    own = known.pop(root)
    needs = []
    for one in (own, *known.values()):
        names = {normal(re.match(r"[\w.-]+", line)[0]) for line in one.requires or []}  # type: ignore[index]
        needed = [reference(known[name]) for name in sorted(names & set(known))]
        needs.append({"ref": reference(one), "dependsOn": needed})
    components = [component(one) for one in known.values()]
    listed = json.dumps([one["purl"] for one in components])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, reference(own) + listed)}",
        "version": 1,
        "metadata": {"component": component(own) | {"type": "application"}},
        "components": components,
        "dependencies": needs,
    }


def main() -> None:
    """Write the list of this environment."""
    listed = document(distributions())
    Path(sys.argv[1]).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{sys.argv[1]}: {len(listed['components'])} components\n")


if __name__ == "__main__":
    main()
