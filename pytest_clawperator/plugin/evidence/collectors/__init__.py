"""The collectors: one module for each kind of evidence; ``evidence/collect.py`` runs them."""
