import Reactors

/// Messages at a steady rate, and what became of them.
struct MessageTrial {
  /// How long the last pushes may take after the last commit.
  private static let acceptanceLimit = Duration.seconds(30)

  /// Before the first message is due, so that the metronome is there in time.
  private static let leadNanoseconds: UInt64 = 20_000_000

  let bench: ServiceBench
  let subject: SubjectBench
  let perSecond: Double
  let warmUpSeconds: Double
  let seconds: Double

  /// - Throws: when a push was lost, and what the database throws.
  func run(beside service: RunningService, on reactor: isolated Reactor) async throws -> [String: Double] {
    let sessions = try await MessageLoad.openSessions(bench.connections, to: subject.hostConninfo, on: reactor)
    defer { sessions.close(on: reactor) }
    let load = MessageLoad(into: subject.conversations, over: sessions)
    let schedule = ArrivalSchedule(
      start: Reactor.now + Self.leadNanoseconds, perSecond: perSecond, warmUpSeconds: warmUpSeconds, seconds: seconds)
    let usageBefore = UsageMark(of: service, subject)
    try await load.run(schedule, atFirstCounted: usageBefore.take, on: reactor)
    _ = await bench.sink.wait(for: expectedPushes(of: load.messages), within: Self.acceptanceLimit)
    let usage = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
    try await subject.awaitQuiet(on: reactor)
    let books = RunBooks(
      load.messages, counted: schedule.counted, recipients: subject.conversations.map(\.devices),
      acceptances: await bench.sink.take())
    try books.check()
    return Self.figures(of: books, schedule)
      .merging(usage.figures(since: usageBefore.usage, per: "push", count: books.pushes)) { $1 }
      .merging(service.memoryFigures) { $1 }
  }

  private func expectedPushes(of messages: [SentMessage]) -> Int {
    messages.reduce(0) { $0 + subject.conversations[$1.conversation].devices.count }
  }

  private static func figures(of books: RunBooks, _ schedule: ArrivalSchedule) -> [String: Double] {
    let span = schedule.countedSpan
    var figures = books.accepted.figures("accepted", [50, 90, 99])
    figures.merge(books.arrival.figures("arrival", [50, 99])) { $1 }
    figures.merge(books.commit.figures("commit", [50, 99])) { $1 }
    figures["accepted_max_ms"] = books.accepted.millisecondsMax
    figures["offered_per_second"] = schedule.perSecond
    figures["achieved_per_second"] = Double(books.completed(in: span)) * 1e9 / Double(span.upperBound - span.lowerBound)
    figures["pushes"] = Double(books.pushes)
    figures["lost"] = Double(books.lost)
    figures["doubled"] = Double(books.doubled)
    return figures
  }
}

/// What had been used when the first message that counts was due.
private final class UsageMark {
  private let service: RunningService
  private let subject: SubjectBench
  private(set) var usage: ServiceUsage

  init(of service: RunningService, _ subject: SubjectBench) {
    self.service = service
    self.subject = subject
    usage = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  func take() { usage = ServiceUsage(of: service.child.id, postmaster: subject.postmaster) }
}
