"""Reports: what a batch made, on one page to choose from.

`gather` reads the results, `figures` works out what is drawn, `plots` draws, `page` writes it down.
"""
