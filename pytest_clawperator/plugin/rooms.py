"""The rooms behind the gate: their parts, and what the front asks of them."""

from __future__ import annotations

from types import ModuleType

from pytest_clawperator.plugin.evidence import late_closing, on_failure, used_clients
from pytest_clawperator.plugin.evidence.tracing import hooks as tracing
from pytest_clawperator.plugin.features import (
    executions_only,
    goldens,
    hidden_characters,
    marked_tests,
    pausing,
    skill_tests,
    soft,
    validating,
)
from pytest_clawperator.plugin.input import option_values
from pytest_clawperator.plugin.leasing import (
    default_hooks,
    examining,
    fixture_bodies,
    matrix,
    spare_devices,
    worker_device,
)
from pytest_clawperator.plugin.leasing.fit import unfit_tests
from pytest_clawperator.plugin.reporting import (
    allure_files,
    hiding,
    infrastructure,
    junit,
    matrix_table,
    moved_rootdir,
    run_index,
    shared_failures,
    summary,
    terminal,
    unfit_summary,
)
from pytest_clawperator.plugin.session import ending_signals, hints
from pytest_clawperator.plugin.xdist import distribution


class Rooms:
    """What the front asks of the rooms; ``gate.py`` returns this class."""

    #: The parts, in the order in which they are registered.
    parts: tuple[ModuleType, ...] = (
        ending_signals,
        used_clients,
        tracing,
        late_closing,
        marked_tests,
        goldens,
        hidden_characters,
        soft,
        executions_only,
        default_hooks,
        worker_device,
        distribution,
        matrix,
        matrix_table,
        unfit_tests,
        unfit_summary,
        validating,
        skill_tests,
        examining,
        infrastructure,
        junit,
        shared_failures,
        on_failure,
        hints,
        pausing,
        run_index,
        allure_files,
        summary,
        moved_rootdir,
        terminal,
        hiding,
    )

    # For usage.py
    check_options = staticmethod(option_values.refuse_options_without_effect)
    count_workers = staticmethod(worker_device.count_workers)
    apply_markers = staticmethod(marked_tests.apply_markers)
    client_given = staticmethod(used_clients.client_given)

    # For fixtures.py
    settings_of = staticmethod(option_values.settings_of)
    lease = staticmethod(fixture_bodies.lease)
    transport = staticmethod(fixture_bodies.transport)
    client = staticmethod(fixture_bodies.client)
    device = staticmethod(fixture_bodies.device)
    check_device = staticmethod(fixture_bodies.check_device)
    client_for_test = staticmethod(fixture_bodies.client_for_test)
    several = staticmethod(spare_devices.several)
    checkpoint = staticmethod(fixture_bodies.checkpoint)
    payload = staticmethod(fixture_bodies.payload)
    artifacts = staticmethod(fixture_bodies.artifacts)
