"""WHAT PEOPLE SEE: the page that shows the rack, and what it asks this service for.

``page`` serves the files of the page, ``api`` its data: ``overview`` describes a device,
``watch`` keeps the descriptions up to date while somebody looks, and ``pictures`` has the
screens, taken only when that disturbs nobody.
"""
