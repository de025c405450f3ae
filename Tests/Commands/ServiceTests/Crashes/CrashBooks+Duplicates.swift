// Pushes that were accepted again.
extension CrashBooks {
  /// A lease, during which nobody else takes the work of a claim that was forgotten or whose answers were lost.
  private static let leaseMicroseconds: Int64 = 30_000_000

  /// How long a push may be on its way.
  private static let pushMicroseconds: Int64 = 10_000_000

  /// Acceptances that were in flight in a disruption: the service may not know of them, and then repeats them. There
  /// are at most as many duplicates.
  var acceptancesInFlight: Int {
    wire.accepted.reduce(0) { count, entry in count + entry.value.count { isInFlight($0.at, entry.key) } }
  }

  /// Repetitions of what was not in flight in any disruption.
  var duplicateViolations: [Violation] {
    wire.accepted.flatMap { place, arrivals in
      zip(arrivals, arrivals.dropFirst()).filter { !isInFlight($0.0.at, place) }.map { first, second in
        Violation(
          kind: .repeated, message: place.message,
          text: "accepted again by \(place.device) after \(second.at - first.at) us, though nothing came between")
      }
    }
  }

  /// Repetitions of what the service was told in peace: no disruption from the acceptance until ``recordMicroseconds``
  /// after its answer. The service may not know of the others: their answers were lost, or may have been.
  var duplicatesOfTheKnown: Int {
    let record = recordMicroseconds
    return wire.accepted.values.reduce(0) { $0 + $1.dropLast().count { isKnown($0, recordMicroseconds: record) } }
  }

  /// How long the service may take to record an answer: a quarter of a second, or, on a machine that is busy with other
  /// work, twice what 99 of 100 undisturbed pushes took to be accepted.
  private var recordMicroseconds: Int64 {
    let latencies = undisturbedLatencies
    guard !latencies.isEmpty else { return Disruptor.slackMicroseconds }
    return max(Disruptor.slackMicroseconds, 2 * latencies[latencies.count * 99 / 100])
  }

  private func isKnown(_ arrival: WireBook.Arrival, recordMicroseconds: Int64) -> Bool {
    guard let answeredAt = arrival.answeredAt else { return false }
    return !disruptions.contains {
      $0.beganAt <= answeredAt + recordMicroseconds && arrival.at <= $0.struckAt + Disruptor.slackMicroseconds
    }
  }

  /// From the acknowledged commit to the acceptance, for those who are away, when no disruption was between a second
  /// before and the acceptance; microseconds, the shortest first.
  var undisturbedLatencies: [Int64] {
    committed.flatMap { message in
      message.room.recipients.filter { $0.situation == .away }.compactMap { latency(of: message, to: $0) }
    }.sorted()
  }

  private func latency(of message: HostMessage, to recipient: HostRecipient) -> Int64? {
    guard let device = recipient.devices.first, let committedAt = message.acknowledgedAt,
      let acceptedAt = wire.arrivals(of: message, at: device).first?.at
    else { return nil }
    let isDisturbed = disruptions.contains { $0.beganAt <= acceptedAt && $0.struckAt >= committedAt - 1_000_000 }
    return isDisturbed ? nil : max(0, acceptedAt - committedAt)
  }

  /// How many were accepted again after each kind of disruption.
  var duplicateCauses: [String: Int] {
    var causes: [String: Int] = [:]
    for (place, arrivals) in wire.accepted where arrivals.count > 1 {
      for arrival in arrivals.dropLast() {
        let cause = disruptions.last {
          isInFlight(arrival.at, place, in: $0) && $0.beganAt <= arrival.at + Self.pushMicroseconds
        }
        causes[cause?.name ?? "none", default: 0] += 1
      }
    }
    return causes
  }

  private func isInFlight(_ acceptedAt: Int64, _ place: WireBook.Place) -> Bool {
    disruptions.contains { isInFlight(acceptedAt, place, in: $0) }
  }

  /// Accepted while the disruption struck; or by a claim that was not safely recorded before; or, after a crash that
  /// may have forgotten a claim, late under that claim.
  private func isInFlight(_ acceptedAt: Int64, _ place: WireBook.Place, in disruption: DisruptionRecord) -> Bool {
    let end = disruption.struckAt + Disruptor.slackMicroseconds
    if disruption.beganAt <= acceptedAt, acceptedAt <= end { return true }
    if acceptedAt <= end + Self.leaseMicroseconds, isUnsafe(place, in: disruption) { return true }
    guard disruption.isCrash, end < acceptedAt, acceptedAt <= end + Self.pushMicroseconds else { return false }
    return createdAt[place.message].map { $0 <= disruption.struckAt } ?? false
  }

  private func isUnsafe(_ place: WireBook.Place, in disruption: DisruptionRecord) -> Bool {
    disruption.unsafeWork.contains(.init(message: place.message, user: nil))
      || disruption.unsafeWork.contains(.init(message: place.message, user: users[place.device]))
  }
}
