"""Threads: order, errors, maps within maps, limits, and processes that are forked."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from itertools import pairwise

import pytest

from pueval.samples import threads
from pueval.samples.threads import iterate_in_threads, map_in_threads, start_in_thread

MAPS = [map_in_threads, lambda *args: list(iterate_in_threads(*args))]


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 4)


@pytest.mark.parametrize("in_threads", MAPS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 50])
def test_results_are_in_order(in_threads, n):
    def slow_at_first(number):
        time.sleep(0.002 * (number < 4))
        return number**2

    assert in_threads(slow_at_first, range(n)) == [number**2 for number in range(n)]


@pytest.mark.parametrize("in_threads", MAPS)
def test_the_first_error_is_raised(in_threads):
    def fail(number):
        time.sleep(0.01 if number == 1 else 0)
        if number:
            raise ValueError(f"item {number}")

    with pytest.raises(ValueError, match="item 1"):
        in_threads(fail, range(8))


def test_nothing_is_begun_after_an_error():
    begun = []

    def fail(number):
        begun.append(number)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        map_in_threads(fail, range(1000))
    assert len(begun) <= 4


def test_helpers_are_kept():
    def helpers():
        return {t.ident for t in threading.enumerate() if t.name.startswith("pueval")}

    seen = []
    for _ in range(20):
        map_in_threads(lambda _: time.sleep(0.001), range(8))
        seen.append(helpers())
    assert seen[0]
    assert all(before <= after for before, after in pairwise(seen))
    assert len(seen[-1]) <= (os.cpu_count() or 1)


def test_at_most_so_many_threads():
    running, most = 0, 0
    lock = threading.Lock()

    def run(_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    map_in_threads(run, range(20), 2)
    assert most <= 2


def test_maps_within_maps_within_maps():
    def nested(number, depth):
        if not depth:
            return number
        return sum(map_in_threads(lambda n: nested(n, depth - 1), range(number, number + 6)))

    def one_after_another(number, depth):
        if not depth:
            return number
        return sum(one_after_another(n, depth - 1) for n in range(number, number + 6))

    assert nested(1, 3) == one_after_another(1, 3)


def test_several_callers_at_once():
    results = {}

    def call(number):
        results[number] = map_in_threads(lambda n: n * number, range(200))

    callers = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert results == {number: [n * number for n in range(200)] for number in range(8)}


def test_a_started_function_runs_beside_the_caller():
    begun, go_on = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert go_on.wait(60)
        return threading.get_ident()

    result = start_in_thread(work)
    assert begun.wait(60)
    go_on.set()
    assert result() != threading.get_ident()


def test_a_started_function_runs_in_the_caller_if_no_helper_is_free(monkeypatch):
    go_on, caller = threading.Event(), threading.get_ident()
    busy = [start_in_thread(lambda: go_on.wait(60)) for _ in range(os.cpu_count() or 1)]
    assert start_in_thread(threading.get_ident)() == caller
    go_on.set()
    assert all(result() for result in busy)
    monkeypatch.setattr(threads, "available_cores", lambda: 1)
    assert start_in_thread(threading.get_ident)() == caller


def test_the_error_of_a_started_function_is_raised():
    result = start_in_thread(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        result()


def _double_in_threads(numbers):
    return map_in_threads(lambda n: 2 * n, numbers)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_processes_have_threads_of_their_own():
    assert _double_in_threads(range(8)) == [*range(0, 16, 2)]  # threads exist before the fork
    with multiprocessing.get_context("fork").Pool(2) as pool:
        doubled = pool.map_async(_double_in_threads, [range(8)] * 4).get(timeout=60)
    assert doubled == [[*range(0, 16, 2)]] * 4


AFTER_THE_MAIN_THREAD = """
import atexit, threading
from pueval.samples import threads

threads.available_cores = lambda: 4

def work(n):
    return 2 * n

def print_results():
    in_map = threads.map_in_threads(work, range(3))
    in_order = list(threads.iterate_in_threads(work, range(3)))
    print(in_map, in_order, threads.start_in_thread(lambda: work(3))())

def print_at_last():
    threading.main_thread().join()
    print_results()

atexit.register(print_results)
threading.Thread(target=print_at_last).start()
"""


def test_work_goes_on_while_python_exits():
    done = subprocess.run(
        [sys.executable, "-c", AFTER_THE_MAIN_THREAD],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["[0, 2, 4] [0, 2, 4] 6"] * 2, done.stderr
