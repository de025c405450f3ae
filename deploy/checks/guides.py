"""Runs the commands of a guide in a throwaway machine.

    guides.py GUIDE CLONE MACHINE TABLE

CLONE is the clone's path as this machine sees it, MACHINE the first process of the guide's machine. Appends a row to TABLE.
"""

import pathlib
import re
import subprocess
import sys
import time

SECONDS_MAX = 600
guide, clone, machine, table = sys.argv[1:]
page = f"deploy/guides/{guide}.md"
text = (pathlib.Path(clone) / page).read_text()
enter = ["nsenter", "--target", machine, f"--wd=/proc/{machine}/root/root/tacet", "--mount", "--pid", "--net", "--uts", "--ipc",
         "--cgroup", "--root", "env", "-i", "HOME=/root", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]


class Block:
    def __init__(self, word, first):
        self.word, self.first, self.lines, self.expected = word, first, [], []
        self.runs = word in ("", "yours")


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


def with_stand_in(line):
    name = re.match(r"export (\w+)=", line)[1]
    answer = subprocess.run([*enter, "bash", "/run/checks/stand-ins.sh", name], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"{page}: there is no stand-in for {name}: {answer.stderr.strip()}")
    return f"export {name}='{answer.stdout.strip()}'"


def session(blocks):
    """The page with nothing but its commands, each in its own line, so that line numbers are the page's."""
    lines = [""] * (text.count("\n") + 1)
    for block in blocks:
        lines[block.first - 1] = f"printf '\\n\\001%d\\n' {block.first}"
        for offset, line in enumerate(block.lines):
            lines[block.first + offset] = with_stand_in(line) if block.word else line
    lines[0] = r"""set -eEuo pipefail; trap 'printf "\n\001fault %d\n" $LINENO' ERR; """ + lines[0]
    return "\n".join(lines + [r"printf '\n\001end\n'"])


def missing(expected, output):
    """The first expected line that does not follow the others in the output."""
    rest = iter(output)
    for number, line in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        if not any(pattern.fullmatch(found.rstrip()) for found in rest):
            return f"line {number} is not in the output of the block before: {line}"
    return None


def fault_in(blocks, output):
    """Output is of one block from its mark to the next."""
    parts = dict(re.findall(r"\x01(.+)\n([^\x01]*)", output))
    for block in blocks:
        if lacks := missing(block.expected, parts.get(str(block.first), "").split("\n")):
            return lacks if "end" in parts else f"stopped at line {block.first}"
    return None if "end" in parts else "the session ended early"


start = time.time()
blocks = blocks_of(text)
runs = [block for block in blocks if block.runs]
pathlib.Path(f"/proc/{machine}/root/run/checks/session").write_text(session(runs))
try:
    run = subprocess.run([*enter, "bash", "/run/checks/session"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS_MAX)
    output, fault = run.stdout, None
except subprocess.TimeoutExpired as error:
    output, fault = (error.stdout or b"").decode(errors="replace"), f"took longer than {SECONDS_MAX} s"
print(re.sub(r"\n?\x01(\w+)", rf"\n{page}:\1", output))
if stopped := re.search(r"\x01fault (\d+)", output):
    fault = f"line {stopped[1]} fails: {text.splitlines()[int(stopped[1]) - 1].strip()}"
fault = fault or fault_in(runs, output)
counts = [sum(bool(line.strip() and line[0] != "#") for block in some for line in block.lines)
          for some in (runs, [block for block in blocks if not block.runs])]
with open(table, "a") as rows:
    rows.write(f"{guide:<20} {counts[0]:9} {counts[1]:8} {time.time() - start:8.0f}  {'FAILED' if fault else 'ok'}\n")
if fault:
    subprocess.run([*enter, "journalctl", "--no-pager", "--lines=20", "--output=cat", f"--since=@{int(start) + 1}"])
    sys.exit(f"{page}: {fault}")
