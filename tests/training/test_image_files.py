"""Image files as inputs: decoded once where all of them fit into memory, else whenever they are read."""

from collections import Counter

import numpy as np
import pytest

from training.data.readers.image_files import KEPT_BYTES, ImageFiles

SMALL = (1, 2, 3)
LARGE = (3, 512, 1024)
FULL = KEPT_BYTES // (4 * 3 * 512 * 1024)
"""How many large images take all the memory there is for them."""


def pixels(path, sample):
    return np.full(sample, float(path), dtype=np.float32)


@pytest.fixture
def files():
    """Return a function that makes image files, each of which has its number at all pixels; and what was decoded."""
    decoded = Counter()

    def make(count, sample):
        def decode(path):
            decoded[path] += 1
            return pixels(path, sample)

        return ImageFiles(paths=np.array([str(i) for i in range(count)]), decode=decode, sample=sample)

    return make, decoded


@pytest.mark.parametrize(
    "index",
    [
        np.array([3, 1]),
        np.array([2, 2, 0]),
        np.array([], dtype=np.int64),
        slice(1, 4),
        slice(None),
        slice(None, None, -2),
        np.array([True, False, False, True, True]),
    ],
)
def test_an_index_gives_the_images_it_gives_of_an_array(files, index):
    make, _ = files
    images = make(5, SMALL)
    array = np.stack([pixels(str(i), SMALL) for i in range(5)])
    images[np.array([1, 4])]
    for _ in range(2):
        batch = images[index]
        assert batch.dtype == np.float32
        np.testing.assert_array_equal(batch, array[index])


def test_small_images_are_all_decoded_when_one_is_read(files):
    make, decoded = files
    images = make(6, SMALL)
    assert (images.shape, len(images), images.nbytes) == ((6, *SMALL), 6, 6 * 4 * 6)
    assert not decoded
    for index in (np.array([4, 1]), slice(0, 5), np.array([4, 3])):
        images[index]
        assert decoded == {str(i): 1 for i in range(6)}


def test_a_batch_is_the_reader_s_own(files):
    make, _ = files
    images = make(3, SMALL)
    for index in (np.array([0, 1]), slice(0, 2)):
        images[index][:] = -1
        np.testing.assert_array_equal(images[index][:, 0, 0, 0], [0, 1])


@pytest.mark.parametrize(("count", "kept"), [(FULL, FULL), (FULL + 1, 0)])
def test_images_are_kept_where_all_of_them_fit(files, count, kept):
    make, decoded = files
    images = make(count, LARGE)
    assert images.nbytes == kept * 4 * 3 * 512 * 1024
    for _ in range(2):
        np.testing.assert_array_equal(images[np.array([7, 2])][:, 2, 511, 1023], [7, 2])
    assert decoded == ({str(i): 1 for i in range(FULL)} if kept else {"7": 2, "2": 2})


def test_an_image_that_does_not_decode_is_an_error_each_time(files):
    make, _ = files
    images = ImageFiles(paths=np.array(["0", "none"]), decode=make(2, SMALL).decode, sample=SMALL)
    for _ in range(2):
        with pytest.raises(ValueError, match="none"):
            images[0:1]


def test_no_images(files):
    make, decoded = files
    images = make(0, SMALL)
    assert images[:].shape == (0, *SMALL)
    assert images.nbytes == 0
    assert not decoded
