"""Which generation runs: begins, resumes, replaces and retires them."""
