"""Policies behind a wire: clients of model servers, Portico's own and those of published models.

Each converts once, on its side of the wire, between the contract of ``portico.interface`` and what its server speaks.
"""
