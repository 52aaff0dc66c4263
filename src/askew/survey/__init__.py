"""The blinded human study: export of pairs, a small local web page, analysis."""
