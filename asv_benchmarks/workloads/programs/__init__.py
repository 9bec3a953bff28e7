"""Whole programs, as people write them, in the order of the tables."""

from . import bodies, chance, fields, graphs, learning, sequences
from .base import Program, of_squares

__all__ = ["PROGRAMS", "Program", "of_squares"]

PROGRAMS: dict[str, Program] = {
    program.name: program
    for family in (learning, sequences, chance, fields, bodies, graphs)
    for program in family.PROGRAMS
}
