"""The pages here are run as doctests; what Sphinx alone imports is not."""

collect_ignore_glob = ["conf.py", "_ext/*"]
