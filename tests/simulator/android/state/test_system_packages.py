"""The packages that every phone has."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.packages import Package, PackageStore, system_packages


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
