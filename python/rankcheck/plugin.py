"""The pytest plugin: one item a case, and findings in place of tracebacks."""

import os
import shlex

import pytest

from .case import Case, Failure, Unsupported
from .library import RankcheckError
from .session import close_all, session


def pytest_addoption(parser):
    parser.addoption(
        "--rankcheck-report",
        action="append",
        default=[],
        metavar="KIND=PATH",
        help="a report of all cases: json, junit or markdown (repeatable)",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "rankcheck_scenario(arguments): one test a case of scenarios")
    reports = config.getoption("--rankcheck-report")
    if reports:
        os.environ["RANKCHECK_REPORT"] = ",".join(reports)


def pytest_unconfigure(config):
    close_all()


def pytest_generate_tests(metafunc):
    marker = metafunc.definition.get_closest_marker("rankcheck_scenario")
    if marker is None:
        return
    if "case" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{metafunc.function.__name__} needs a parameter `case`")
    try:
        opened = session(beside(marker.args[0], metafunc.definition.path.parent), alone=True)
    except RankcheckError as error:
        raise pytest.Collector.CollectError(f"rankcheck: {error}") from None
    cases = [Case(opened, name) for name in opened.names]
    metafunc.parametrize("case", cases, ids=opened.names)


def beside(arguments, folder):
    """Scenario files may stand beside the test; others are found as `rankcheck list` finds them."""
    return [
        os.path.relpath(folder / word) if not os.path.exists(word) and (folder / word).is_file() else word
        for word in arguments
    ]


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    case = case_of(pyfuncitem)
    if case is None:
        yield
        return
    case.program = pyfuncitem.path
    case.replay = replay(pyfuncitem)
    try:
        case.open()
    except Unsupported as error:
        pytest.skip(str(error))
    outcome = yield
    if outcome.excinfo is None:
        try:
            case.finish()
        except Failure as error:
            outcome.force_exception(error)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.excinfo is not None and call.excinfo.errisinstance(Failure) and case_of(item) is not None:
        outcome.get_result().longrepr = str(call.excinfo.value)


def replay(item):
    """A command that runs an item again, from the folder in which pytest was started."""
    given = item.config.invocation_params.args
    plugin = "-p rankcheck.plugin " if "rankcheck.plugin" in given else ""
    node = os.path.relpath(item.path, item.config.invocation_params.dir)
    name = item.nodeid.split("::", 1)[1]
    return f"python -m pytest {plugin}{shlex.quote(f'{node}::{name}')}"


def case_of(item):
    """The case that an item is about."""
    case = getattr(item, "callspec", None) and item.callspec.params.get("case")
    return case if isinstance(case, Case) else None
