"""A film of the screen."""

from __future__ import annotations

import struct

from pytest_clawperator.simulator.picture.film import Frame, film, unfinished_film
from tests.doubles.simulator.films import boxes, is_whole, shown

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
