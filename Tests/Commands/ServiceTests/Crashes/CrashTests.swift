import Foundation
import Simulators
import TestPostgres
import TestProcesses
import Testing

/// The environment has two switches: `CRASH_SECONDS`, how long disruptions go on (60 unless it says otherwise), and
/// `CRASH_SEED`, which repeats the schedule of a run.
@Suite("Two replicas while everything dies", .serialized)
struct CrashTests {
  @Test("lose nothing, show nothing twice, and push nobody who has read or looks")
  func books() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 60
    let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    print("crash run: seed \(seed), \(seconds) s")
    let run = try await CrashRun(seed: seed, seconds: seconds)
    let (report, unfinished, hostErrors) = try await run.play()
    print("crash run: \(report.summary)")
    if !report.violations.isEmpty || !unfinished.isEmpty {
      print(try await run.evidence(about: report.violations, in: report.books))
    }
    #expect(unfinished == [:], "seed \(seed)")
    #expect(try await run.scene.parked() == 0)
    #expect(report.violations.count == 0, "\(report.summary)")
    #expect(report.books.wire.visible == report.books.wire.accepted.count)
    #expect(report.books.duplicatesOfTheKnown * 100 < report.books.wire.accepted.count, "\(report.summary)")
    #expect(hostErrors == [])
    #expect(try await run.stop() == [0, 0])
    // A run that did nothing would balance as well.
    #expect(report.books.committed.count > seconds * 3)
    #expect(report.books.disruptions.count >= seconds / 5)
  }
}

/// A database, a simulator, two replicas and a host that talks, while everything is disrupted; and the books afterwards.
struct CrashRun {
  private static let windowSeconds = 3
  private static let talkers = 3

  /// Leases of half a minute, doubled for those that were claimed again and again, and the retries after them.
  private static let settlingLimit = Duration.seconds(300)

  let scene: ServiceScene
  let replicas: [Replica]
  private let seed: UInt64
  private let seconds: Int
  private let host = HostBook()
  private let rooms = HostRooms()

  init(seed: UInt64, seconds: Int) async throws {
    self.seed = seed
    self.seconds = seconds
    // The host's commits survive a crash of the server; the service's own need not.
    let postgres = try await TestPostgres.launch(
      settings: ["synchronous_commit=on", "track_commit_timestamp=on"])
    scene = try await ServiceScene(
      postgres: postgres, port: try freePort(),
      extra: ["SUPPRESSION_WINDOW_SECONDS": "\(Self.windowSeconds)", "LOG_LEVEL": "notice"])
    let settings = scene.settings
    replicas = (1...DisruptionSchedule.replicas).map { reactors in
      Replica(settings.merging(["REACTORS": "\(reactors)"]) { $1 })
    }
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
    try await talk { try await disruptor.play(DisruptionSchedule(seed: seed, seconds: seconds).disruptions) }
    let start = ContinuousClock.now
    let unfinished = try await scene.settle(within: Self.settlingLimit)
    let settling = (ContinuousClock.now - start).components.seconds
    let books = CrashBooks(
      host: host, ledger: try await LedgerBook(of: scene), wire: WireBook(scene.simulator.service),
      disruptions: disruptor.records, windowMicroseconds: Int64(Self.windowSeconds) * 1_000_000)
    let report = CrashReport(
      seed: seed, seconds: seconds, settledAfterSeconds: Int(settling), books: books, violations: books.violations)
    return (report, unfinished, host.errors)
  }

  /// Talks while something else goes on, and not for less than the run is long.
  private func talk(while other: () async throws -> Void) async throws {
    let end = SimulationClock.wall.microseconds + Int64(seconds) * 1_000_000
    let (scene, host, rooms, seed) = (scene, host, rooms, seed)
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
    lines.append(
      "triggers: " + (try await scene.patientSQL("select row_to_json(f) from tacet.trigger_failures f limit 5")))
    for replica in replicas { lines.append("replica:\n" + (await replica.tail(40))) }
    return lines.joined(separator: "\n")
  }

  private func reports(of user: String, about message: HostMessage, in books: CrashBooks) -> [String] {
    let around = (message.createdAt ?? 0) - 5_000_000...(message.createdAt ?? 0) + 10_000_000
    return (books.reports[user] ?? []).filter { around.contains($0.seenAt) }.map { "report: \($0)" }
  }
}

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

  private var latencies: String {
    let sorted = books.undisturbedLatencies
    guard !sorted.isEmpty else { return "no undisturbed push" }
    let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    return "undisturbed \(sorted.count): p50 \(median / 1000) ms, p99 \(late / 1000) ms"
  }
}

extension ServiceScene {
  /// How a host connects.
  var conninfo: String { postgres.conninfo(database: database) }

  /// Registers a device whose answers take a while, as they do from afar: half of the devices answer at once, the others
  /// leave time to be interrupted between the acceptance and its answer.
  func registerSlowly(_ token: String) {
    let delays = [0, 0, 0, 0, 50, 100, 200, 500]
    register(token, delayMilliseconds: delays[Int(token.utf8.first ?? 0) % delays.count])
  }

  /// Asks again while the database takes no connections, as in the first moment after a restart.
  func patientSQL(_ text: String, within limit: Duration = .seconds(30)) async throws -> String {
    let deadline = ContinuousClock.now + limit
    while true {
      do {
        return try await sql(text)
      } catch {
        guard ContinuousClock.now < deadline, !"\(error)".contains("ERROR:") else { throw error }
      }
    }
  }

  /// What is not finished: waiting or claimed events, remaining deliveries, recipients whose last word is "held".
  func unfinished() async throws -> [String: Int] {
    let text = try await patientSQL(
      """
      select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries),
        (select count(*) from tacet.push_log where decision = 'held')
      """)
    let counts = text.split(separator: "|").compactMap { Int($0) }
    return Dictionary(uniqueKeysWithValues: zip(["inbox", "deliveries", "held"], counts)).filter { $0.value > 0 }
  }

  /// Events and deliveries that were put aside as hopeless.
  func parked() async throws -> Int {
    guard try await patientSQL("select to_regclass('tacet.parked') is not null") == "t" else { return 0 }
    return Int(try await patientSQL("select count(*) from tacet.parked")) ?? -1
  }

  /// Waits until nothing is unfinished. There is nothing to wait on but the tables.
  /// - Returns: what still is when the time is over.
  func settle(within limit: Duration) async throws -> [String: Int] {
    let deadline = ContinuousClock.now + limit
    while true {
      let left = try await unfinished()
      if left.isEmpty || ContinuousClock.now >= deadline { return left }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}

/// One of several `tacet serve` on a database: a place that one process after the other takes.
actor Replica {
  private let settings: [String: String]
  private var process: ServiceProcess?
  private var isAlive = false
  /// What the processes before this one printed.
  private var past: [String] = []

  init(_ settings: [String: String]) {
    self.settings = settings
  }

  /// Returns when it serves; whether it has a database and APNs by then is its own affair.
  func start() async throws {
    let process = try ServiceProcess(["serve"], settings: settings)
    self.process = process
    _ = try await process.line(containing: "serving", within: .seconds(60))
    isAlive = true
  }

  /// - Returns: false when there was nobody to signal.
  func signal(_ number: Int32) async throws -> Bool {
    guard isAlive, let process else { return false }
    try await process.signal(number)
    return true
  }

  /// - Returns: false when there was nobody to kill.
  func kill() async throws -> Bool {
    guard try await signal(SIGKILL), let process else { return false }
    isAlive = false
    _ = try await process.exitCode()
    past.append(process.text)
    return true
  }

  /// Asks it to end; its exit code.
  func stop() async throws -> Int {
    guard try await signal(SIGTERM), let process else { return 0 }
    return try await process.exitCode(within: .seconds(60))
  }

  /// The last lines of everything it printed.
  func tail(_ count: Int) -> String {
    (past + [process?.text ?? ""]).joined(separator: "\n").split(separator: "\n").suffix(count).joined(separator: "\n")
  }
}

@Suite("Two replicas at peace", .serialized)
struct ReplicaTests {
  @Test("share one database's messages, and each is pushed and recorded once")
  func sharing() async throws {
    let count = 500
    try await ServiceScene.play { scene, first in
      let second = try await scene.startService()
      let conversation = try await Conversation(scene, [.away()])
      try await conversation.burst(of: count)
      #expect(try await scene.settle(within: .seconds(60)) == [:])
      let wire = WireBook(scene.simulator.service)
      #expect(wire.accepted.count == count && wire.duplicates == 0 && wire.shownTwice == 0 && wire.visible == count)
      #expect(wire.outcomes == ["200": count])
      #expect(
        try await scene.sql("select count(*) from tacet.push_log where decision = 'sent'") == "\(count)")
      // Recorded once: had both had a message, the sum would be larger.
      let name = "tacet_outcomes_total"
      let early = try await first.counter(name)
      let others = try await second.counter(name, reaching: count - early)
      let own = try await first.counter(name, reaching: count - others)
      #expect(own + others == count, "\(own), \(others)")
      try await second.stop()
    }
  }
}
