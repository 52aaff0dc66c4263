from askew.graphs.starter_topics import *  # noqa
