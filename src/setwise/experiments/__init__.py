"""The paper's evaluation: studies, their work items, a runner that resumes, and what came out."""
