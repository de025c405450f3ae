"""What came of the messages of one fault: deploy/failover's figures, their bounds, and the table of them."""

import json

PUSHES_RESUME_MAX = 1.0
READYZ_MAX = 3.0
# Looks at /readyz and their answers take time.
LOOK_TOLERANCE = 0.15
COLUMNS = {
    "fault": "fault", "commits": "no commits, s", "pushes": "then no pushes, s", "slowest": "slowest push, s",
    "away": "503 after, s", "back": "200 after, s", "acknowledged": "acknowledged", "lost": "lost",
    "forgotten": "forgotten", "ghosts": "of these pushed", "late_ghosts": "pushed later", "twice": "shown twice",
    "wire": "wire duplicates",
}


def lost(load, pushes, there):
    """The messages in the database of which a device of the recipient got no push."""
    return [m for m in there if not all(pushes.of.get((m, token)) for token in load.tried[m][2])]


def judge(options, load, watchers, pushes, there, left):
    marks = dict(line.split() for line in (options.state / "marks").read_text().splitlines())
    injected = float(marks["injected"])
    times = [at for at, _, _ in load.acknowledged]
    is_fail_over = options.kind == "leader"
    misses = []
    gap_began, gap_ended = longest_gap(times, injected)
    if is_fail_over:
        gap_ended = next((at for at, host, _ in load.acknowledged if at > injected and host != options.leader), None)
        if gap_ended is None or there is None:
            return {"fault": options.fault}, ["no other node has taken over"]
        gap_began = max(at for at in times if at < gap_ended)
    resumed = gap_ended if is_fail_over else float(marks.get("restored", injected))
    acknowledged = {message: at for at, _, message in load.acknowledged}
    arrivals = pushes.arrivals()
    later = {m: arrivals.get(m) for m, at in acknowledged.items() if at >= resumed and m in there}
    # Each arrival of a forgotten message counts: one that was pushed before must not come again either.
    ghosts = {m: [at for token in conversation[2] for at, _ in pushes.of.get((m, token), [])]
              for m, conversation in load.tried.items() if m not in there}
    # With a pooler or a standby at fault no commit stops; then what counts is the service's own silence.
    if options.kind == "standby":
        silence_began, silence_ended = longest_gap(sorted(arrivals.values()), injected)
        silence = silence_ended - silence_began
    else:
        silence = max(0.0, min((at for at in later.values() if at), default=float("inf")) - resumed)
    row = {
        "fault": options.fault, "commits": gap_ended - gap_began, "pushes": silence,
        "slowest": max((at - acknowledged[m] for m, at in later.items() if at), default=None),
        "acknowledged": len(acknowledged),
        "lost": len(lost(load, pushes, there)),
        "forgotten": sum(1 for m in acknowledged if m not in there),
        "ghosts": sum(any(at < resumed for at in times) for times in ghosts.values()),
        "late_ghosts": sum(any(at >= resumed for at in times) for times in ghosts.values()),
        "twice": sum(1 for list_ in pushes.of.values() if len({c for _, c in list_}) > 1),
        "wire": sum(len(list_) - len({c for _, c in list_}) for list_ in pushes.of.values()),
    }
    began = injected if options.kind == "pooler" else max(injected, gap_began)
    outage = resumed - began
    judge_readyz(row, misses, watchers, began, resumed, outage if options.kind != "standby" else 0)
    for name in ("lost", "late_ghosts", "twice"):
        if row[name]:
            misses.append(f"{COLUMNS[name]}: {row[name]} instead of 0")
    if options.synchronous and row["forgotten"]:
        misses.append(f"forgotten: {row['forgotten']} instead of 0, with synchronous replication")
    if silence > PUSHES_RESUME_MAX:
        misses.append(f"no pushes for {silence:.2f} s instead of at most {PUSHES_RESUME_MAX:.0f}")
    if options.kind == "standby" and row["commits"] > PUSHES_RESUME_MAX:
        misses.append(f"no commits for {row['commits']:.2f} s instead of at most {PUSHES_RESUME_MAX:.0f}")
    if left:
        misses.append(f"{left} rows still wait in the end")
    if pushes.refused:
        misses.append(f"APNs refused {pushes.refused} pushes")
    return row, misses


def longest_gap(times, since):
    """Of the times since then, and the last one before."""
    recent = [at for at in times if at < since][-1:] + [at for at in times if at >= since]
    return max(zip(recent, recent[1:]), key=lambda pair: pair[1] - pair[0])


def judge_readyz(row, misses, watchers, began, resumed, outage):
    """Of both services the slower one counts. A service may stay ready in an outage shorter than three seconds."""
    away = [watcher.first(503, began) for watcher in watchers]
    if any(watcher.first(0, began) for watcher in watchers):
        misses.append("/readyz did not answer within a second")
    if any(away):
        row["away"] = max(at for at in away if at) - began
        row["back"] = max(0.0, max(w.first(200, at) or float("inf") for w, at in zip(watchers, away) if at) - resumed)
    limit = READYZ_MAX + LOOK_TOLERANCE
    if outage > limit and not all(at and at - began <= limit for at in away):
        misses.append(f"/readyz says 503 after {row.get('away', float('inf')):.2f} s instead of at most {READYZ_MAX:.0f}")
    if not all(watcher.is_ready() for watcher in watchers):
        misses.append("/readyz is not 200 in the end")


def shown(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def table(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print("| " + " | ".join(COLUMNS.values()) + " |")
    print("|---" + "|---:" * (len(COLUMNS) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(shown(row.get(key)) for key in COLUMNS) + " |")
