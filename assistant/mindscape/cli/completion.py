"""`mindscape completion SHELL`: a script for the shell, made from the table of commands."""

from __future__ import annotations

import argparse

from mindscape.cli.output import emit
from mindscape.paths import Paths

_BASH = """\
# bash: add to ~/.bashrc   eval "$(mindscape completion bash)"
_mindscape() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{names}" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _mindscape mindscape
"""
_ZSH = """\
#compdef mindscape
# zsh: add to ~/.zshrc, after compinit   eval "$(mindscape completion zsh)"
_mindscape() {{
    if (( CURRENT == 2 )); then
        local -a commands=(
{names}
        )
        _describe command commands
        return
    fi
    case "$words[2]" in
{cases}
    esac
    _files
}}
compdef _mindscape mindscape
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(args: argparse.Namespace, paths: Paths) -> int:  # noqa: ARG001 - every command gets the paths
    """Print the script."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]()
    if args.json:
        emit({"shell": args.shell, "script": script})
    else:
        print(script, end="")
    return 0


def _words() -> dict[str, list[str]]:
    """Each command's options and fixed words."""
    from mindscape.cli.commands import COMMANDS, command_parser

    words: dict[str, list[str]] = {}
    for name in COMMANDS:
        _, parser = command_parser(name)
        words[name] = []
        for action in parser._actions:  # pyright: ignore[reportPrivateUsage] - argparse has no public list
            words[name] += [option for option in action.option_strings if option.startswith("--")]
            words[name] += [str(choice) for choice in action.choices or ()]
    return words


def _summaries() -> dict[str, str]:
    from mindscape.cli.commands import COMMANDS

    return {name: entry.summary for name, entry in COMMANDS.items()}


def _bash() -> str:
    words = _words()
    cases = [
        f'    {name}) COMPREPLY=($(compgen -W "{" ".join(options)}" -- "$word")) ;;'
        for name, options in words.items()
    ]
    return _BASH.format(names=" ".join(words), cases="\n".join(cases))


def _zsh() -> str:
    names = [f"            '{name}:{summary}'" for name, summary in _summaries().items()]
    cases = [f"    {name}) compadd -- {' '.join(options)} ;;" for name, options in _words().items()]
    return _ZSH.format(names="\n".join(names), cases="\n".join(cases))


def _fish() -> str:
    lines = ["# fish: mindscape completion fish > ~/.config/fish/completions/mindscape.fish"]
    for name, summary in _summaries().items():
        lines.append(f"complete -c mindscape -n __fish_use_subcommand -f -a {name} -d '{summary}'")
    for name, words in _words().items():
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for word in words:
            option = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c mindscape {seen} {option}")
    return "\n".join(lines) + "\n"
