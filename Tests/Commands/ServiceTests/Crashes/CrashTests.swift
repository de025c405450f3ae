import Foundation
import Simulators
import TestPostgres
import TestProcesses
import Testing

/// The environment chooses how it is played:
///
/// - `CRASH_SECONDS`: how long disruptions go on; 60 unless it says otherwise.
/// - `CRASH_SEED` repeats the schedule of a run; a random one unless it says otherwise.
/// - `CRASH_FOLDING`: `off` gives each message a push of its own; `on` folds bursts within the 20 seconds of the service's default, and a
///   number within so many. Unless it says otherwise, runs with an even seed fold and the others do not.
/// - `CRASH_ROUTE`: `direct`, unless it says `pooled`; then the replicas reach the database through PgBouncer in transaction mode.
/// - `CRASH_JOINING`: a third replica joins or leaves every so many seconds, 10 unless it says otherwise; 0 for never.
@Suite("Two replicas while everything dies", .serialized)
struct CrashTests {
  @Test("lose nothing, show nothing twice, and push nobody who has read or looks")
  func books() async throws {
    let ways = try CrashWays(ProcessInfo.processInfo.environment)
    print("crash run: \(ways.summary)")
    let run = try await CrashRun(ways)
    let (report, unfinished, hostErrors) = try await run.play()
    print("crash run: \(report.summary)")
    if !report.violations.isEmpty || !unfinished.isEmpty {
      print(try await run.evidence(about: report.violations, in: report.books))
    }
    #expect(unfinished == [:], "\(ways.summary)")
    #expect(try await run.scene.parked() == 0)
    #expect(report.violations.count == 0, "\(report.summary)")
    #expect(report.books.wire.visible == report.books.lines.shown.count)
    #expect(report.books.duplicatesOfTheKnown * 100 < report.books.wire.accepted.count, "\(report.summary)")
    #expect(hostErrors == [])
    #expect(try await run.stop() == [0, 0])
    #expect(report.books.handOvers.allSatisfy { $0.kind == .join || $0.kind == .leave(exitCode: 0) })
    // A run that did nothing would balance as well.
    #expect(report.books.committed.count > ways.seconds * 3)
    #expect(report.books.disruptions.count >= ways.seconds / 5)
    #expect(ways.foldSeconds == 0 || report.books.folded > 0)
    #expect(ways.foldSeconds == 0 || report.books.lines.shown.count < report.books.wire.accepted.count)
    #expect(ways.joiningSeconds == 0 || report.books.handOvers.count >= ways.seconds / ways.joiningSeconds)
  }
}

/// A database, a simulator, two replicas, a third that comes and goes, and a host that talks, while everything is disrupted; and the
/// books afterwards.
struct CrashRun {
  private static let windowSeconds = 3
  private static let talkers = 3

  /// Leases of half a minute, doubled for those that were claimed again and again, and the retries after them.
  private static let settlingLimit = Duration.seconds(300)

  let scene: ServiceScene
  let replicas: [Replica]
  private let guest: Guest
  private let ways: CrashWays
  private let host = HostBook()
  private let rooms = HostRooms()

  init(_ ways: CrashWays) async throws {
    self.ways = ways
    // The host's commits survive a crash of the server; the service's own need not.
    let postgres = try await TestPostgres.launch(
      settings: ["synchronous_commit=on", "track_commit_timestamp=on"])
    scene = try await ServiceScene(
      postgres: postgres, route: ways.route, port: try reservedPort(),
      extra: [
        "SUPPRESSION_WINDOW_SECONDS": "\(Self.windowSeconds)", "FOLD_WINDOW_SECONDS": "\(ways.foldSeconds)",
        "LOG_LEVEL": "notice",
      ])
    let settings = scene.settings
    replicas = (1...DisruptionSchedule.replicas).map { reactors in
      Replica(settings.merging(["REACTORS": "\(reactors)"]) { $1 })
    }
    guest = Guest(Replica(settings.merging(["REACTORS": "1"]) { $1 }))
  }

  /// Plays it, lets everything finish, and closes the books.
  func play() async throws -> (report: CrashReport, unfinished: [String: Int], hostErrors: [String]) {
    try await scene.sql(PresenceReporter.table)
    for room in rooms.lasting {
      for device in room.recipients.flatMap(\.devices) { scene.registerSlowly(device) }
      try await scene.sql(room.creation)
    }
    for replica in replicas { try await replica.start() }
    let disruptor = Disruptor(scene, replicas)
    try await talk {
      async let visits: Void = guest.play(every: ways.joiningSeconds, for: ways.seconds)
      try await disruptor.play(DisruptionSchedule(seed: ways.seed, seconds: ways.seconds).disruptions)
      try await visits
    }
    let start = ContinuousClock.now
    let unfinished = try await scene.settle(within: Self.settlingLimit)
    let settling = (ContinuousClock.now - start).components.seconds
    let books = CrashBooks(
      host: host, ledger: try await LedgerBook(of: scene), wire: WireBook(scene.simulator.service),
      disruptions: disruptor.records, handOvers: guest.handOvers,
      windowMicroseconds: Int64(Self.windowSeconds) * 1_000_000, foldMicroseconds: Int64(ways.foldSeconds) * 1_000_000)
    let report = CrashReport(
      ways: ways, settledAfterSeconds: Int(settling), books: books, violations: books.violations)
    return (report, unfinished, host.errors)
  }

  /// Talks while something else goes on, and not for less than the run is long.
  private func talk(while other: () async throws -> Void) async throws {
    let end = SimulationClock.wall.microseconds + Int64(ways.seconds) * 1_000_000
    let (scene, host, rooms, seed) = (scene, host, rooms, ways.seed)
    try await withThrowingTaskGroup { group in
      for number in 0..<Self.talkers {
        group.addTask {
          try await onOwnThread {
            try HostTalker(scene, host, rooms, seed: seed &+ UInt64(number) &+ 1).run(until: end)
          }
        }
      }
      group.addTask { try await onOwnThread { PresenceReporter(scene, host, rooms).run(until: end) } }
      try await other()
      try await group.waitForAll()
    }
  }

  /// Ends the replicas; their exit codes.
  func stop() async throws -> [Int] {
    var codes: [Int] = []
    for replica in replicas { codes.append(try await replica.stop()) }
    await scene.simulator.stop()
    return codes
  }

  /// What there is to know about messages, and the last words of the replicas.
  func evidence(about violations: [CrashBooks.Violation], in books: CrashBooks) async throws -> String {
    var lines = violations.prefix(20).map { "\($0.kind) \($0.message): \($0.text)" }
    for id in Set(violations.prefix(20).map(\.message)).prefix(4) where UUID(uuidString: id) != nil {
      for table in [
        "public.messages where id", "tacet.push_log where subject_id", "tacet.inbox where subject_id",
        "tacet.deliveries where subject_id",
      ] {
        let rows = try await scene.patientSQL("select row_to_json(r) from (select * from \(table) = '\(id)' limit 5) r")
        lines.append("\(table) = \(id):\n\(rows)")
      }
      for message in books.messages where message.id == id {
        lines.append("host: \(message)")
        for user in message.room.recipients.map(\.user) { lines += reports(of: user, about: message, in: books) }
      }
      lines += books.wire.accepted.filter { $0.key.message == id }.prefix(5).map {
        "wire: \($0.key.device) \($0.value)"
      }
    }
    lines += books.disruptions.map { "\($0.name) from \($0.beganAt) to \($0.struckAt)" }
    lines += books.handOvers.map { "\($0.kind) from \($0.beganAt) to \($0.endedAt)" }
    lines.append(
      "triggers: " + (try await scene.patientSQL("select row_to_json(f) from tacet.trigger_failures f limit 5")))
    for replica in replicas { lines.append("replica:\n" + (await replica.tail(40))) }
    lines.append("third replica:\n" + (await guest.tail(40)))
    return lines.joined(separator: "\n")
  }

  private func reports(of user: String, about message: HostMessage, in books: CrashBooks) -> [String] {
    let around = (message.createdAt ?? 0) - 5_000_000...(message.createdAt ?? 0) + 10_000_000
    return (books.reports[user] ?? []).filter { around.contains($0.seenAt) }.map { "report: \($0)" }
  }
}
