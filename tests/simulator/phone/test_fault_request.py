"""Faults as people ask for them."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.phone.fault_switch import parse_fault
from tests.doubles.simulator.android_phone import Phone


class TestFaults:
    """The words of a request."""

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("nope", "sim: there is no fault 'nope'. Known faults: booting, container_lost, "),
            ("clear nope", "sim: there is no fault 'nope'. Known faults: "),
            ("booting x", "sim: 'x' is no option. Options are written as key=value"),
            ("booting ms=5", "sim: fault 'booting' has no option 'ms'. Its options: times.\n"),
            ("booting times=0", "sim: times=0 is no number of occasions. times takes a whole"),
            ("booting times=x", "sim: times=x is no number of occasions."),
            ("late_envelope ms=soon", "sim: ms=soon is no whole number. The default is ms=2000."),
            ("disconnect after=lunch", "sim: a disconnect after 'lunch' is not possible. Allowed:"),
            ("forged_lines kind=x", "sim: there are no forged lines of kind 'x'. Allowed: all,"),
            ("list all", "sim: 'all' is one word too many. 'sim help' shows what is allowed.\n"),
        ],
    )
    def test_an_invalid_fault_is_refused_and_not_set(self, arguments: str, complaint: str) -> None:
        """A mistake says what was found and what is allowed, and sets nothing."""
        phone = Phone()

        ended = phone.run(f"sim fault {arguments}")

        assert (ended.status, ended.out) == (1, "")
        assert ended.err.startswith(complaint)
        assert phone.out("sim fault list") == ""

    def test_parsed_for_others(self) -> None:
        """A fault can be read from words outside the phone too."""
        request = parse_fault(["late_envelope", "times=1", "ms=7"])

        assert (request.name, request.times, request.options) == ("late_envelope", 1, {"ms": "7"})
        with pytest.raises(ConfigurationError):
            parse_fault([])
