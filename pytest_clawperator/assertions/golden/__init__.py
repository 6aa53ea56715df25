"""Golden screens: where the files are, how a screen is compared with one, how it is updated."""
