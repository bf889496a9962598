"""The real data of the experiments, by name: read from a directory, from the cache, or from their home.

Not loaded by ``import askone``; ``from askone import datasets`` is what loads it.

>>> list(DATASETS)
['pendigits', 'usps', 'usps-libsvm', 'weather', 'calcofi', 'calcofi-bottle']
>>> print(card("pendigits"))
pendigits
source: Alpaydin and Alimoglu, Pen-Based Recognition of Handwritten Digits, UCI; LIBSVM's copy
licence: CC BY 4.0
...

A data set is one or more files; their rows, one file after the other, are the data, and the first of
them are for training.  Whatever was read is compared with a checksum of its content
(``content_checksum``), so the same name is the same numbers from every place and in every format; the
one exception is "calcofi-bottle", whose card says so.
"""

from askone.datasets._base import Dataset, File, Recipe, content_checksum
from askone.datasets._loading import ENVIRONMENT, card, load
from askone.datasets._registry import DATASETS

__all__ = ["DATASETS", "ENVIRONMENT", "Dataset", "File", "Recipe", "card", "content_checksum", "load"]
