# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""perftest: results with their path, and failures with their cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.perftest import parse_perftest

from tests.unit.cases import case

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "perftest"


def fixture(name):
    return (FIXTURES / f"{name}.txt").read_text(encoding="utf-8")


def test_a_result_names_its_path():
    run = parse_perftest(fixture("write-bw-rxe"))
    assert run.ok
    assert (run.test, run.device, run.link_type, run.mtu, run.gid_index) == (
        "RDMA_Write BW Test",
        "rxe_rail0",
        "Ethernet",
        4096,
        1,
    )
    assert run.local_gid == "0000:0000:0000:0000:0000:ffff:0a14:0001"
    assert run.remote_gid == "0000:0000:0000:0000:0000:ffff:0a14:0002"
    assert (run.best.average, run.best.peak, run.best.size) == (0.018104, 0.018311, 4096)


def test_cut_off_output_is_never_good():
    text = fixture("write-bw-rxe").rstrip()
    for end in range(len(text)):
        try:
            run = parse_perftest(text[:end])
        except ParseError:
            continue
        assert not run.ok, text[end - 40 : end]


def test_mebibytes_are_converted():
    run = parse_perftest(case("ib_read_bw/edr-mbsec.txt"))
    assert run.ok
    assert run.best.average == pytest.approx(98.2, abs=0.05)
    assert (run.device, run.link_type, run.gid_index) == ("mlx5_0", "IB", None)


def test_cpu_frequency_warnings_in_the_table_are_no_rows():
    run = parse_perftest(case("ib_read_lat/roce-pod-cpufreq-lines.txt"))
    assert run.ok
    row = run.rows[0]
    assert (row.size, row.t_min, row.t_max, row.t_typical, row.t_avg, row.t_stdev, row.p99, row.p999) == (
        2, 2.64, 5.50, 2.69, 2.69, 0.02, 2.75, 5.50,
    )  # fmt: skip
    assert len(run.rows) == 1
    assert run.local_gid == "0000:0000:0000:0000:0000:ffff:0a00:2004"


def test_all_sizes_are_judged_at_the_best_one():
    run = parse_perftest(case("ib_send_bw/ndr200-all-sizes.txt"))
    assert len(run.rows) == 23
    assert (run.best.size, run.best.average) == (8388608, 196.69)
    assert (run.link_type, run.mtu) == ("IB", 4096)


def test_a_table_that_was_cut_is_not_complete():
    run = parse_perftest(case("ib_send_lat/azure-hdr-100k-iters.txt"))
    assert len(run.rows) == 14
    assert (run.rows[0].t_min, run.rows[0].p99, run.rows[0].p999) == (1.55, 1.62, 3.49)
    assert not run.ok


def test_server_banner_and_old_header():
    run = parse_perftest(case("ib_send_lat/edr-server-banner.txt"))
    assert run.ok
    assert (run.rows[0].t_avg, run.rows[0].p99, run.rows[0].p999) == (1.01, 1.06, 3.45)


def test_bidirectional_is_the_sum_of_both_directions():
    run = parse_perftest(case("ib_write_bw/cx5-bidirectional-98of200.txt"))
    assert run.ok
    assert run.bidirectional
    assert (run.best.average, run.best.peak, run.gid_index) == (98.02, None, 4)
    assert run.local_gid == "0000:0000:0000:0000:0000:ffff:c0a8:0674"


def test_retries_ran_out_before_the_first_packet():
    failure = parse_perftest(case("ib_send_bw/fail-status12-syndrom81.txt")).failure
    assert (failure.code, failure.status_name, failure.vendor, failure.completed) == (
        "completion",
        "IBV_WC_RETRY_EXC_ERR",
        0x81,
        0,
    )
    assert "ever acknowledged" in failure.cause


def test_retries_that_run_out_later_are_loss():
    failure = parse_perftest("", "Failed status 12: wr_id 0 syndrom 0x81\nscnt=828, ccnt=700\n").failure
    assert (failure.sent, failure.completed) == (828, 700)
    assert "lost on the way" in failure.cause


def test_protection_error_spread_over_lines():
    failure = parse_perftest(case("ib_write_bw/fail-status4-syndrom51.txt")).failure
    assert (failure.status, failure.vendor, failure.sent, failure.completed) == (4, 0x51, 828, 700)


def test_memory_region_errors():
    numbered = parse_perftest(case("ib_write_bw/fail-mr-error14.txt")).failure
    worded = parse_perftest(case("ib_write_bw/fail-mr-gpu-bad-address.txt")).failure
    assert (numbered.code, numbered.errno) == (worded.code, worded.errno) == ("memory", 14)
    assert "GPUDirect" in numbered.cause
    limited = parse_perftest("Couldn't allocate MR with error=12\n").failure
    assert "memlock" in limited.remedy
    unknown = parse_perftest("Couldn't allocate MR\n").failure
    assert unknown.errno is None


def test_zero_gid_is_the_cause_of_a_queue_pair_that_cannot_be_connected():
    run = parse_perftest(case("ib_write_bw/fail-zero-gid-modify-qp.txt"))
    assert (run.failure.code, run.failure.queue_pair) == ("modify_qp", 218)
    assert "GID is zero" in run.failure.cause
    assert (run.gid_index, run.ok) == (0, False)


def test_a_queue_pair_with_a_good_gid_lacks_a_path():
    text = fixture("write-bw-rxe").partition(" #bytes")[0] + "Failed to modify QP 17 to RTR\n"
    failure = parse_perftest(text).failure
    assert failure.queue_pair == 17
    assert "no path" in failure.cause


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" Did not detect devices \n Unable to find the Infiniband/RoCE device\n", "device"),
        ("IB device rxe_rail7 not found\n Unable to find the Infiniband/RoCE device\n", "device"),
        ("Couldn't connect to 10.20.0.2:18515\nUnable to open file descriptor for socket connection\n", "connect"),
        ("Unexpected CM event bl blka 8\n Unable to perform rdma_client function\n", "connect"),
        ("please check that DURATION > 2*MARGIN\n", "option"),
        ("Couldn't listen to port 18515\n", "listen"),
        ("ib_write_bw: unrecognized option '--bind_source_ip'\n", "option"),
        ("Error: BW result is below bw limit\n", "below_limit"),
        ("Segmentation fault (core dumped)\n", "crash"),
        (" Unable to Connect the HCA's through the link\n", "other"),
    ],
)
def test_each_failure_has_a_code_and_a_remedy(text, code):
    failure = parse_perftest("", text).failure
    assert failure.code == code
    assert failure.remedy


def test_a_failure_after_a_complete_table_is_not_ok():
    assert not parse_perftest(fixture("write-bw-rxe"), "Error: BW result is below bw limit\n").ok


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.018104            0.000552", "fast", "not made of numbers"),
        ("0.018104            0.000552", "", "not the columns of one result"),
        ("0.018104", "nan", "not made of numbers"),
        ("[Gb/sec]   ", "[furlong]   ", "unknown kind"),
        ("255:255:10:20:00:01", "255:256:10:20:00:01", "GID of an unknown shape"),
        ("255:255:10:20:00:01", "ff:ff:10:20:00:01", "GID of an unknown shape"),
    ],
)
def test_unknown_shapes_name_the_line(old, new, message):
    text = fixture("write-bw-rxe")
    assert old in text
    with pytest.raises(ParseError, match=message) as caught:
        parse_perftest(text.replace(old, new))
    assert caught.value.place.startswith("perftest:")


@pytest.mark.parametrize("text", ["", "hello\n", "-" * 87 + "\n"])
def test_what_is_not_perftest_is_refused(text):
    with pytest.raises(ParseError):
        parse_perftest(text)


def test_two_lines_that_ran_into_one_are_no_result():
    line = next(line for line in fixture("write-bw-rxe").splitlines() if line.startswith(" 4096"))
    with pytest.raises(ParseError):
        parse_perftest(fixture("write-bw-rxe").replace(line, line + line))


def test_a_second_run_does_not_hide_behind_the_first():
    text = fixture("write-bw-rxe")
    with pytest.raises(ParseError):
        parse_perftest(text + text[: len(text) // 2])


def test_retries_that_ran_out_say_no_more_than_is_told():
    words = "Failed status 12: wr_id 0 syndrom 0x81\n"
    assert "acknowledged at first" not in parse_perftest(words).failure.cause
    assert "acknowledged at first" in parse_perftest(words + "scnt=128, ccnt=5\n").failure.cause
