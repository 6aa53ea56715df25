"""The page of a test: one HTML file that shows its trace, wherever it is opened.

``page`` writes the file, ``contents`` chooses what of a trace is in it, and ``joining`` makes
one script of the modules in ``files/``. Those folders:

- ``base``: elements, themes, durations, filters; the look of all pages;
- ``screen``: the hierarchy of a screen, matchers on it, and differences; no elements;
- ``parts``: custom elements that show a screen, its tree, a node, and a box for matchers;
  they take plain data, also that of a live device;
- ``viewer``: the page of a trace.
"""
