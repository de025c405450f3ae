/// A run in one line, and what went wrong in more.
struct CrashReport {
  let seed: UInt64
  let seconds: Int
  let settledAfterSeconds: Int
  let books: CrashBooks
  let violations: [CrashBooks.Violation]

  /// Everything that is asked of a run: counts of what was done, what was lost, what was doubled.
  var summary: String {
    let committed = books.committed
    let recipients = committed.reduce(0) { $0 + $1.room.recipients.count }
    let pushes = books.wire.accepted.values.reduce(0) { $0 + $1.count }
    return [
      "seed \(seed)", "\(seconds) s", "settled after \(settledAfterSeconds) s", "\(committed.count) messages",
      "\(recipients) recipients", "\(pushes) pushes accepted", "\(tally)", "lost \(count(.lost))",
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

  /// From the acknowledged commit to the acceptance, for those who are away, when no disruption was between a second
  /// before and the acceptance.
  private var latencies: String {
    let sorted = books.committed.flatMap { message in
      message.room.recipients.filter { $0.situation == .away }.compactMap { latency(of: message, to: $0) }
    }.sorted()
    guard !sorted.isEmpty else { return "no undisturbed push" }
    let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    return "undisturbed \(sorted.count): p50 \(median / 1000) ms, p99 \(late / 1000) ms"
  }

  private func latency(of message: HostMessage, to recipient: HostRecipient) -> Int64? {
    guard let device = recipient.devices.first, let committedAt = message.acknowledgedAt,
      let acceptedAt = books.wire.arrivals(of: message, at: device).first?.at
    else { return nil }
    let isDisturbed = books.disruptions.contains {
      $0.beganAt <= acceptedAt && $0.struckAt >= committedAt - 1_000_000
    }
    return isDisturbed ? nil : max(0, acceptedAt - committedAt)
  }
}
