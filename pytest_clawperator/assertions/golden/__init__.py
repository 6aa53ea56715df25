"""Golden screens: where they are kept, and how a screen is compared with one."""
