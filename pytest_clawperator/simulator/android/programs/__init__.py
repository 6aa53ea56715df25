"""Commands that are programs of their own: getprop, ps, screencap, uiautomator and the like."""
