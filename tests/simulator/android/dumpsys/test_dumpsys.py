"""``dumpsys`` itself: the list of services, and unknown ones."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone


class TestOthers:
    """The other services."""

    def test_an_unknown_service_is_reported_with_status_0(self) -> None:
        """A service that does not exist is reported on standard error, and that is no failure."""
        assert Phone().run("dumpsys birds") == (0, "", "Can't find service: birds\n")

    def test_list_prints_every_service(self) -> None:
        """The services can be listed."""
        out = Phone().out("dumpsys -l")

        assert out.startswith("Currently running services:\n")
        assert "  battery\n" in out

    def test_without_a_name_every_service_is_dumped(self) -> None:
        """Without a name every service tells about itself."""
        out = Phone().out("dumpsys")

        assert out.count("DUMP OF SERVICE ") == len(Phone().out("dumpsys -l").splitlines()) - 1
