"""The data sets that askone knows: recipes by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from askone._common.types import Array
from askone.datasets._base import File, Names, Recipe
from askone.datasets._formats import from_csv, from_label_first, from_libsvm

_SIDE = 16


def blurred(X: Array) -> Array:
    """Return the zip data as LIBSVM's page has them: each 16 x 16 image blurred by a Gaussian of .75 pixels.

    It is cut off at three pixels, and outside the image lies background (-1); the result has six digits.

    >>> empty = -np.ones((1, 256))
    >>> bool((blurred(empty) == empty).all())
    True
    """
    weights = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 0.75**2))
    weights /= weights.sum()
    bands = [weight * np.eye(_SIDE, k=shift) for shift, weight in enumerate(weights, -3)]
    K: Array = np.sum(bands, axis=0)
    ink = X.reshape(-1, _SIDE, _SIDE) + 1
    soft: Array = K @ ink @ K.T - 1
    return soft.reshape(X.shape).round(6)


def _numbered(columns: int) -> Names:
    return tuple(f"x{column:03d}" for column in range(columns))


_USPS = Recipe(
    home="https://hastie.su.domains/ElemStatLearn/datasets/",
    files=(
        File("zip.train.gz", "usps-train.parquet", "5ec433502c488b0d40cbd6f5d5d29b0272ab6a7bcd46b0cbe9e634aa393f5994"),
        File("zip.test.gz", "usps-test.parquet", "1015ee532045e46218f2b66634fea2432c147a1be2cd668e11d41a0421b3447e"),
    ),
    parse=from_label_first,
    feature_names=_numbered(256),
    classes=tuple(range(10)),
    training=7291,
    source="Le Cun et al. (1990), ZIP code digits of the US Postal Service; The Elements of Statistical Learning",
    licence="no explicit licence",
    split="the source's: 7291 rows to train, 2007 to test",
    rows=9298,
    notes=(
        "inputs are the grey values, -1 to 1, of 16 x 16 images, row after row",
        "not the numbers of LIBSVM's usps, which is a blurred copy: see usps-libsvm",
    ),
)
_SZEGED = "https://www.kaggle.com/datasets/budincsevity/szeged-weather"
_SZEGED_SHA256 = "22c028ceb97c6ad405831dfda61f0235532d9ab873229ff57ce4240853ef0a1f"
_BOTTLES = "https://calcofi.org/data/oceanographic-data/bottle-database/"
_CALCOFI4R = "https://github.com/CalCOFI/calcofi4r"

DATASETS: dict[str, Recipe] = {
    "pendigits": Recipe(
        home="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/",
        files=(
            File(
                "pendigits",
                "pendigits-train.parquet",
                content="e2851ec4a4ebcb04a986c76dd6f50b7f5cb0e1660e892d1ccc5e246fcba6b99b",
                sha256="f3823d204ed5a3e9088267b4e141aac32503b8f2eb18c3469ad1212235db5ee6",
            ),
            File(
                "pendigits.t",
                "pendigits-test.parquet",
                content="6ef25ca65c65e3b595c995d927eb4657e68300ffd5f794018f1f64e96e00a393",
                sha256="8a5f65e742447d6b6d77d4e0cf70714f75d2801966ebfe492d7ffaf24acd9d9f",
            ),
        ),
        parse=from_libsvm,
        feature_names=_numbered(16),
        classes=tuple(range(10)),
        training=7494,
        source="Alpaydin and Alimoglu, Pen-Based Recognition of Handwritten Digits, UCI; LIBSVM's copy",
        licence="CC BY 4.0",
        split="the source's: 7494 rows by 30 writers to train, 3498 by 14 others to test",
        rows=10992,
        notes=("inputs are whole numbers from 0 to 100: eight points of the pen's path, x and y in turn",),
    ),
    "usps": _USPS,
    "usps-libsvm": replace(
        _USPS,
        source="Le Cun et al. (1990), ZIP code digits of the US Postal Service, blurred as in LIBSVM's copy",
        transform=blurred,
        notes=(
            "made from the files of usps: LIBSVM's usps is those images blurred (Gaussian, .75 pixels); on the "
            "test rows this agrees with LIBSVM's usps.t within 1e-6, the last digit that it has",
            "labels are the digits 0 to 9; LIBSVM's file has 1 to 10, the digit plus one (10 is a nine)",
        ),
    ),
    "weather": Recipe(
        home=_SZEGED,
        files=(
            File(
                "weatherHistory.csv",
                "weather.parquet",
                content="e82858af53c8c3d2cd1179c45650fa4f65f786b17de75d478e53ae4a7e3c4db0",
                sha256=_SZEGED_SHA256,
            ),
        ),
        parse=from_csv,
        feature_names=(
            "Temperature (C)",
            "Humidity",
            "Wind Speed (km/h)",
            "Wind Bearing (degrees)",
            "Visibility (km)",
            "Pressure (millibars)",
        ),
        classes=None,
        training=70_000,
        source="weather in Szeged, Hungary, 2006-2016, by the Dark Sky API; Kaggle budincsevity/szeged-weather",
        licence="CC BY-NC-SA 4.0: not for commercial use, and not part of askone",
        split="none of the source's; the paper's: in file order, the first 70000 rows to train, the last 26453 to test",
        rows=96_453,
        target_names=("Apparent Temperature (C)",),
        by_hand=f"weatherHistory.csv is on {_SZEGED}, behind a login (16,294,377 bytes, sha256 {_SZEGED_SHA256})",
        notes=(
            "the real temperature is one of the inputs, as in the paper, whose baseline predicts it",
            "file order is by year, with months shuffled inside a year (451 steps back in time): what the paper calls "
            "chronological is file order; the date is not an input",
            "missing values are coded as 0 and kept, as in the paper: 1288 rows with pressure 0, 22 with humidity 0",
            "copies that a spreadsheet saved are rounded, and are refused",
            "the paper says 96,454 summaries; the file has 96,453 rows",
        ),
    ),
    "calcofi": Recipe(
        home=_CALCOFI4R,
        files=(
            File(
                "calcofi.csv",
                "calcofi.parquet",
                content="8fc843f6830c17bf1013aa9234473fb7f6f43b31a512a5c59a9209c2370cdaae",
            ),
        ),
        parse=from_csv,
        feature_names=("depth_m", "t_degc", "salinity", "sva_derived", "dynht_derived"),
        classes=None,
        training=500_000,
        source="CalCOFI bottle database 1949-2020 via calcofi4r (cc_bottle), SVA and dynamic height recomputed",
        licence="CC BY 4.0",
        split="none of the source's; by date, the first 500000 rows to train as in the paper, the other 174217 to test",
        rows=674_217,
        target_names=("o2sat",),
        complete=True,
        by_hand=f"it is a table made from cc_bottle of the R package calcofi4r, {_CALCOFI4R}, and no file that can be "
        'fetched; the bottle database itself is the data set "calcofi-bottle"',
        notes=(
            "not Kaggle's bottle.csv, which the paper's script reads (655,140 complete rows): call results on it "
            "'CalCOFI bottle database via calcofi4r, SVA and dynamic height recomputed'",
            "851,493 rows sorted by date, longitude, latitude and depth; only those that lack none of the six numbers "
            "are kept",
            "sva_derived (specific volume anomaly) and dynht_derived (dynamic height) were recomputed by "
            "EOS-80; they are not the database's",
            "one output, oxygen saturation in percent: there is no dissolved oxygen, the paper's second output",
        ),
    ),
    "calcofi-bottle": Recipe(
        home=_BOTTLES,
        files=(File("bottle.csv", "bottle.parquet", content=None),),
        parse=from_csv,
        feature_names=("R_Depth", "R_TEMP", "R_SALINITY", "R_SVA", "R_DYNHT"),
        classes=None,
        training=500_000,
        source="CalCOFI bottle database, as in Kaggle sohier/calcofi (bottle.csv), which the paper's script reads",
        licence="CC BY 4.0",
        split="none of the source's; the paper's: in file order, the first 500000 complete rows to train, the others "
        "to test",
        target_names=("R_O2", "R_O2Sat"),
        complete=True,
        by_hand="bottle.csv is on https://www.kaggle.com/datasets/sohier/calcofi, behind a login; other releases are "
        f"on {_BOTTLES}: save the bottle table as bottle.csv",
        notes=(
            "releases differ, also in the names of columns; any that has these seven is accepted, without a checksum: "
            "compare content_checksum(data.X, data.y) where it matters. The paper counts 655,140 complete rows",
            "only rows that lack none of the seven numbers are kept",
            "two outputs, dissolved oxygen (ml/l) and its saturation (percent), as in the paper; its published script "
            "has the second one only",
            'another file than that of the data set "calcofi", with other rows and other columns',
        ),
    ),
}
