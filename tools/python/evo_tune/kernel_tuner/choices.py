"""Kernel Tuner's arguments that depend on tuned parameters. Each combination of arrays that the
arguments can have gets its own search."""

import collections
from dataclasses import dataclass

import numpy

from . import arguments as given_arguments
from .configurations import Configurations
from .errors import NotSupported
from .restrictions import listed

_TYPES = {"half": numpy.float16, "float": numpy.float32, "double": numpy.float64}


class Tunable(collections.UserDict):
    """An argument for which the configuration selects one of several arrays. `param_key`: the
    parameter whose value is the array's key, or an expression or a function of a configuration that
    gives the key."""

    def __init__(self, param_key, arrays):
        super().__init__(dict(enumerate(arrays)) if isinstance(arrays, (list, tuple)) else arrays)
        self.param_key = param_key

    def select_for_configuration(self, params):
        key = key_in(self, params)
        chosen = self.data[key]
        return chosen.select_for_configuration(params) if is_choice(chosen) else chosen

    __call__ = select_for_configuration


class TunablePrecision(Tunable):
    """An argument whose element type the configuration selects. `dtypes`: a dict from values of the
    parameter to types, or a list of names of types."""

    def __init__(self, param_key, array, dtypes=None):
        if not isinstance(dtypes, dict):
            dtypes = {name: _TYPES.get(name, name) for name in dtypes or _TYPES}
        given = given_arguments.to_numpy(array)
        given = given if isinstance(given, numpy.generic) else numpy.asarray(given)
        super().__init__(param_key, {key: given.astype(one) for key, one in dtypes.items()})


def is_choice(argument):
    return hasattr(argument, "select_for_configuration")


def key_in(choice, params):
    """The key of the array that a configuration chooses. Raises NotSupported if no array has the
    key."""
    named = choice.param_key
    if callable(named):
        key = named(params)
    else:
        key = params[named] if named in params else eval(named, {}, dict(params))
    if key not in choice.data:
        raise NotSupported(f"Tunable('{named}'): has no array for {key!r}; allowed: "
                           + ", ".join(map(repr, choice.data)))
    return key


def chosen(arguments, params):
    """The arguments of one configuration."""
    return [one.select_for_configuration(params) if is_choice(one) else one for one in arguments]


@dataclass
class Part:
    """A search over the configurations that choose the same arrays."""

    arguments: list
    answer: list | None
    restrictions: list | None


def parts(arguments, answer, tune_params, restrictions, block_names):
    """Splits a call of tune_kernel into searches: one search, unless arguments or the answer depend
    on parameters."""
    answers = answer if isinstance(answer, (list, tuple)) else [answer]
    choices = [one for one in [*arguments, *answers] if is_choice(one)]
    if not choices:
        return [Part(arguments, answer, restrictions)]

    def keys_of(configuration):
        return tuple(key_in(one, configuration) for one in choices)

    def that_choose(keys):
        return lambda configuration: keys_of(configuration) == keys

    firsts = {}  # by the keys of the chosen arrays: the first configuration
    for configuration in Configurations(tune_params, restrictions, block_names).all():
        firsts.setdefault(keys_of(configuration), configuration)
    return [Part(chosen(arguments, first), _answer_of(answer, first),
                 [*listed(restrictions), that_choose(keys)])
            for keys, first in firsts.items()]


def _answer_of(answer, configuration):
    if is_choice(answer):
        answer = answer.select_for_configuration(configuration)
    return answer if answer is None else chosen(answer, configuration)
