"""The packages of a phone: numbers, names and permissions."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.packages import (
    OPERATOR,
    OPERATOR_DEV,
    Package,
    PackageStore,
    component,
    full_class,
    operator_package,
    random_code_path,
    system_packages,
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


class TestSystem:
    """What a phone comes with."""

    def test_system_app_ids_are_below_those_of_apps(self) -> None:
        """No system package takes a number that is meant for apps, and few share one."""
        made = system_packages(api=36, release="16", rng=random.Random(0))

        apps = [found.app_id for found in made if found.app_id >= 10000]
        assert len(set(apps)) == len(apps)
        assert max(apps) < PackageStore().free_app_id()

    def test_a_system_apk_is_named_as_its_folder(self) -> None:
        """A system package's file is named as its folder."""
        made = PackageStore(system_packages(api=36, release="16", rng=random.Random(0)))

        settings, framework = made.get("com.android.settings"), made.get("android")
        assert settings is not None
        assert framework is not None
        assert settings.apk == "/system_ext/priv-app/Settings/Settings.apk"
        assert framework.apk == "/system/framework/framework-res.apk"


class TestOperator:
    """The Operator's two builds."""

    def test_the_release_build_has_the_published_version(self) -> None:
        """The release build has the published version."""
        made = operator_package(OPERATOR, app_id=1, rng=random.Random(0), now=0, set_up=True)

        assert (made.version_name, made.version_code) == ("0.5.3", 503900)
        assert (made.min_sdk, made.target_sdk, made.stopped) == (21, 35, False)
        assert made.launcher == "clawperator.activity.MainActivity"

    def test_the_debug_build_has_a_version_suffix(self) -> None:
        """The debug build's version name tells it."""
        made = operator_package(OPERATOR_DEV, app_id=1, rng=random.Random(0), now=0, set_up=False)

        assert (made.version_name, made.version_code) == ("0.5.3-d", 503900)
        assert made.stopped
