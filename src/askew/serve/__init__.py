"""Reports over loopback: runs that are too large for one page, and the runs of a folder."""
