"""Parts of tests/run."""
