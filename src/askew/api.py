"""askew from Python: items, an audit and a run's rows, in a script or a notebook."""
