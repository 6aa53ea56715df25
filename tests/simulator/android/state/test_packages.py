"""What is installed on a phone, and under which numbers and names."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.packages import (
    Package,
    PackageStore,
    component,
    full_class,
    random_code_path,
    user_name,
)


def package(name: str, *, app_id: int = 10300) -> Package:
    """Make a package of which only the name matters."""
    return Package(
        name=name,
        version_name="1",
        version_code=1,
        app_id=app_id,
        system=False,
        code_path=f"/data/app/{name}",
    )


class TestStore:
    """Installing, finding, removing."""

    def test_lists_by_name(self) -> None:
        """Packages are listed by name, however they were installed."""
        store = PackageStore([package("b.b"), package("a.a")])

        assert [found.name for found in store.all()] == ["a.a", "b.b"]

    def test_a_package_replaces_one_of_the_same_name(self) -> None:
        """A package of the same name takes the other's place."""
        store = PackageStore([package("a.a", app_id=10300)])

        store.add(package("a.a", app_id=10400))

        assert [found.app_id for found in store.all()] == [10400]

    def test_a_removed_package_is_gone(self) -> None:
        """What was removed is gone, and removing it again does nothing."""
        store = PackageStore([package("a.a")])

        store.remove("a.a")
        store.remove("a.a")

        assert store.get("a.a") is None

    def test_a_new_package_gets_its_own_app_id(self) -> None:
        """Every new package gets a number of its own, beyond those of the system."""
        assert PackageStore().free_app_id() == 10200
        assert PackageStore([package("a.a", app_id=10250)]).free_app_id() == 10251


class TestNames:
    """Names as Android writes them."""

    def test_a_class_in_the_package_is_written_short(self) -> None:
        """A class inside the package is written without the package's name."""
        assert component("a.b", "a.b.Main") == "a.b/.Main"
        assert component("a.b", "c.d.Main") == "a.b/c.d.Main"
        assert component("a.b", "a.bc.Main") == "a.b/a.bc.Main"

    def test_a_leading_dot_stands_for_the_package(self) -> None:
        """A leading dot stands for the package."""
        assert full_class("a.b", ".Main") == "a.b.Main"
        assert full_class("a.b", "c.Main") == "c.Main"

    def test_apps_run_as_numbered_users(self) -> None:
        """Apps run as numbered users, the system under names."""
        assert user_name(10214) == "u0_a214"
        assert [user_name(number) for number in (0, 1000, 2000)] == ["root", "system", "shell"]

    def test_the_code_path_depends_on_the_seed(self) -> None:
        """The folder of an app is the same for the same seed and another for another."""
        paths = [random_code_path("a.b", rng=random.Random(seed)) for seed in (1, 1, 2)]

        assert paths[0] == paths[1] != paths[2]
        assert paths[0].startswith("/data/app/~~")
        assert "/a.b-" in paths[0]
