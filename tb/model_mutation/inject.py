# SPDX-License-Identifier: Apache-2.0
"""Makes a mutant real in this process: the live function gets the code of its mutated source. No file is written."""

from __future__ import annotations

import ast
import importlib
import sys
from types import CodeType, FunctionType
from typing import Any

from tb.model_mutation.mutants import MODEL, Mutant, functions
from tb.model_mutation.operators import changed


class InjectionError(RuntimeError):
    """The mutant has no live counterpart: the tool has to learn a new way of defining functions."""


def inject(mutant: Mutant) -> None:
    """Apply the change for the rest of this process's life."""
    module = importlib.import_module(mutant.module)
    if not mutant.function:
        _replace_constant(module, mutant.change.before.partition(" = ")[0])
    else:
        function = _live(module, mutant.function)
        function.__code__ = _code(mutant, function.__code__)
    _forget()


def _replace_constant(module: Any, name: str) -> None:
    """One more in the module, and wherever it was imported under its name."""
    old = getattr(module, name)
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").startswith("beatmatch") and getattr(other, name, None) is old:
            setattr(other, name, old + 1)


def _live(module: Any, qualified: str) -> FunctionType:
    """The function object behind properties, class methods and caches."""
    target = module
    for part in qualified.split("."):
        target = target.__dict__[part]
    for wrapper in ("fget", "__func__", "__wrapped__"):
        target = getattr(target, wrapper, target)
    if not isinstance(target, FunctionType):
        raise InjectionError(f"{module.__name__}.{qualified} is not a function but {type(target).__name__}.")
    return target


def _code(mutant: Mutant, old: CodeType) -> CodeType:
    node = changed(functions(mutant.file)[mutant.function], mutant.number)
    node.decorator_list = []
    for name in old.co_freevars:  # a dropped call of super() must not change what the function closes over
        node.body.append(ast.If(ast.Constant(False), [ast.Expr(ast.Name(name, ast.Load()))], []))
    *classes, _ = mutant.function.split(".")
    tree: ast.stmt = node
    for name in reversed(classes):  # the class gives private names and super() their meaning
        tree = ast.ClassDef(name, bases=[], keywords=[], body=[tree], decorator_list=[], type_params=[])
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    whole = ast.fix_missing_locations(ast.Module([future, tree], type_ignores=[]))
    code = compile(whole, str(MODEL / mutant.file), "exec")
    for name in (*classes, node.name):
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
    if code.co_freevars != old.co_freevars:
        raise InjectionError(f"{mutant.function} of {mutant.file} closes over {old.co_freevars}.")
    return code


def _forget() -> None:
    """Empty the caches of the model: they were filled by the right code."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("beatmatch"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
