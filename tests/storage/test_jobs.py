"""The queue: once, in order, never lost, and not for ever."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mindscape_storage import jobs
from mindscape_storage.database import Connection, open_writer
from mindscape_storage.records import Job


def take(conn: Connection, *kinds: str) -> Job:
    job = jobs.claim(conn, kinds or ("index",))
    assert job is not None
    return job


def test_a_job_waits_once_however_often_it_is_enqueued(conn: Connection) -> None:
    assert jobs.enqueue(conn, "index", "a", 5, {"n": 1})
    assert not jobs.enqueue(conn, "index", "a", 9, {"n": 2})
    job = take(conn)
    assert (job.key, job.priority, job.attempts, job.payload) == ("a", 5, 1, {"n": 2})
    assert jobs.claim(conn, ["index"]) is None


def test_the_lowest_priority_number_runs_first_then_the_oldest(conn: Connection) -> None:
    for key, priority in (("later", 5), ("first", 1), ("second", 1), ("sooner", 9)):
        jobs.enqueue(conn, "index", key, priority)
    jobs.enqueue(conn, "index", "sooner", 0)
    assert [take(conn).key for _ in range(4)] == ["sooner", "first", "second", "later"]


def test_only_the_kinds_asked_for_are_claimed(conn: Connection) -> None:
    jobs.enqueue(conn, "index", "a", 1)
    jobs.enqueue(conn, "embed", "a", 2)
    assert jobs.claim(conn, []) is None
    assert take(conn, "embed", "summarise").kind == "embed"


def test_a_change_while_the_job_runs_makes_it_run_again(conn: Connection) -> None:
    jobs.enqueue(conn, "index", "a", 1)
    job = take(conn)
    assert jobs.enqueue(conn, "index", "a", 1)
    assert not jobs.enqueue(conn, "index", "a", 1)
    assert jobs.claim(conn, ["index"]) is None
    jobs.finish_job(conn, job.id)
    again = take(conn)
    assert (again.key, again.attempts) == ("a", 1)
    jobs.finish_job(conn, again.id)
    assert jobs.job_counts(conn) == {"queued": 0, "running": 0, "quarantined": 0}


def test_a_failed_job_waits_its_time_then_is_quarantined(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(jobs.time, "time", lambda: now[0])
    jobs.enqueue(conn, "index", "a", 1)
    assert jobs.retry_job(conn, take(conn).id, "The worker died.", 30, 2)
    assert jobs.claim(conn, ["index"]) is None
    now[0] += 30
    job = take(conn)
    assert job.attempts == 2
    assert not jobs.retry_job(conn, job.id, "The worker died.", 30, 2)
    now[0] += 1000
    assert jobs.claim(conn, ["index"]) is None
    assert jobs.job_counts(conn)["quarantined"] == 1
    assert jobs.enqueue(conn, "index", "a", 1)
    assert take(conn).attempts == 1
    assert jobs.job_counts(conn) == {"queued": 0, "running": 1, "quarantined": 0}


def test_a_waiting_job_keeps_its_back_off_when_enqueued_again(conn: Connection) -> None:
    jobs.enqueue(conn, "index", "a", 1)
    jobs.retry_job(conn, take(conn).id, "Not now.", 3600, 5)
    assert not jobs.enqueue(conn, "index", "a", 1)
    assert jobs.claim(conn, ["index"]) is None


def test_a_clock_that_is_set_back_keeps_no_job_waiting(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.enqueue(conn, "index", "a", 1)
    jobs.retry_job(conn, take(conn).id, "Not now.", 60, 5)
    past = time.time() - 1_000_000
    monkeypatch.setattr(time, "time", lambda: past)
    assert take(conn).attempts == 2


def test_a_failed_job_that_was_enqueued_meanwhile_starts_afresh(conn: Connection) -> None:
    jobs.enqueue(conn, "index", "a", 1)
    job = take(conn)
    jobs.enqueue(conn, "index", "a", 1)
    assert jobs.retry_job(conn, job.id, "The worker died.", 3600, 1)
    assert take(conn).attempts == 1


def test_what_a_killed_process_had_claimed_waits_again(conn: Connection, path: Path) -> None:
    jobs.enqueue(conn, "index", "a", 1)
    take(conn)
    conn.close()
    restarted = open_writer(path)
    assert jobs.claim(restarted, ["index"]) is None
    assert jobs.release_claimed(restarted) == 1
    assert take(restarted).attempts == 2
    restarted.close()


def test_finishing_a_job_that_is_gone_is_harmless(conn: Connection) -> None:
    jobs.finish_job(conn, 99)
    assert jobs.retry_job(conn, 99, "Gone.", 1, 1)


def test_a_job_that_was_put_back_keeps_its_place_and_has_not_been_tried(conn: Connection) -> None:
    for key in ("a", "b"):
        jobs.enqueue(conn, "index", key, 1)
    job = take(conn)
    jobs.put_back(conn, job.id)
    assert [(again.key, again.attempts) for again in (take(conn), take(conn))] == [("a", 1), ("b", 1)]
