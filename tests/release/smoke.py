"""What a new user does first, with an installed setwise and nothing else.

python smoke.py path/to/README.md, in an empty folder; run by environments.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from readme import blocks, commands, make_folders

import setwise


def main() -> None:
    """Doctor, demo, every command and every Python example of the README."""
    here = Path.cwd()
    if any(here.iterdir()) or here in Path(setwise.__file__).parents:
        sys.exit(f"smoke.py: {here} is not empty. Expected an empty folder, and an install.")
    readme = Path(sys.argv[1]).read_text(encoding="utf-8")
    command = str(Path(sys.executable).parent / "setwise")
    subprocess.run([command, "doctor"], check=True)
    subprocess.run([command, "demo", "--quick", "--out", "demo"], check=True)
    make_folders(here)
    for _, *arguments in commands(readme):
        subprocess.run([command, *arguments], check=True)
    for code in blocks(readme, "python"):
        exec(compile(code, "README.md", "exec"), {})
    for made in ("demo/explanation.png", "why.html", "why.png", "things.setwise"):
        if not (here / made).exists():
            sys.exit(f"smoke.py: {made} was not made.")
    sys.stdout.write(f"setwise {setwise.__version__}: all of it works\n")


if __name__ == "__main__":
    main()
