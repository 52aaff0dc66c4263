from askew.graphs.topic_edges import *  # noqa
