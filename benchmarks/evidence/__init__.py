"""The parts of benchmarks/evidence_table.py: tasks, methods, the run, its figures, its page."""
