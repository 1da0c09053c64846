"""Where a run stands, in one file: how many micro-batches are done, of what stream, and the engine's state after them.

In: a folder. Out: the same folder with `run.vedette`, replaced as a whole after each micro-batch.
The file is magic, length of the header, header (JSON), state. Invariant: the parts of the micro-batches that it counts
are on disk already; those of later ones may be there too, and are written again.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from vedette.connectors.protocol import Position
from vedette.errors import ConfigError, StateError

MAGIC = b"VEDETTE-RUN\x01"
COUNTS = ("buckets", "regions")


class Checkpoint:
    """The checkpoint of one run in `folder`; `settings` are what must stay the same when it goes on."""

    def __init__(self, folder: str | Path, settings: dict[str, Any]) -> None:
        self.folder, self.settings = Path(folder).expanduser(), settings
        self.path = self.folder / "run.vedette"
        self.batches = 0
        self.position: Position = (0, 0)
        self.state = b""
        self.counts: dict[str, int] = {}
        if self.folder.exists() and not self.folder.is_dir():
            raise ConfigError(f"{self.folder} is a file; --checkpoint needs a folder")

    def exists(self) -> bool:
        """True if a run has begun here."""
        return self.path.exists()

    def load(self, source: dict[str, Any]) -> None:
        """Take up `batches` and `state`; a StateError if they belong to another run."""
        header, state = self._read()
        self.counts = {name: header["settings"][name] for name in COUNTS if name in header["settings"]}
        for name, value in self.settings.items():
            before = header["settings"].get(name)
            if name in COUNTS and before not in (None, value):
                raise StateError(
                    f"{self.path} was made with {before} {name}, which cannot change: go on with --{name} {before} "
                    f"instead of {value}, start over with --overwrite, or use another --checkpoint folder"
                )
            if before != value and name not in COUNTS:
                raise StateError(
                    f"{self.path} belongs to a run with another {name} ({_short(before)}, now "
                    f"{_short(value)}); start over with --overwrite, or use another --checkpoint folder"
                )
        read = header["source"]
        for name in source.keys() - {"files"}:
            if read.get(name) != source[name]:
                raise StateError(
                    f"{self.path} was made with {name} = {read.get(name)}, now {source[name]}; keep it the same"
                )
        used = read["files"][: header["position"][0]]
        if source["files"][: len(used)] != used:
            raise StateError(
                f"{self.path}: the files read so far are no longer the first ones of the input; "
                "start over with --overwrite"
            )
        self.batches, self.position, self.state = header["batches"], tuple(header["position"]), state

    def save(self, batches: int, position: Position, state: bytes, source: dict[str, Any]) -> None:
        """Replace the checkpoint; a kill leaves the old one or the new one."""
        header = {"settings": self.settings, "source": source, "batches": batches, "position": position}
        text = json.dumps(header).encode()
        hidden = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with hidden.open("wb") as file:
                file.write(MAGIC + len(text).to_bytes(8, "little") + text + state)
                file.flush()
                os.fsync(file.fileno())
            hidden.replace(self.path)
        except OSError as error:
            raise ConfigError(f"cannot write the checkpoint {self.path}: {error.strerror}") from error
        self.batches, self.position, self.state = batches, position, state

    def pin(self, counts: dict[str, int], source: dict[str, Any]) -> None:
        """Note numbers of buckets and regions that were not asked for but chosen."""
        self.settings = self.settings | counts
        self.save(self.batches, self.position, self.state, source)

    def forget(self) -> None:
        """Start over."""
        self.path.unlink(missing_ok=True)
        (self.folder / "totals.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "spark", ignore_errors=True)  # Spark's own checkpoint, where it was the engine
        self.batches, self.position, self.state = 0, (0, 0), b""

    def _read(self) -> tuple[dict[str, Any], bytes]:
        data = self.path.read_bytes()
        if not data.startswith(MAGIC):
            raise StateError(f"{self.path} is not a checkpoint that this version can read")
        start = len(MAGIC) + 8
        size = int.from_bytes(data[len(MAGIC) : start], "little")
        try:
            header = json.loads(data[start : start + size])
        except ValueError as error:
            raise StateError(f"{self.path} is damaged; start over with --overwrite") from error
        return header, data[start + size :]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else text[:12] + "..."
