"""A film of the screen."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from pytest_clawperator.simulator.picture.film import Frame, film, unfinished_film
from pytest_clawperator.simulator.picture.render import black_frame, encode_frame
from tests.doubles.simulator.films import boxes, is_whole, shown


def opened(frame: bytes) -> Image.Image:
    """Read a frame back."""
    image = Image.open(io.BytesIO(frame))
    assert image.format == "JPEG"
    return image


def light_at(image: Image.Image, x: int, y: int) -> bool:
    """Whether a point is white rather than black."""
    value = image.convert("L").getpixel((x, y))
    assert isinstance(value, int)
    return value > 127


@pytest.mark.parametrize("size", [(40, 80), (80, 160), (30, 60), (31, 62), (160, 320)])
def test_a_picture_of_the_frames_shape_fills_it(size: tuple[int, int]) -> None:
    """A picture of the frame's shape fills it, smaller or larger."""
    image = opened(encode_frame(Image.new("RGB", (80, 160), "white"), size))

    assert image.size == size
    assert light_at(image, 1, 1)
    assert light_at(image, size[0] - 2, size[1] - 2)


def test_a_picture_of_another_shape_lies_in_the_middle() -> None:
    """A picture of another shape lies in the middle, with black around it."""
    image = opened(encode_frame(Image.new("RGB", (160, 80), "white"), (80, 160)))

    assert image.size == (80, 160)
    assert [light_at(image, 40, y) for y in (10, 80, 150)] == [False, True, False]


def test_the_frame_of_a_screen_that_is_off_is_black() -> None:
    """Every pixel is black."""
    image = opened(black_frame((40, 80)))

    assert (image.size, light_at(image, 20, 40)) == ((40, 80), False)


FRAMES = [Frame(b"first", 40), Frame(b"second one", 1500), Frame(b"3", 1)]


def test_each_frame_lies_and_lasts_as_the_tables_say() -> None:
    """Each frame is where the tables have it, and shows for its duration."""
    read = shown(film(FRAMES, size=(54, 120)))

    assert read.frames == [b"first", b"second one", b"3"]
    assert read.durations == [40, 1500, 1]
    assert read.size == (54, 120)


def test_movie_track_and_media_last_as_long_as_the_frames() -> None:
    """The movie, its track and its media last as long as their frames together."""
    moov = dict(boxes(film(FRAMES, size=(54, 120))))["moov"]
    movie = dict(boxes(moov))
    track = dict(boxes(movie["trak"]))
    media = dict(boxes(track["mdia"]))

    assert struct.unpack(">2I", movie["mvhd"][12:20]) == (1000, 1541)
    assert struct.unpack(">I", track["tkhd"][20:24]) == (1541,)
    assert struct.unpack(">2I", media["mdhd"][12:20]) == (1000, 1541)
    assert (len(movie["mvhd"]), len(track["tkhd"]), len(media["mdhd"])) == (100, 84, 24)


def test_the_frames_are_declared_as_jpeg() -> None:
    """The frames are declared as JPEG, in a descriptor that is as long as it says."""
    data = film(FRAMES, size=(54, 120))

    esds = data[data.index(b"esds") - 4 :]
    esds = esds[8 : struct.unpack(">I", esds[:4])[0]]
    tag, length, _, _, decoder, _, kind = struct.unpack(">BBHBBBB", esds[4:12])
    assert (tag, length, decoder, kind) == (3, len(esds) - 6, 4, 0x6C)


def test_an_unfinished_film_cannot_be_played() -> None:
    """Before it is finished there is a file, but not one that can be played."""
    data = unfinished_film()

    assert [name for name, _ in boxes(data)] == ["ftyp", "mdat"]
    assert not is_whole(data)
