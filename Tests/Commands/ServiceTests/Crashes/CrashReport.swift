/// A run in one line, and what went wrong in more.
struct CrashReport {
  let ways: CrashWays
  let settledAfterSeconds: Int
  let books: CrashBooks
  let violations: [CrashBooks.Violation]

  /// Everything that is asked of a run: counts of what was done, what was lost, what was doubled.
  var summary: String {
    let committed = books.committed
    let recipients = committed.reduce(0) { $0 + $1.room.recipients.count }
    let pushes = books.wire.accepted.values.reduce(0) { $0 + $1.count }
    return [
      ways.summary, "settled after \(settledAfterSeconds) s", "\(committed.count) messages",
      "\(recipients) recipients", "\(pushes) pushes accepted", "\(books.lines.shown.count) notifications",
      "folded \(books.folded)", "\(tally)", "joins and leaves \(books.handOvers.count)", "lost \(count(.lost))",
      "shown twice \(books.wire.shownTwice)", "wrong \(count(.wrong))",
      "wire duplicates \(books.wire.duplicates) (in flight \(books.acceptancesInFlight), others \(count(.repeated)), known \(books.duplicatesOfTheKnown))",
      "after "
        + books.duplicateCauses.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
      latencies,
    ].joined(separator: ", ")
  }

  private func count(_ kind: CrashBooks.Violation.Kind) -> Int { violations.count { $0.kind == kind } }

  private var tally: String {
    let counts = books.disruptions.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    return "\(books.disruptions.count) disruptions ("
      + counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ") + ")"
  }

  private var latencies: String {
    let sorted = books.undisturbedLatencies
    guard !sorted.isEmpty else { return "no undisturbed push" }
    let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    return "undisturbed \(sorted.count): p50 \(median / 1000) ms, p99 \(late / 1000) ms"
  }
}
