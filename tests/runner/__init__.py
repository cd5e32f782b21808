"""Parts of tests/run-tests."""
