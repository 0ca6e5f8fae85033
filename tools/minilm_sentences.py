# SPDX-License-Identifier: Apache-2.0
"""Sentences to vectors and back to answers: what stands on either side of an encoder's network, on the host."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CORPUS = Path(__file__).with_name("minilm_corpus.toml")

Feeds = dict[str, np.ndarray]


@dataclass(frozen=True)
class Corpus:
    """Documents, queries by the index of the document that answers them, and sentences for calibration."""

    documents: tuple[str, ...]
    queries: tuple[str, ...]
    answers: tuple[int, ...]
    calibration: tuple[str, ...]

    @classmethod
    def load(cls, path: Path = CORPUS) -> Corpus:
        """The sentences of a file; a query without a document is refused with a KeyError."""
        table = tomllib.loads(path.read_text())
        place = {key: index for index, key in enumerate(table["documents"])}
        queries = table["queries"]
        return cls(
            tuple(table["documents"].values()),
            tuple(queries.values()),
            tuple(place[key] for key in queries),
            tuple(table["calibration"]),
        )


def tokenized(description: str, tokens: int) -> Callable[[str], Feeds]:
    """What makes a network's inputs, int64 [1, tokens], from a sentence, by a tokenizer's own description.

    Masked places repeat the sentence. Its result is not changed by what stands there, but ranges are: tokens of padding
    have scores four times as large as those of words, which would cost every score two bits of int8.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(description)
    tokenizer.enable_truncation(tokens)
    tokenizer.no_padding()

    def feeds(sentence: str) -> Feeds:
        return filled(tokenizer.encode(sentence).ids, tokens)

    return feeds


def filled(ids: list[int], tokens: int) -> Feeds:
    """A sentence's tokens, again and again up to the network's length, and the mask of the first time."""
    mask = np.arange(tokens) < len(ids)
    return {"ids": np.resize(np.array(ids, np.int64), (1, tokens)), "mask": mask.astype(np.int64)[None]}


def pooled(hidden: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The mean over the tokens that count, of length 1.

    Parameters
    ----------
    hidden : ndarray
        float [1, tokens, width].
    mask : ndarray
        int [1, tokens]; 0 for padding.

    Returns
    -------
    ndarray
        float64 [width].
    """
    mean = mask[0] @ hidden[0].astype(np.float64) / mask.sum()
    return mean / np.linalg.norm(mean)


def embedded(run: Callable[[Feeds], np.ndarray], feeds: Iterable[Feeds]) -> np.ndarray:
    """A row of length 1 for each sentence, from a function that runs the network."""
    return np.stack([pooled(run(each), each["mask"]) for each in feeds])


@dataclass(frozen=True)
class Retrieval:
    """Answers to queries.

    Parameters
    ----------
    best : ndarray
        int [queries]: the document with the largest cosine.
    margins : ndarray
        float [queries]: how far the second is behind.
    """

    best: np.ndarray
    margins: np.ndarray


def retrieved(queries: np.ndarray, documents: np.ndarray) -> Retrieval:
    """The best document of each query, from rows of length 1."""
    cosines = queries @ documents.T
    order = np.sort(cosines, axis=1)
    return Retrieval(cosines.argmax(axis=1), order[:, -1] - order[:, -2])
