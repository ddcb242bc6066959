"""tune_kernel and run_kernel: Kernel Tuner's interface, implemented by evo-tune's programs."""

import itertools
import math
import time

from .. import programs
from ..errors import Error
from . import arguments as given_arguments
from . import choices
from . import observers as observing
from . import results as outcomes
from . import strategies
from .accuracy import AccuracyObserver
from .configurations import Configurations, text_of
from .errors import NotSupported, RuntimeFailedConfig
from .launch import block_names
from .problem import NAME, Judgement
from .setup import MOST_DEFAULTS, Folder, Setup
from .verify import VerifyServer

_CHILDREN = 8  # candidates per generation of evo-tune
_DEFAULT_EVALUATIONS = 160  # 20 generations, if the script gives no limit
_MOST_GENERATIONS = 1000000  # the time limit ends the search
_MANY = 20000  # above this number of combinations, prints a note, because the search takes hours
#: Texts in the errors about a configuration that cannot be the reference.
_BAD_REFERENCE = ("the reference does not pass", "reference: on shape")
#: The text in the error about a reference whose output is the same for all elements or inputs.
_DEGENERATE = 'set "degenerate": true'


def run_kernel(kernel_name, kernel_source, problem_size, arguments, params, grid_div_x=None,
               grid_div_y=None, grid_div_z=None, lang=None, device=0, platform=0, smem_args=None,
               cmem_args=None, texmem_args=None, compiler=None, compiler_options=None,
               defines=None, block_size_names=None, quiet=False, log=None):
    """Launches a kernel once, in one configuration. Returns the arguments after the launch as NumPy
    arrays, and also copies the outputs into arguments on a GPU."""
    del platform, compiler, log, quiet
    arguments = choices.chosen(arguments, params)
    setup = Setup(kernel_name, kernel_source, problem_size, arguments,
                  {name: [value] for name, value in params.items()} or {"kt_none": [0]},
                  (grid_div_x, grid_div_y, grid_div_z), None, lang, smem_args, cmem_args,
                  texmem_args, compiler_options, defines, block_size_names)
    with Folder() as folder:
        setup.write(folder, Judgement(None, 0, None, setup.values))
        setup.problem.write_space(setup.default,
                                  [setup.default] if setup.configurations.columns else None)
        left = setup.launch(folder, programs.choose_device(device))
    for position in setup.problem.written:
        given_arguments.write_back(arguments[position], left[position])
    return left


def tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None,
                grid_div_y=None, grid_div_z=None, restrictions=None, answer=None, atol=1e-6,
                verify=None, verbose=False, lang=None, device=0, platform=0, smem_args=None,
                cmem_args=None, texmem_args=None, compiler=None, compiler_options=None,
                defines=None, log=None, iterations=7, block_size_names=None, quiet=False,
                strategy=None, strategy_options=None, cache=None, metrics=None,
                simulation_mode=False, parallel=None, observers=None, objective=None,
                objective_higher_is_better=None, objectives=None, seed=None, parallel_runner=None):
    """Tunes a kernel with Kernel Tuner's arguments; docs/python.md explains their translation.

    Returns the correct configurations, each a dict with "time" in ms, and the environment.
    """
    del platform, compiler, log, parallel, parallel_runner, verbose
    started = time.perf_counter()
    observing.require_known(observers)
    asked, ours = strategies.ours(strategy)
    if objectives is not None and not isinstance(objectives, dict):
        raise TypeError("objectives: allowed: a dict of names and whether more is better")
    aim = None if objectives else outcomes.objective_of(objective, objective_higher_is_better)
    if simulation_mode:
        return _simulated(kernel_name, tune_params, restrictions, block_size_names, cache, asked,
                          metrics, aim, objectives, quiet)
    names = block_names(block_size_names)
    parts = choices.parts(arguments, answer, tune_params, restrictions, names)
    search = _Search(ours, strategy_options or {}, seed, programs.choose_device(device), quiet,
                     list(observers or []), len(parts))
    if search.observes_accuracy and answer is None:
        raise TypeError("AccuracyObserver: needs an answer: allowed: a list of expected outputs")
    notes = _notes(asked, ours, strategy, iterations)
    size = Configurations(tune_params, None, names).size
    if ours == strategies.EXHAUSTIVE and size > _MANY and not strategy_options:
        notes.append(f"all configurations that the restrictions allow are timed (of {size} "
                     "combinations); a strategy, or the options --strategy and --max-seconds of "
                     "python -m evo_tune run, end sooner")
    if not quiet:
        for note in notes:
            programs.say(note)
    found, failed, environment = [], [], {}
    for part in parts:
        setup = Setup(kernel_name, kernel_source, problem_size, part.arguments, tune_params,
                      (grid_div_x, grid_div_y, grid_div_z), part.restrictions, lang, smem_args,
                      cmem_args, texmem_args, compiler_options, defines, block_size_names)
        judged = Judgement(part.answer, 1e-6 if atol is None else atol, verify, setup.values,
                           search.observes_accuracy)
        store = outcomes.CacheFile(cache, kernel_name, setup.configurations) if cache else None
        results, failures, environment = _run(setup, judged, search, store, atol)
        outcomes.add_metrics(results, metrics)
        if store is not None:
            store.write(results, failures, environment.get("device", ""), problem_size)
        found += results
        failed += failures
    if answer is None and not quiet:
        _say_what_differs(found, failed)
    environment = {"device_name": environment.get("device", ""), "evo_tune": environment,
                   "failed": failed, **outcomes.totals(found),
                   "overhead_time": (time.perf_counter() - started) * 1000}
    _finish(found, failed, environment, aim, objectives, list(tune_params), metrics, quiet)
    return found, environment


class _Search:
    """The settings of all searches of a call of tune_kernel. The searches get equal fractions of
    the call's limits (max_fevals, time_limit), but at least 1 each."""

    def __init__(self, strategy, options, seed, device, quiet, observers, searches):
        self.strategy = strategy
        self.options = {**options, **{name: max(1, options[name] / searches)
                                      for name in ("max_fevals", "time_limit") if name in options}}
        self.seed = seed
        self.device = device
        self.quiet = quiet
        self.observers = observers
        self.observes_accuracy = any(isinstance(one, AccuracyObserver) for one in observers)

    def program(self):
        """The name of the program that searches (evo-tune or evo-record), and its arguments."""
        common = ["--space", f"search_spaces/{NAME}.json", "--device", self.device, "--db",
                  "run.db", "--allow-programs"]
        if self.quiet:
            common.append("--quiet")
        if self.seed is not None:
            common += ["--seed", str(int(self.seed))]
        evaluations = self.options.get("max_fevals")
        if "time_limit" in self.options:
            common += ["--max-seconds", str(self.options["time_limit"])]
        elif evaluations is None and self.strategy != strategies.EXHAUSTIVE:
            evaluations = _DEFAULT_EVALUATIONS
        if self.strategy in (strategies.EXHAUSTIVE, "random"):
            return "evo-record", common + ["--count", str(math.ceil(evaluations or 0) or "all"),
                                           "--kernel-tuner-cache", "cache.json"]
        generations = math.ceil(evaluations / _CHILDREN) if evaluations else _MOST_GENERATIONS
        return "evo-tune", common + ["--strategy", self.strategy, "--generations",
                                     str(generations), "--explain", "none", "--interpret", "none"]


def _run(setup, judged, search, store, atol):
    """Writes problem and space, runs the search and reads its results."""
    known, keys = [], []
    if store is not None:
        store.require_device(search.device, programs.gpu_name(search.device))
        known, keys = store.known()
    with Folder() as folder:
        server = None
        if judged.verify is not None:
            shapes = [(value.shape, value.dtype) if given_arguments.is_array(value) else None
                      for value in setup.values]
            names = []
            server = VerifyServer(folder, judged, atol, names, shapes)
            judged.program = server.program
        try:
            setup.write(folder, judged)
            if server is not None:
                names += setup.problem.names
                server.write(setup.problem.problem_folder)
            rows = None
            if keys or setup.configurations.needs_table():
                rows = setup.configurations.rows(without=keys)
                if not rows:
                    return known, [], {"device": store.device_name, "from": "cache"}
            found, failed, environment = _with_a_default(
                setup, judged, rows, search.quiet, lambda: _search(folder, setup, judged, search))
        finally:
            if server is not None:
                server.close()
    if store is not None:
        store.require_device(search.device, environment.get("device"))
    return known + found, failed, environment


def _with_any_output(setup, judged, work):
    """Calls `work`. If evo-tune refuses a reference whose output is the same for all elements or
    inputs, allows such outputs and calls `work` again."""
    try:
        return work()
    except Error as error:
        if judged.has_answer or _DEGENERATE not in str(error):
            raise
        programs.say(str(error).split("problem.json: ")[-1].split(", so a wrong kernel")[0]
                     + ": kernels that compute nothing may pass; give an answer")
    setup.problem.allow_degenerate()
    return work()


def _with_a_default(setup, judged, rows, quiet, work):
    """Searches with the first configuration that can serve as the reference. Raises the last Error
    if none of MOST_DEFAULTS configurations can."""
    after = itertools.dropwhile(lambda one: one != setup.default, setup.configurations.all())
    for default in itertools.islice(after, MOST_DEFAULTS):
        if not (judged.has_answer or quiet):
            programs.say("no answer is given: the configuration " + text_of(default) +
                         " is the reference; an error in all configurations is not found")
        setup.problem.write_space(default, rows)
        try:
            return _with_any_output(setup, judged, work)
        except Error as error:
            if judged.has_answer or not any(sign in str(error) for sign in _BAD_REFERENCE):
                raise
            programs.say(f"{text_of(default)} cannot be the reference, the next configuration is "
                         "tried: " + str(error).splitlines()[0])
            failure = error
    raise failure


def _search(folder, setup, judged, search):
    for database in folder.glob("run.db*"):  # the database of a search whose reference was refused
        database.unlink()
    program, options = search.program()
    done = programs.run(program, options, folder, search.quiet)
    if program == "evo-tune":
        programs.run("evo-export", ["--db", "run.db", "--run", "1", "--kernel-tuner-cache",
                                    "cache.json"], folder)
    del done
    found, failed, environment, entries = outcomes.from_cache_file(folder / "cache.json",
                                                                   setup.configurations)
    kernels = observing.Judged(folder, search.device, list(zip(found, entries)), setup,
                               judged.answer)
    for observer in search.observers:
        observer.observe(kernels)
    kernels.finish()
    return found, failed, environment


def _notes(asked, ours, strategy, iterations):
    notes = []
    if asked != ours and strategy is not None:
        notes.append(f"strategy {asked}: evo-tune's strategy '{ours}' replaces it")
    if iterations != 7:
        notes.append(f"iterations={iterations} is not used: each kernel is timed until its median "
                     "is known well enough (docs/measuring.md)")
    return notes


def _say_what_differs(found, failed):
    wrong = sum(one["time"] == RuntimeFailedConfig.__name__ for one in failed)
    if wrong > len(found):
        programs.say(f"{wrong} configurations fail or give another result than the reference; "
                     "if other results are right, too, give an answer and a verify function that "
                     "accepts them")


def _finish(found, failed, environment, aim, objectives, names, metrics, quiet):
    if not found:
        reasons = {one["reason"] for one in failed if one["reason"]}
        programs.say(f"no configuration is correct; {len(failed)} failed"
                     + ": " + "; ".join(sorted(reasons)[:3]) if failed else
                     "no results: the time limit ended the search before the first result; raise "
                     "the time limit")
        return
    keys = names + list(metrics or {})
    if objectives:
        environment["best_config"] = outcomes.pareto_front(found, objectives)
        keys += list(objectives)
        best = environment["best_config"]
    else:
        environment["best_config"] = outcomes.best_of(found, *aim)
        keys.append(aim[0])
        best = [environment["best_config"]]
    if quiet:
        return
    kind = environment["evo_tune"].get("time_kind", "")
    print("best performing configuration"
          + (" (times are PREDICTED, nothing was measured)" if kind == "predicted" else "") + ":")
    for one in best:
        print("  " + outcomes.config_text(one, keys, {"time": "ms"}))


def _simulated(kernel_name, tune_params, restrictions, block_size_names, cache, asked, metrics,
               aim, objectives, quiet):
    if not cache:
        raise TypeError("simulation_mode: needs a cache file")
    if asked != "brute_force":
        raise NotSupported(f"simulation_mode: strategy '{asked}' is not supported; allowed: "
                           "brute_force. evo-replay judges strategies on recorded spaces")
    configurations = Configurations(tune_params, restrictions,
                                    block_names(block_size_names))
    store = outcomes.CacheFile(cache, kernel_name, configurations)
    found, keys = store.known()
    missing = sum(1 for _ in configurations.all()) - len(keys)
    if missing > 0:
        raise NotSupported(f"simulation_mode: {store.path} lacks {missing} configurations")
    outcomes.add_metrics(found, metrics)
    environment = {"device_name": store.device_name, "evo_tune": {"from": str(store.path)},
                   "failed": [],
                   **outcomes.totals(found), "simulated_time": 0}
    _finish(found, [], environment, aim, objectives, list(tune_params), metrics, quiet)
    return found, environment
