"""Runs the commands of a guide in a machine of deploy/walk.

    walk.py GUIDE CLONE MACHINE TABLE

CLONE is the clone's path as this machine sees it, MACHINE the first process of the guide's machine. Appends a row to TABLE.
"""

import os
import pathlib
import re
import subprocess
import sys
import threading
import time

SECONDS_MAX = 600
IN_MACHINE = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--root", "env", "-i", "HOME=/root",
              "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]

# The session reports on the same stream as its commands print, and waits until the block's output was compared. Its last line is
# noted before every command, because a trap on exit, whose commands are in line 1, does not know it.
PRELUDE = r"""
declare -A walk_lines=(); walk_line=0
walk_ends() { local status=$?; printf '\n\001exit %d %d %d\n' "$status" "$walk_line" "${#walk_lines[@]}"; }
walk_block() { printf '\n\001%s %d %d\n' "$1" "$2" "${#walk_lines[@]}"; read -r -u 8 _; }
trap walk_ends EXIT
trap 'if [[ $LINENO != 1 && $BASH_COMMAND != walk_* ]]; then walk_line=$LINENO; walk_lines[$LINENO]=1; fi' DEBUG
set -euo pipefail
"""


class NoStandIn(Exception):
    pass


class Block:
    def __init__(self, word, first):
        self.word, self.first, self.lines, self.expected = word, first, [], []


def blocks_of(text):
    """The shell blocks of a page, each with the text block right after it. Lines count from 1."""
    blocks, fence, latest = [], None, None
    for number, line in enumerate(text.split("\n"), 1):
        if fence is None and (opening := re.fullmatch(r"```(\S*) *(.*)", line)):
            fence = opening[1]
            if fence == "sh":
                latest = Block(opening[2].strip(), number)
                blocks.append(latest)
            elif fence != "text":
                latest = None
        elif line == "```":
            fence = None
        elif fence == "sh":
            latest.lines.append(line)
        elif fence == "text" and latest:
            latest.expected.append((number, line))
        elif fence is None and line.strip():
            latest = None
    return blocks


def in_machine(*command):
    return ["nsenter", "--target", sys.argv[3], f"--wd=/proc/{sys.argv[3]}/root/root/tacet", *IN_MACHINE, *command]


def stand_in(name):
    answer = subprocess.run(in_machine("bash", "/run/walk/walk-standins.sh", name), capture_output=True, text=True)
    if answer.returncode != 0:
        raise NoStandIn(f"there is no stand-in for {name}: {answer.stderr.strip()}")
    return answer.stdout.strip()


def with_stand_ins(line):
    if not (export := re.match(r"export (\w+)=", line)):
        raise NoStandIn(f"a block of what the reader has is for lines `export NAME=` only: {line}")
    value = stand_in(export[1])
    print(f"  stand-in: {export[1]}={value}")
    return f"export {export[1]}='{value}'"


def session(text, blocks):
    """The page with nothing but its commands, each in its own line, so that line numbers are the page's."""
    lines = [""] * (text.count("\n") + 1)
    for block in blocks:
        if block.word not in ("", "yours"):
            continue
        lines[block.first - 1] = f"walk_block begin {block.first}"
        for offset, line in enumerate(block.lines):
            lines[block.first + offset] = with_stand_ins(line) if block.word else line
        lines[block.first + len(block.lines)] = f"walk_block end {block.first}"
    return PRELUDE.strip().replace("\n", "; ") + "; " + "\n".join(lines) + "\n"


def missing(expected, output):
    """The first expected line that does not follow the others in the output."""
    rest = iter(output)
    for number, line in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        if not any(pattern.fullmatch(found.rstrip()) for found in rest):
            return number, line
    return None


class Walk:
    def __init__(self, guide):
        self.page = f"deploy/guides/{guide}.md"
        self.text = (pathlib.Path(sys.argv[2]) / self.page).read_text()
        self.blocks = blocks_of(self.text)
        self.skipped = [block for block in self.blocks if block.word not in ("", "yours")]
        self.start, self.commands, self.fault = int(time.time()), 0, None
        self.waiting = [block.first for block in self.blocks if block.word in ("", "yours")]

    def run(self):
        place = pathlib.Path(f"/proc/{sys.argv[3]}/root/run/walk/session")
        place.write_text(session(self.text, self.blocks))
        asks, answers = os.pipe()
        # The number of the pipe's end is another in each run; the session reads from 8.
        start = in_machine("bash", "-c", f"exec 8<&{asks} {asks}<&- && exec bash /run/walk/session")
        process = subprocess.Popen(start, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   pass_fds=[asks], text=True, errors="replace")
        os.close(asks)
        watch = threading.Timer(SECONDS_MAX, lambda: (self.fail(f"took longer than {SECONDS_MAX} s"), process.kill()))
        watch.start()
        self.follow(process, answers)
        watch.cancel()

    def follow(self, process, answers):
        output, ended = [], False
        for line in process.stdout:
            line = line.rstrip("\n")
            if not (mark := re.fullmatch(r"\x01(\w+) ([\d ]+)", line)):
                if line:
                    print(f"  {line}", flush=True)
                output.append(line)
                continue
            numbers = [int(number) for number in mark[2].split()]
            self.commands = numbers[-1]
            if mark[1] == "exit":
                ended = True
                if numbers[0]:
                    self.fail(f"line {numbers[1]} exits with {numbers[0]}: {self.text.splitlines()[numbers[1] - 1].strip()}")
                elif self.waiting:
                    self.fail(f"line {numbers[1]} ends the session")
                break
            block = next(block for block in self.blocks if block.first == numbers[0])
            if mark[1] == "begin":
                output = []
                print(f"{self.page}:{block.first}: {len(block.lines)} lines", flush=True)
            elif lacks := missing(block.expected, output):
                self.fail(f"line {lacks[0]} is not in the output of the block before: {lacks[1]}")
                process.kill()
                break
            else:
                self.waiting.remove(block.first)
            os.write(answers, b"\n")
        if not ended:
            self.fail("the session ended early")

    def fail(self, text):
        self.fault = self.fault or text

    def conclude(self, guide):
        for block in self.skipped:
            print(f"{self.page}:{block.first}: skipped, it needs {block.word}: {len(block.lines)} lines")
        with open(sys.argv[4], "a") as table:
            skips = sum(bool(line.strip() and not line.startswith("#")) for block in self.skipped for line in block.lines)
            table.write(f"{guide:<20} {self.commands:9} {skips:8} {time.time() - self.start:8.0f}  {'FAILED' if self.fault else 'ok'}\n")
        if self.fault:
            subprocess.run(in_machine("journalctl", "--no-pager", "--lines=20", "--output=cat", f"--since=@{self.start + 1}"))
            sys.exit(f"{self.page}: {self.fault}")


def main():
    walk = Walk(sys.argv[1])
    try:
        walk.run()
    except NoStandIn as error:
        walk.fail(str(error))
    walk.conclude(sys.argv[1])


main()
