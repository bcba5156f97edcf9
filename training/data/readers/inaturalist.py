"""Pictures of species with the places where they were taken, decoded when read."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.data.datasets import DataOptions, Dataset, held_out
from training.data.readers.files import data_folder, read_json, required
from training.data.readers.image_files import THREADS, ImageFiles, decodes

SIDE = 224
SHORTER_SIDE = 256
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)[:, None, None]
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)[:, None, None]
CLASSES = 80


def decode(path: str) -> NDArray[np.float32]:
    """Return an image, shape (3, 224, 224).

    Parameters
    ----------
    path : str
        An image file.

    Returns
    -------
    float32 array
        Shorter side resized to 256 pixels, middle 224 x 224 pixels, normalized with ImageNet's mean and deviation.

    Raises
    ------
    InputError
        If the image does not decode.
    """
    try:
        with Image.open(path) as image:
            # JPEG decodes straight to a half, a quarter or an eighth of its size where that is still enough.
            image.draft("RGB", (SHORTER_SIDE, SHORTER_SIDE))
            scale = SHORTER_SIDE / min(image.size)
            width, height = (max(SHORTER_SIDE, round(side * scale)) for side in image.size)
            resized = image.convert("RGB").resize((width, height), Image.Resampling.BILINEAR)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(
            f"image(={path}) must decode; skip_bad = true leaves such images out and counts them."
        ) from error
    left, top = (width - SIDE) // 2, (height - SIDE) // 2
    pixels = np.asarray(resized.crop((left, top, left + SIDE, top + SIDE)), dtype=np.float32)
    return (pixels.transpose(2, 0, 1) / np.float32(255) - MEAN) / DEVIATION


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Pictures:
    """Pictures of both of the competition's lists."""

    names: NDArray[np.str_]
    paths: NDArray[np.str_]
    categories: IntArray
    places: FloatArray


def _read(folder: Path) -> _Pictures:
    """Read the competition's lists: training pictures, then validation pictures."""
    names: list[str] = []
    categories: list[int] = []
    places: list[tuple[float, float]] = []
    for part in ("train2018", "val2018"):
        path = required("inaturalist", folder / f"{part}.json")
        listed = read_json(path)
        place = _spots(required("inaturalist", folder / f"{part}_locations.json"))
        try:
            category = {note["image_id"]: note["category_id"] for note in listed["annotations"]}
            known = {entry["id"] for entry in listed["categories"]}
            for image in listed["images"]:
                if image["id"] not in category:
                    raise InputError(f"image id {image['id']} has no annotation.", source=str(path))
                if category[image["id"]] not in known:
                    rule = "must be one of 'categories'"
                    value = f"category_id(={category[image['id']]}) of image {image['id']}"
                    raise InputError(f"{value} {rule}.", source=str(path))
                names.append(str(image["file_name"]))
                categories.append(category[image["id"]])
                places.append(place.get(image["id"], (np.nan, np.nan)))
        except (KeyError, TypeError) as error:
            raise InputError(
                f"must hold images, annotations and categories as the competition does: {error}.",
                source=str(path),
            ) from error
    if not names:
        raise InputError("must list images, not 0.", source=str(folder))
    return _Pictures(
        names=np.array(names),
        paths=np.array([str(folder / name) for name in names]),
        categories=np.array(categories),
        places=np.array(places).reshape(-1, 2),
    )


def _spots(path: Path) -> dict[Any, tuple[float, float]]:
    """Return latitude and longitude of each picture whose place is known."""
    listed = read_json(path)
    try:
        places = {
            spot["id"]: (float(spot["lat"]), float(spot["lon"]))
            for spot in listed
            if spot["lat"] is not None and spot["lon"] is not None
        }
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"must be a list of id, lat and lon as the competition's: {error}.", source=str(path)
        ) from error
    for image, (latitude, longitude) in places.items():
        # NaN is an unknown place, as null is.
        if abs(latitude) > 90 or np.isinf(longitude):
            place, rule = f"lat(={latitude:g}), lon(={longitude:g})", "must be in [-90, 90] and finite"
            raise InputError(f"{place} of image id {image} {rule}.", source=str(path))
    return places


def inaturalist(options: DataOptions) -> Dataset:
    """Return the 80 species with the most pictures (`full_inaturalist` has all).

    Parameters
    ----------
    options : DataOptions
        Folder of the competition's files. With `skip_bad` every image is decoded once before training.

    Returns
    -------
    Dataset
        Images of the training and the validation list. A tenth of each class, rounded down but at least one of two or
        more, is held out: the same pictures in whatever order the lists name them (`training.data.datasets.held_out`).

    Raises
    ------
    InputError
        If a list is bad or an image is missing or (when it is read) does not decode.

    Notes
    -----
    As in the published code: the 80 most frequent categories of both lists (the first listed among equals), numbered
    by falling frequency, 90 % for training. There the test images are drawn at random per silo and images are cut to
    224 x 224 pixels without resizing; here the split does not depend on the silos.

    References
    ----------
    G. Van Horn et al., "The iNaturalist Species Classification and Detection Dataset", CVPR 2018.
    """
    return _dataset("inaturalist", options, most=CLASSES, every=10)


def full_inaturalist(options: DataOptions) -> Dataset:
    """Return all species (8,142 in the competition), a fifth of each held out; otherwise as `inaturalist`.

    Notes
    -----
    The paper divides full iNaturalist 80 to 20 (its appendix), where the published code's default for the 80 species
    is 90 to 10. A species with one picture has it trained on and is not tested.
    """
    return _dataset("full_inaturalist", options, most=None, every=5)


def inaturalist_classes(options: DataOptions) -> int:
    """Return the number of classes of `inaturalist`, from the lists alone."""
    return len(_most_frequent(_read(data_folder("inaturalist", options)), CLASSES))


def full_inaturalist_classes(options: DataOptions) -> int:
    """Return the number of classes of `full_inaturalist`, from the lists alone."""
    return len(_most_frequent(_read(data_folder("full_inaturalist", options)), None))


def _most_frequent(pictures: _Pictures, most: int | None) -> list[int]:
    """Return the categories with the most pictures, by falling number."""
    return [category for category, _count in Counter(pictures.categories.tolist()).most_common(most)]


def _dataset(name: str, options: DataOptions, *, most: int | None, every: int) -> Dataset:
    """Build the data set of the most frequent categories; one picture in `every` of each is held out."""
    pictures = _read(data_folder(name, options))
    chosen = _most_frequent(pictures, most)
    number = {category: place for place, category in enumerate(chosen)}
    labels = np.array([number.get(category, -1) for category in pictures.categories.tolist()])
    used = np.flatnonzero(labels >= 0)
    usable = partial(decodes, decode) if options.skip_bad and options.decode_all else os.path.isfile
    with ThreadPoolExecutor(THREADS) as pool:
        good = list(pool.map(usable, pictures.paths[used].tolist()))
    if not options.skip_bad and not all(good):
        required(name, Path(pictures.paths[used[good.index(False)]]))
    readable = used[good]
    test = held_out(labels[readable], every=every, names=pictures.names[readable])
    train, held = readable[~test], readable[test]
    return Dataset(
        train_inputs=ImageFiles(paths=pictures.paths[train], decode=decode, sample=(3, SIDE, SIDE)),
        train_labels=labels[train],
        test_inputs=ImageFiles(paths=pictures.paths[held], decode=decode, sample=(3, SIDE, SIDE)),
        test_labels=labels[held],
        classes=len(chosen),
        train_places=pictures.places[train],
        label_names=tuple(str(category) for category in chosen),
        skipped=used.size - readable.size,
        opened=options.skip_bad and options.decode_all,
    )
