"""The rooms behind the gate: their parts, and what the front asks of them."""

from __future__ import annotations

from types import ModuleType

from pytest_clawperator.plugin import (
    allure_files,
    candidates,
    clients,
    device_needs,
    distribution,
    examining,
    executions_only,
    failures,
    goldens,
    hidden_characters,
    hiding,
    ladder,
    late_closing,
    marker_values,
    matrix,
    pausing,
    recorder,
    reports,
    run,
    run_index,
    settings,
    shared_failures,
    skill_tests,
    soft,
    summary,
    terminal,
    tracing,
    validating,
    worker_device,
)


class Rooms:
    """What the front asks of the rooms; ``gate.py`` returns this class."""

    #: The parts, in the order in which they are registered.
    parts: tuple[ModuleType, ...] = (
        run,
        clients,
        tracing,
        late_closing,
        marker_values,
        goldens,
        hidden_characters,
        soft,
        executions_only,
        candidates,
        worker_device,
        distribution,
        matrix,
        device_needs,
        validating,
        skill_tests,
        examining,
        reports,
        shared_failures,
        recorder,
        failures,
        pausing,
        run_index,
        allure_files,
        summary,
        terminal,
        hiding,
    )

    # For usage.py
    check_options = staticmethod(settings.refuse_options_without_effect)
    count_workers = staticmethod(worker_device.count_workers)
    apply_markers = staticmethod(marker_values.apply_markers)
    client_given = staticmethod(clients.client_given)

    # For fixtures.py
    settings_of = staticmethod(settings.settings_of)
    lease = staticmethod(ladder.lease)
    transport = staticmethod(ladder.transport)
    client = staticmethod(ladder.client)
    device = staticmethod(ladder.device)
    check_device = staticmethod(ladder.check_device)
    client_for_test = staticmethod(ladder.client_for_test)
    several = staticmethod(ladder.several)
    checkpoint = staticmethod(ladder.checkpoint)
    payload = staticmethod(ladder.payload)
    artifacts = staticmethod(ladder.artifacts)
