"""How hard the property tests try: VEDETTE_TEST_PROFILE is `ci` (default), `quick` or `explore`.

ci: 300 examples per property, the same ones in every run. quick: 30 of them. explore: 2,000 new ones each time; a
failure prints the seed (`--hypothesis-seed`) and the blob that reproduce it. Properties that run the whole engine get a
third of that: many of them walk through the same code, and most of the time goes there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

HERE = Path(__file__).parent
WHOLE_ENGINE = ("engine", "runtime")  # the folders of those properties
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
PHASES = [Phase.explicit, Phase.generate, Phase.target, Phase.shrink]  # explaining takes minutes and says little here

settings.register_profile(
    "ci",
    max_examples=300,
    deadline=None,
    derandomize=True,
    print_blob=True,
    phases=PHASES,
    suppress_health_check=SLOW,
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=30)
settings.register_profile("explore", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("VEDETTE_TEST_PROFILE", "ci"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Fewer examples for properties that run the whole engine, unless a test says how many it wants."""
    property_ = getattr(item, "obj", None)
    if item.path.relative_to(HERE).parts[0] not in WHOLE_ENGINE or not is_hypothesis_test(property_):
        return
    if not hasattr(property_, "_hypothesis_internal_settings_applied"):
        settings(max_examples=-(-settings().max_examples // 3))(property_)


@pytest.fixture(scope="session")
def data() -> Path:
    """A folder with real streams to try the engine on: VEDETTE_DATA, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("VEDETTE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"real data is not here: {folder} (set VEDETTE_DATA to its folder)")
    return folder
