# SPDX-License-Identifier: Apache-2.0
"""Results of networks from what `NetworkResult.to_dict` gave: to compare them later, or to report them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path

from beatmatch.accounting import Accounting
from beatmatch.config import Config, ConfigError
from beatmatch.memory import MemoryTiming, MemoryTimingError
from beatmatch.networks.errors import ResultError
from beatmatch.networks.result import LayerResult, NetworkResult, Traffic

_KINDS = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "dict": (dict,),
    "tuple[int, ...]": (list,),
    "Accounting | None": (dict, type(None)),
}
"""What JSON holds for each type of field."""


def result_of(data: Mapping, origin: str = "The result") -> NetworkResult:
    """The inverse of `NetworkResult.to_dict`; what is derived is derived again.

    Parameters
    ----------
    data : mapping
    origin : str
        What errors call it, such as the file's name.

    Raises
    ------
    ResultError
        If something is missing, is of another type, or contradicts the rest.
    """
    if not isinstance(data, Mapping):
        raise ResultError(
            f"{origin} is no saved result: it must hold one object, as `beatmatch network --json` writes."
        )
    for name in ("network", "config", "memory", "layers", "traffic"):
        if name not in data:
            raise ResultError(
                f"{origin} is no saved result: it lacks {name!r}; write it with `beatmatch network --json`."
            )
    for name in ("layers", "traffic"):
        if not isinstance(data[name], list):
            raise ResultError(f"{origin}: {name} must be a list.")
    try:
        config = Config.from_dict(data["config"])
    except (ConfigError, TypeError) as error:
        raise ResultError(f"{origin}: the configuration cannot be taken: {error}") from None
    try:
        memory = MemoryTiming.from_dict(data["memory"]).to_dict()
    except (MemoryTimingError, TypeError) as error:
        raise ResultError(f"{origin}: the memory cannot be taken: {error}") from None
    layers = [_layer(item, f"{origin}: layer {number}") for number, item in enumerate(data["layers"])]
    traffic = [_build(Traffic, item, f"{origin}: traffic row {number}") for number, item in enumerate(data["traffic"])]
    values = {**data, "name": data["network"], "config": {}, "memory": {}, "layers": {}, "traffic": {}}
    values = _values(NetworkResult, values, origin, {"Config", "list[LayerResult]", "list[Traffic]"})
    result = NetworkResult(**{**values, "config": config, "memory": memory, "layers": layers, "traffic": traffic})
    now = 0
    for layer in layers:
        if layer.start != now or layer.end < now:
            raise ResultError(
                f"{origin}: layer {layer.name} spans {layer.start} to {layer.end}; it must begin at {now}."
            )
        now = layer.end
    for name in ("cycles", "macs"):
        if name in data and data[name] != getattr(result, name):
            raise ResultError(f"{origin}: {name} is {data[name]!r}, but the layers add up to {getattr(result, name)}.")
    return result


def load(path: str | Path) -> NetworkResult:
    """A result from the file that `beatmatch network --json` wrote.

    Raises
    ------
    ResultError
        If it cannot be read or is no such file.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise ResultError(f"{path} is no JSON file.") from None
    return result_of(data, str(path))


def _layer(item: object, origin: str) -> LayerResult:
    layer = _build(LayerResult, item, origin)
    accounting = None if layer.accounting is None else _build(Accounting, layer.accounting, f"{origin}: accounting")
    if not all(isinstance(size, int) for size in layer.shape):
        raise ResultError(f"{origin}: shape must be integers.")
    return LayerResult(**{**layer.__dict__, "accounting": accounting, "shape": tuple(layer.shape)})


def _build(kind: type, item: object, origin: str):
    if not isinstance(item, Mapping):
        raise ResultError(f"{origin} must be an object.")
    return kind(**_values(kind, item, origin))


def _values(kind: type, item: Mapping, origin: str, unchecked: frozenset[str] | set[str] = frozenset()) -> dict:
    """The fields of a class among the keys of an object, each of its type; what has a default may be missing."""
    found = {}
    for field in fields(kind):
        if field.name not in item:
            if field.default is MISSING and field.default_factory is MISSING:
                raise ResultError(f"{origin} lacks {field.name!r}.")
            continue
        value = item[field.name]
        if field.type not in unchecked and (isinstance(value, bool) or not isinstance(value, _KINDS[field.type])):
            raise ResultError(f"{origin}: {field.name} is {value!r}; it must be of type {field.type}.")
        if isinstance(value, (int, float)) and not 0 <= value < float("inf"):
            raise ResultError(f"{origin}: {field.name} is {value!r}; it must be a number that is not negative.")
        found[field.name] = value
    return found
