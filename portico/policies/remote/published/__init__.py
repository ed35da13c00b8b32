"""Adapters of published models: clients of the servers that their authors or others wrote, faithful in steps, frames, colours and timing.

Each says in its own file what its model reads and writes and what was assumed where nothing is published. No weights and none of their code is here.
Failures are failures: no adapter stops, walks or turns because an answer was missing.
"""
