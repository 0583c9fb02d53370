"""Thirty searches in a user's words, each with the page it should find.

Chosen by reading the folders, before any of them was tried, and not changed since: when one fails, retrieval
is what gets better. Any of the files listed with a query is right (the Rust book has four chapters twice).
"""

from __future__ import annotations

QUERIES: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "18f_handbook": [
        ("do I get paid for working late or on weekends", ("travel-and-leave/overtime.md",)),
        ("government help paying for my bus and train commute", ("transit-benefit.md",)),
        ("my mortgage lender needs proof of my salary", ("employment-verification.md",)),
        ("how do I get my building access badge", ("getting-started/piv.md",)),
        ("how much time off when we adopt a baby", ("paid-parental-leave.md",)),
        ("I want to quit, what do I have to do before my last day", ("leaving-tts.md",)),
        ("got married and need my new last name in email", ("changing-your-name.md",)),
        ("I clicked on a suspicious link, who do I tell", ("security-incidents.md",)),
        ("which app should I use to store my passwords", ("password-requirements.md",)),
        ("I'm moving to another state, do I need to tell HR", ("travel-and-leave-policies/moving.md",)),
    ],
    "kepano": [
        ("dessert with nectarines", ("Brown butter nectarine tart.md",)),
        ("advice from Kevin Kelly on his birthday", ("68 Bits of Unsolicited Advice.md",)),
        ("are expensive socks worth the money", ("Buy wisely.md",)),
        ("E. M. Forster story about people living inside a machine", ("The Machine Stops.md",)),
        ("which movie with Harrison Ford did I watch", ("Blade Runner.md",)),
        ("what did I talk about with Steph", ("2023-09-12 Meeting with Steph.md",)),
        ("shrine in Kyoto", ("Fushimi Inari.md",)),
        ("zelda game on the switch", ("The Legend of Zelda Breath of the Wild.md",)),
        ("jazz album by Paul Chambers", ("Bass on Top.md",)),
        ("how can small notes help me think about complex ideas", ("Evergreen notes turn ideas",)),
    ],
    "rust_book": [
        ("how do I read a text file into a string", ("ch12-02-reading-a-file.md",)),
        ("send data from one thread to another", ("ch16-02-message-passing.md",)),
        (
            "why can't I use a variable after giving it to another variable",
            ("ch04-01-what-is-ownership.md", "chapter04.docx"),
        ),
        ("key value lookup table", ("ch08-03-hash-maps.md",)),
        ("run only one test by name", ("ch11-02-running-tests.md",)),
        ("handle an error without crashing the program", ("ch09-02-recoverable-errors-with-result.md",)),
        ("upload my library so other people can use it", ("ch14-02-publishing-to-crates-io.md",)),
        ("two owners of the same value", ("ch15-04-rc.md",)),
        ("why is getting a character of a string by position not allowed", ("ch08-02-strings.md",)),
        (
            "generate a random number between 1 and 100",
            ("ch02-00-guessing-game-tutorial.md", "chapter02.docx"),
        ),
    ],
}
