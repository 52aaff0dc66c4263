"""The blinded human study (§4.3.4): export of pairs, a small local web page, analysis."""
