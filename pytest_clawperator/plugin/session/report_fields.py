"""What the plugin adds to reports: attributes and properties that travel from workers, too."""

from __future__ import annotations

#: Property of a test: the serial of the device it ran on.
DEVICE_PROPERTY = "clawperator_device"
#: Property of a test: the label of its class in a matrix.
CLASS_PROPERTY = "clawperator_class"
#: Property of a test: the page of its trace.
TRACE_PROPERTY = "clawperator_trace"

#: Attribute: the failure is the device's and not the test's; its value is the serial, or True.
INFRASTRUCTURE = "clawperator_infrastructure"
#: Attribute: the serial of a device that was put aside.
PUT_ASIDE = "clawperator_put_aside"
#: Attribute: the run does not have the device, which is not the device's fault.
LEASE_PROBLEM = "clawperator_lease"

#: Attribute: the cause that the failure shares with those of other tests.
SHARED_FAILURE = "clawperator_shared_failure"

#: Attributes: where the evidence of the test is, what crashed meanwhile, whether a phase failed.
EVIDENCE_FOLDER, CRASHES, HAS_FAILED = (
    "clawperator_folder",
    "clawperator_crashes",
    "clawperator_has_failed",
)
#: Attribute: the slowest actions of the test, as seconds and words.
SLOWEST = "clawperator_slowest"
#: Attributes: notices about devices, and by their serials the lines that describe the used ones.
NOTICES, USED_DEVICES = "clawperator_notices", "clawperator_used"
#: Attributes: why a phase did not pass, as code and message; the markers of the test; and by
#: their serials what the devices are that no earlier report of this process told of.
ERROR, MARKERS, DEVICE_FACTS = "clawperator_error", "clawperator_markers", "clawperator_facts"
