"""Kernel Tuner's strategies by name, and the strategy of evo-tune that replaces each."""

from .errors import NotSupported

EXHAUSTIVE = "exhaustive"

#: The strategy of evo-tune, by Kernel Tuner's name. EXHAUSTIVE times all configurations.
_OURS = {
    "brute_force": EXHAUSTIVE, "random_sample": "random", "genetic_algorithm": "genetic",
    "simulated_annealing": "annealing", "dual_annealing": "annealing",
    "diff_evo": "differential", "mls": "local", "ordered_greedy_mls": "local",
    "greedy_mls": "local", "greedy_ils": "local", "minimize": "local", "basinhopping": "local",
    "pso": "full", "firefly_algorithm": "full", "bayes_opt": "full", "skopt": "full",
    "bayes_opt_alt_tabu": "full", "nsga2": "full", "nsga3": "full", "pyatf_strategies": "full",
    "hybrid_vndx": "full", "adaptive_tabu_greywolf": "full",
}
#: evo-tune's own strategies, which scripts may name too.
_OWN = {"full", "free", "insight", "random", "genetic", "annealing", "differential", "local"}


class Strategy:
    """A strategy that scripts name as kernel_tuner.strategies.NAME."""

    def __init__(self, name):
        self.__name__ = name

    def __repr__(self):
        return self.__name__


KNOWN = {name: Strategy(name) for name in _OURS}


def ours(strategy):
    """The name that the script gives, and the strategy of evo-tune that replaces it. Raises
    NotSupported for an unknown name or another object."""
    if strategy is None:
        return "brute_force", EXHAUSTIVE
    name = strategy.__name__ if isinstance(strategy, Strategy) else strategy
    if not isinstance(name, str):
        raise NotSupported(f"strategy: an object of {type(strategy).__name__} is not supported; "
                           "allowed: names: " + ", ".join(_OURS))
    if name not in _OURS and name not in _OWN:
        raise NotSupported(f"strategy: '{name}' is unknown; allowed: "
                           + ", ".join([*_OURS, *sorted(_OWN)]))
    return name, _OURS.get(name, name)
