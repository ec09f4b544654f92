from __future__ import annotations

import threading
from pathlib import Path

from facsimile.workbench.jobs import Job, Jobs, told
from facsimile.workbench.later import KEPT, Later


def ended(job: Job) -> Job:
    assert job.process is not None
    job.process.wait(60)
    for thread in threading.enumerate():
        if thread.name.endswith(("_answers)", "_says)")):
            thread.join(10)
    return job


def test_a_job_is_a_command_and_says_what_the_command_says(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    job = ended(jobs.start("hash", ["plan-hash", "none.yaml"]))
    assert job.failed and not job.done and not job.running and "E212" in job.failure
    assert job.typed == "facsimile plan-hash none.yaml"
    told_ = ended(jobs.start("json", ["plan-hash", "none.yaml", "--json"]))
    assert told(told_)["error"]["code"] == "E212" and told_.failure.startswith("E212 ")
    good = ended(jobs.start("schema", ["schema"]))
    assert good.done and told(good)["title"] == "facsimile specification"
    assert jobs["none"] is None and jobs.states()["hash"][0] is False


def test_one_of_a_kind_runs_at_a_time_and_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    first = jobs.start("x", ["audit"])
    assert jobs.start("x", ["schema"]) is first
    jobs.stop()
    assert not first.running and first.stopped and not first.failed and not first.done


def test_what_is_asked_for_again_is_begun_once_and_old_answers_go() -> None:
    later, begun = Later[int](), list[int]()

    def work(number: int) -> int:
        begun.append(number)
        return number

    for number in (1, 1, *range(2, KEPT + 2)):
        assert later.begun(number, lambda number=number: work(number)).result() == number  # type: ignore[misc]
    assert begun == list(range(1, KEPT + 2)) and len(later.known) == KEPT and 1 not in later.known
    assert not later.busy
