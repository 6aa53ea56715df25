"""PYTEST: the entry point, and the only folder that knows pytest.

pytest imports this in every project the package is installed in, used or not. It lists
the plugin's parts; a part brings its options, fixtures and hooks with it. None exists
yet: the contract is a library, and a suite that uses it needs no fixture.
"""

from __future__ import annotations

pytest_plugins: tuple[str, ...] = ()
