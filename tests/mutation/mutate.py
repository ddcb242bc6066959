#!/usr/bin/env python3
"""Mutation testing of the gates: when a check is removed, a test must fail.

The script builds a copy of the source tree in which each `if (condition)` of the files below reads
`if (evo::mutant(N) && (condition))`. The environment variable EVO_MUTANT=N then disables check N
in the tests. A mutant that no test notices is a survivor. The script fails unless survivors.txt
lists each survivor with the reason why the check makes no difference.

Usage: tests/mutation/mutate.py [--work FOLDER] [--only TEXT]… [--list]
  --work FOLDER  folder of the copy and its build (default: build/mutation)
  --only TEXT    only checks of files whose path contains TEXT; may be repeated
  --list         print the checks and stop
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))

# The files whose checks are disabled, each with its fast tests: if a check is disabled, one of
# these tests must fail.
GATE_TESTS = ["gate_correctness_test", "gate_timing_test --gtest_filter=-*Noises*", "gate_gpu_test",
              "resource_test", "worker_test", "virtual_test"]
RACE_TESTS = ["virtual_nvrtc_test --gtest_filter=*CtaRaces*:*Cooperative*",
              "virtual_test --gtest_filter=*ReadOnlyData*"]
STORE_TESTS = ["virtual_nvrtc_test --gtest_filter=*Traced*:*Untraced*",
               "gate_correctness_test --gtest_filter=Sampled*:ElementSample*:*Cover*:*NearMiss*:*ToleranceAudit*"]
ORDER_TESTS = ["virtual_test --gtest_filter=CtaHistory*:LaneOrder*:WarpScheduler*",
               "virtual_nvrtc_test --gtest_filter=*MemberMasks*:*Groups*:*CtaRaces*:*CudaLocks*:*/Locks*"]
SURVEY_TESTS = ["virtual_test --gtest_filter=*Sample*:*Survey*:*Kinds*",
                "predict_nvrtc_test"]
FILES = {
    "engine/gate/resource.cpp": GATE_TESTS,
    **{f"engine/gate/correctness/{name}.cpp": GATE_TESTS for name in (
        "cases", "chosen_elements", "compare", "correctness", "correctness_ageing", "forbidden_writes", "element_sample",
        "expectation", "grid_part", "output_judge", "reference_audit", "run_program", "sampled_check", "tolerance_audit",
        "workspace")},
    **{f"engine/gate/timing/{name}.cpp": GATE_TESTS for name in (
        "measurement", "pair_comparison", "stopping_rule", "stopwatch", "stopwatch_verify",
        "timing")},
    "engine/gate/correctness/problem_programs.cpp": [
        "own_kernel_test --gtest_filter=OwnCheck*:OwnData*",
        "gate_correctness_test --gtest_filter=ProgramsTest*"],
    **{f"engine/gate/correctness/{name}.cpp": [*GATE_TESTS, "gpu_test", "device_work_test"]
       for name in ("check_slots", "device_work", "check_kind", "host_work", "masked_contents", "trials")},
    "engine/device/guard.cpp": GATE_TESTS,
    "engine/device/arch_limits.cpp": GATE_TESTS,
    **{f"engine/device/virtual/{name}.cpp": [*GATE_TESTS, "virtual_nvrtc_test"]
       for name in ("virtual_device", "virtual_launch", "virtual_memory", "memory/global_memory")},
    **{f"engine/device/virtual/{name}.cpp": RACE_TESTS
       for name in ("checks/global_races", "memory/global_access")},
    "engine/device/virtual/execute/placement.cpp": ["virtual_test"],
    "engine/compile/host_scanner.cpp": ["compile_test"],
    "engine/core/protected_file.cpp": ["core_test"],
    # The next files decide for which output elements a check of a sample of elements is valid.
    **{file: STORE_TESTS for file in (
        "engine/device/virtual/decode/store_slice.cpp", "engine/gate/correctness/grid_cover.cpp",
        "engine/gate/correctness/near_miss.cpp", "engine/device/virtual/checks/store_owners.cpp")},
    # The next files decide whether accesses of two CTAs or of two lanes are ordered.
    **{f"engine/device/virtual/{name}.cpp": ORDER_TESTS for name in (
        "checks/cta_history", "checks/releases", "checks/lane_order", "execute/member_groups",
        "execute/warp_scheduler")},
    # The next files choose the CTAs from whose execution a time is predicted.
    **{f"engine/device/virtual/{name}.cpp": SURVEY_TESTS for name in (
        "decode/branch_origins", "timing/grid_survey", "timing/grid_kinds")},
    # The next files generate the values of input arguments.
    **{f"engine/problem/{name}.cpp": ["problem_test"] for name in (
        "generator", "normal_quantile", "special_values")},
    # The next two files write output files and open databases.
    "tools/cli/output_files.cpp": ["output_files_test"],
    "db/opened_file.cpp": ["db_test --gtest_filter=OpenedFile*"],
    "tools/bundle/checked.cpp": ["bundle_cover_test", "bundle_size_tests_test"],
    **{f"tools/bundle/{name}.cpp": ["bundle_size_tests_test"] for name in (
        "size_operation", "size_tests", "size_value")},
    **{f"engine/worker/{name}.cpp": ["worker_test --gtest_filter=CompilePool*:MemoryAborts*"]
       for name in ("compile_pool", "memory_aborts")},
    "engine/run/profile_gate.cpp": ["run_test --gtest_filter=*Profile*:*Ncu*"],
}
MUTANT_HEADER = """#pragma once
#include <cstdlib>
namespace evo {
/// False for the check that EVO_MUTANT disables.
inline bool mutant(int number) {
  static const char* const text = std::getenv("EVO_MUTANT");
  static const int chosen = text != nullptr ? std::atoi(text) : -1;
  return number != chosen;
}
}  // namespace evo
"""


def closing(text, start):
    """Returns the index of the parenthesis that closes the parenthesis at index `start` of C++
    text."""
    depth = 0
    quote = ""
    i = start
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = ""
        elif c == '"' or c == "'" and not text[i - 1].isalnum():  # 1'000 is a number
            quote = c
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise ValueError("unbalanced parentheses")


def outer_semicolon(condition):
    """Returns the index of the semicolon after the initialisation in the condition of an `if`, or
    -1 if the condition has no initialisation. Ignores semicolons in lambdas."""
    condition = re.sub(r"""(["'])(?:\\.|(?!\1).)*\1""", lambda text: "x" * len(text[0]), condition)
    depth = 0
    for i, c in enumerate(condition):
        depth += (c in "([{") - (c in ")]}")
        if c == ";" and depth == 0:
            return i
    return -1


def instrument(text, first_number):
    """Puts a call of evo::mutant() into each condition of C++ text. Returns the new text and the
    list of conditions, (line, condition)."""
    output, checks, at = "", [], 0
    for found in re.finditer(r"\bif \(", text):
        if text[text.rfind("\n", 0, found.start()) + 1:found.start()].lstrip().startswith("//"):
            continue
        start = found.end() - 1
        end = closing(text, start)
        condition = text[start + 1:end]
        number = first_number + len(checks)
        switch = f"evo::mutant({number})"
        declared = re.match(r"(?:const )?[\w:]+[*& ]+(\w+) = ", condition)
        split = outer_semicolon(condition)
        if split >= 0:
            head, last = condition[:split], condition[split + 1:]
            changed = f"{head}; {switch} && ({last.strip()})"
        elif declared:
            changed = f"{condition}; {switch} && {declared[1]}"
        else:
            changed = f"{switch} && ({condition})"
        output += text[at:start + 1] + changed
        at = end
        checks.append((text.count("\n", 0, start) + 1, " ".join(condition.split())))
    return output + text[at:], checks


def collect(only):
    """Returns the list of all checks, (file, line, condition), in the order of their numbers, and
    the changed text of each file."""
    checks, texts = [], {}
    for file in FILES:
        if only and not any(text in file for text in only):
            continue
        text = open(os.path.join(ROOT, file)).read()
        changed, found = instrument(text, len(checks))
        texts[file] = '#include "engine/mutant.hpp"\n' + changed
        checks += [(file, line, condition) for line, condition in found]
    return checks, texts


def build(work, texts):
    """Builds the tests of the changed files with the options of CI, because ccache then has all
    other files. Returns the folder of the programs."""
    source = os.path.join(work, "source")
    if os.path.isdir(source):
        for entry in os.scandir(source):
            if entry.name != "build":
                shutil.rmtree(entry) if entry.is_dir() else os.remove(entry)
    ignored = shutil.ignore_patterns("build", ".git", "out", "*.db")
    shutil.copytree(ROOT, source, ignore=ignored, dirs_exist_ok=True)
    open(os.path.join(source, "engine/mutant.hpp"), "w").write(MUTANT_HEADER)
    for file, text in texts.items():
        open(os.path.join(source, file), "w").write(text)
    cache = os.path.join(ROOT, "build/ci/CMakeCache.txt")
    toolkit = []
    if os.path.exists(cache):
        toolkit = ["-D" + line.strip() for line in open(cache) if line.startswith("EVO_CUDA_ROOT")]
    subprocess.run(["cmake", "--preset", "ci", "-DEVO_UNITY=tests", *toolkit], cwd=source, check=True,
                   stdout=subprocess.DEVNULL)
    programs = sorted({test.split()[0] for file in texts for test in FILES[file]})
    subprocess.run(["cmake", "--build", "build/ci", "--target", *programs, "fake-worker", "-j3"],
                   cwd=source, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(source, "build/ci/bin")


def notices(binaries, tests, number, limits):
    """Returns the name of a test that fails without check `number`, or None. `limits`: the time
    limit of each test in seconds."""
    environment = dict(os.environ)
    if number is not None:
        environment["EVO_MUTANT"] = str(number)
    for test in tests:
        program, *arguments = test.split()
        command = [os.path.join(binaries, program), "--gtest_brief=1", "--gtest_fail_fast", *arguments]
        try:
            ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=limits[test])
        except subprocess.TimeoutExpired:
            return f"{program}: does not end"
        if ran.returncode != 0:
            found = re.search(rb"\[  FAILED  \] ([\w/]+\.\w+)", ran.stdout)
            return found[1].decode() if found else f"{program}: exit code {ran.returncode}"
    return None


def explained_survivors():
    """Maps (file, condition) to the reason in survivors.txt."""
    explained = {}
    for text in open(os.path.join(HERE, "survivors.txt")):
        if text.strip() and not text.startswith("#"):
            file, condition, reason = (part.strip() for part in text.split(" | ", 2))
            explained[file, condition] = reason
    return explained


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", default=os.path.join(ROOT, "build/mutation"))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    checks, texts = collect(options.only)
    explained = explained_survivors()
    if not options.only and (stale := set(explained) - {(file, condition) for file, _, condition in checks}):
        print("survivors.txt explains conditions that do not exist; correct or delete these rows:",
              *(" | ".join(row) for row in sorted(stale)), sep="\n  ")
        return 1
    if options.list:
        for number, (file, line, condition) in enumerate(checks):
            print(f"{number:4} {file}:{line}: {condition}")
        return 0
    started = time.time()
    binaries = build(options.work, texts)
    all_tests = sorted({test for file in texts for test in FILES[file]})
    limits = {}
    for test in all_tests:
        before = time.time()
        broken = notices(binaries, [test], None, {test: 600})
        if broken:
            print(f"the tests fail without any mutant: {broken}")
            return 1
        limits[test] = 30 + 5 * (time.time() - before)
    killed, survivors = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(notices, binaries, FILES[file], number, limits)
                   for number, (file, _, _) in enumerate(checks)]
        for (file, line, condition), future in zip(checks, futures):
            test = future.result()
            if test:
                killed += 1
                print(f"killed    {file}:{line}: {condition}  [{test}]", flush=True)
            else:
                reason = explained.get((file, condition))
                survivors.append(reason)
                print(f"SURVIVED  {file}:{line}: {condition}  ({reason or 'not explained'})", flush=True)
    unexplained = survivors.count(None)
    print(f"{len(checks)} mutants: {killed} killed, {len(survivors)} survived, of which {unexplained} "
          f"not explained; {time.time() - started:.0f} s")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
