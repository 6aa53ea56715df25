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


def test_the_store_lists_replaces_and_removes() -> None:
    """Packages are listed by name, and a new one gets an app id of its own."""
    store = PackageStore([package("b.b"), package("a.a")])
    assert [found.name for found in store.all()] == ["a.a", "b.b"]

    store.add(package("a.a", app_id=10400))
    store.remove("b.b")
    store.remove("b.b")

    assert [found.app_id for found in store.all()] == [10400]
    assert store.get("b.b") is None
    assert store.free_app_id() == 10401
    assert PackageStore().free_app_id() == 10200


def test_names_are_written_as_by_android() -> None:
    """Classes inside their package are short; apps run as numbered users."""
    assert component("a.b", "a.b.Main") == "a.b/.Main"
    assert component("a.b", "c.d.Main") == "a.b/c.d.Main"
    assert component("a.b", "a.bc.Main") == "a.b/a.bc.Main"
    assert full_class("a.b", ".Main") == "a.b.Main"
    assert full_class("a.b", "c.Main") == "c.Main"
    assert user_name(10214) == "u0_a214"
    assert [user_name(number) for number in (0, 1000, 2000)] == ["root", "system", "shell"]
    paths = [random_code_path("a.b", rng=random.Random(seed)) for seed in (1, 1, 2)]
    assert paths[0] == paths[1] != paths[2]
    assert paths[0].startswith("/data/app/~~")
    assert "/a.b-" in paths[0]


def test_system_packages_have_ids_below_those_of_apps() -> None:
    """No id is shared among them, and a file is named as its folder."""
    made = PackageStore(system_packages(api=36, release="16", rng=random.Random(0)))

    apps = [found.app_id for found in made.all() if found.app_id >= 10000]
    assert len(set(apps)) == len(apps)
    assert max(apps) < PackageStore().free_app_id()
    settings, framework = made.get("com.android.settings"), made.get("android")
    assert settings is not None
    assert framework is not None
    assert settings.apk == "/system_ext/priv-app/Settings/Settings.apk"
    assert framework.apk == "/system/framework/framework-res.apk"


def test_the_operator_has_the_published_version() -> None:
    """The debug build has a suffix, and one that is not set up is stopped."""
    release, debug = (
        operator_package(name, app_id=1, rng=random.Random(0), now=0, set_up=name == OPERATOR)
        for name in (OPERATOR, OPERATOR_DEV)
    )

    assert (release.version_name, debug.version_name) == ("0.5.3", "0.5.3-d")
    assert (release.stopped, debug.stopped) == (False, True)
    assert (release.version_code, release.min_sdk, release.target_sdk) == (503900, 21, 35)
    assert release.launcher == "clawperator.activity.MainActivity"
