"""What the cases of group F say: socket, permissions, terminal. They are checked next to the code."""

from __future__ import annotations

from tests.faults.cases.claims import elsewhere

LIFECYCLE = "tests/daemon/test_lifecycle.py::"
PROTOCOL = "tests/daemon/test_protocol.py::"
LITERAL = "tests/tui/test_literal.py::"
STREAMS = "tests/cli/test_streams.py::"

F01 = "F01-stale-socket"
elsewhere(
    F01,
    (f"{LIFECYCLE}test_a_stale_socket_is_replaced_and_anything_else_in_its_place_is_left_alone",),
    *("dead.sock: ", "regular.sock, dir.sock: ", "link.sock, danglink.sock: "),
)
elsewhere(
    F01,
    ("tests/test_paths.py::test_a_socket_path_that_is_too_long_becomes_a_short_one_of_the_same_home",),
    "too long path: ",
)
elsewhere(
    F01,
    (f"{LIFECYCLE}test_a_second_daemon_says_who_runs_and_disturbs_nothing",),
    *("stale.pid = 1: ", "live daemon: "),
)
elsewhere(
    F01,
    (f"{LIFECYCLE}test_a_stopped_daemon_is_said_not_to_respond",),
    "live daemon under SIGSTOP: ",
)
elsewhere(
    F01,
    (f"{LIFECYCLE}test_a_daemon_whose_socket_was_removed_is_seen_and_stopped",),
    "A running, socket file removed by hand: ",
)
elsewhere(
    F01,
    (f"{LIFECYCLE}test_a_daemon_whose_socket_was_replaced_does_not_remove_the_new_one",),
    "A displaced then SIGTERMed: ",
)
elsewhere(
    F01,
    (f"{LIFECYCLE}test_clients_that_start_it_at_the_same_time_all_reach_the_one_winner",),
    "two starts at the same instant x 50: ",
)

F03 = "F03-permissions"
elsewhere(
    F03,
    (f"{PROTOCOL}test_everything_of_ours_is_readable_by_the_owner_only",),
    *("umask 000: ", "strace shows no moment with a wider mode"),
)
elsewhere(F03, (f"{PROTOCOL}test_another_user_cannot_talk_to_the_daemon",), "another uid connecting")
elsewhere(
    F03,
    (f"{LIFECYCLE}test_a_folder_that_anyone_may_write_to_is_refused",),
    "runtime folder owned by somebody",
)

F06 = "F06-markup-text"
elsewhere(
    F06,
    (f"{LITERAL}test_every_place_for_text_shows_it_as_it_is", f"{LITERAL}test_an_error_is_shown_as_it_is"),
    "no MarkupError, no crash",
)
elsewhere(
    F06,
    (
        "tests/tui/test_looks.py::test_no_text_reaches_the_terminal_as_a_command",
        f"{STREAMS}test_no_text_is_obeyed_by_a_terminal_and_json_keeps_it_whole",
    ),
    "text shown literally (brackets visible)",
)
elsewhere(
    F06,
    (f"{LITERAL}test_text_that_looks_like_a_link_cannot_be_clicked",),
    "'[@click=app.quit]' is not clickable",
)
elsewhere(
    F06,
    (
        f"{LITERAL}test_every_size_works_and_may_change_while_an_answer_streams",
        f"{STREAMS}test_a_terminal_that_wants_no_colour_gets_none_and_no_animation",
    ),
    "also under NO_COLOR=1, TERM=dumb",
)
elsewhere(
    F06,
    (f"{STREAMS}test_markup_is_printed_as_it_is",),
    "plain CLI output to a pipe contains no escape codes",
)
