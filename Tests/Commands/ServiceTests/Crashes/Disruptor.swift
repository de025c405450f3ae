import Foundation
import Simulators
import Synchronization
import TestPostgres
import TestProcesses
import TestRandomness
import Testing

/// Lets the disruptions of a schedule happen, and notes for each how much was at stake.
final class Disruptor: Sendable {
  let scene: ServiceScene
  let replicas: [Replica]
  private let content = Mutex<[DisruptionRecord]>([])

  var records: [DisruptionRecord] { content.withLock { $0 } }

  init(_ scene: ServiceScene, _ replicas: [Replica]) {
    self.scene = scene
    self.replicas = replicas
  }

  /// Plays a schedule. When it returns, everything is in service again.
  func play(_ schedule: [Disruption]) async throws {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for disruption in schedule {
        try await Task.sleep(until: start + .milliseconds(disruption.atMilliseconds))
        if let mending = try await strike(disruption) { group.addTask { try await mending() } }
      }
      try await group.waitForAll()
    }
    scene.simulator.service.withFaults { $0.removeAll() }
  }

  /// What ends a disruption, for those that last while others begin.
  private typealias Mending = @Sendable () async throws -> Void

  private func strike(_ disruption: Disruption) async throws -> Mending? {
    let beganAt = SimulationClock.wall.microseconds
    let unsafe = try await unsafeWork(beforeCrash: disruption.isCrash)
    let mending = try await perform(disruption.kind)
    let struckAt = SimulationClock.wall.microseconds
    content.withLock {
      $0.append(
        DisruptionRecord(
          name: disruption.name, isCrash: disruption.isCrash, isPause: disruption.isPause, beganAt: beganAt,
          struckAt: struckAt, unsafeWork: unsafe))
    }
    return mending
  }

  private func perform(_ kind: Disruption.Kind) async throws -> Mending? {
    let replicas = replicas
    switch kind {
    case .killReplica(let number, let away):
      guard try await replicas[number].kill() else { return nil }
      return {
        try await Task.sleep(for: .milliseconds(away))
        try await replicas[number].start()
      }
    case .pauseReplica(let number, let milliseconds):
      guard try await replicas[number].signal(SIGSTOP) else { return nil }
      return {
        try await Task.sleep(for: .milliseconds(milliseconds))
        _ = try await replicas[number].signal(SIGCONT)
      }
    case .restartPostgres(let end, let away):
      try await restartPostgres(end, away: away)
    case .strike(let fault):
      scene.simulator.connections.strike(fault)
    case .script(let fault, let times, let milliseconds):
      scene.simulator.service.withFaults { script in _ = script.arrange(.init(fault, times: times)) }
      try await Task.sleep(for: .milliseconds(milliseconds))
      scene.simulator.service.withFaults { $0.removeAll() }
    case .unavailable(let digits, let times):
      scene.simulator.answerUnavailable(toTokensFrom: digits, times: times)
    case .refuseConnections(let milliseconds):
      await scene.simulator.suspend()
      try await Task.sleep(for: .milliseconds(milliseconds))
      try await scene.simulator.resume()
    }
    return nil
  }

  private func restartPostgres(_ end: Disruption.PostgresEnd, away: Int) async throws {
    switch end {
    case .fast: try await scene.postgres.stop(.fast)
    case .immediate: try await scene.postgres.stop(.immediate)
    case .kill: try await scene.postgres.kill()
    }
    try await Task.sleep(for: .milliseconds(away))
    try await scene.postgres.start()
  }

  /// Read from the database, which is up between two disruptions. Two seconds are more than three rounds of the WAL
  /// writer, after which no commit can be forgotten any more.
  private func unsafeWork(beforeCrash isCrash: Bool) async throws -> Set<DisruptionRecord.Work> {
    let text = try await scene.patientSQL(
      """
      select i.subject_id, null from tacet.inbox i
      union all
      select d.subject_id, d.user_id from tacet.deliveries d
      where coalesce((to_jsonb(d) ->> 'is_claimed')::boolean, true)
      union all
      select l.subject_id, l.user_id from tacet.push_log l
      where \(isCrash) and pg_xact_commit_timestamp(l.xmin) > now() - interval '2 seconds'
      """)
    return Set(
      text.split(separator: "\n").map { line in
        let columns = line.split(separator: "|")
        return DisruptionRecord.Work(message: String(columns[0]), user: columns.count > 1 ? String(columns[1]) : nil)
      })
  }
}

extension APNSSimulator {
  /// Answers the next pushes to some of the devices with the 503 that asks for another connection. The other reasons of
  /// a 503 make a client wait for a quarter of an hour, which is longer than the run.
  fileprivate func answerUnavailable(toTokensFrom digits: String, times: Int) {
    service.withRegistry { registry in
      for (token, device) in registry.devices where token.first.map(digits.contains) == true {
        var device = device
        device.answers = [ScriptedAnswer(status: 503, reason: "Shutdown", times: times)]
        registry.register(device, token: token)
      }
    }
  }
}

/// Something bad that happens at a planned moment.
struct Disruption: Equatable {
  enum PostgresEnd: String {
    case fast, immediate, kill
  }

  enum Kind: Equatable {
    /// SIGKILL; another process takes its place after a while.
    case killReplica(Int, awayMilliseconds: Int)
    /// SIGSTOP, and SIGCONT after a while.
    case pauseReplica(Int, milliseconds: Int)
    case restartPostgres(PostgresEnd, awayMilliseconds: Int)
    /// A fault on every open connection to the simulator at once.
    case strike(ServerFault)
    /// A fault for the next requests, of those that come within a while.
    case script(ServerFault, times: Int, milliseconds: Int)
    /// 503 in place of the next acceptances, for the devices whose token begins with these digits.
    case unavailable(tokensFrom: String, times: Int)
    /// Connecting to the simulator is refused for a while.
    case refuseConnections(milliseconds: Int)
  }

  /// Since the beginning.
  let atMilliseconds: Int
  let kind: Kind

  /// Whether the database may forget commits that did not wait for the disk.
  var isCrash: Bool {
    if case .restartPostgres(let end, _) = kind { end != .fast } else { false }
  }

  /// Whether a process goes on later with what it has in hand.
  var isPause: Bool {
    if case .pauseReplica = kind { true } else { false }
  }

  /// For tallies.
  var name: String {
    switch kind {
    case .killReplica: "SIGKILL"
    case .pauseReplica: "SIGSTOP"
    case .restartPostgres(let end, _): "postgres \(end.rawValue)"
    case .strike(let fault): "all connections: \(fault.label)"
    case .script(let fault, _, _): fault.label
    case .unavailable: "503"
    case .refuseConnections: "connections refused"
    }
  }
}

extension ServerFault {
  /// Without its parameters, but for what makes a GOAWAY another kind.
  fileprivate var label: String {
    switch self {
    case .goAway(let lastStream, _, _): "goaway \(lastStream)"
    case .dropBeforeProcessing: "drop before"
    case .dropAfterProcessing: "drop after"
    case .blackHole: "black hole"
    case .refuseStream: "refused stream"
    case .resetStream: "reset"
    case .announceStreams: "streams"
    case .silence: "silence"
    case .ignorePings: "PINGs ignored"
    case .answer: "answer"
    case .delay: "delay"
    }
  }
}

/// A disruption that happened, and what it may have undone. Times are microseconds since 1970.
struct DisruptionRecord {
  struct Work: Hashable {
    let message: String
    /// Nil for all recipients.
    let user: String?
  }

  let name: String
  /// Whether the database may have forgotten commits of the service.
  let isCrash: Bool
  /// Whether a process goes on later with what it had in hand.
  let isPause: Bool
  /// When the unsafe work was read.
  let beganAt: Int64
  /// When it had struck.
  let struckAt: Int64
  /// Work that was claimed and not recorded then, or recorded and not on the disk.
  let unsafeWork: Set<Work>
}

/// What happens when in a run: a function of the seed and nothing else.
///
/// Dealt from a shuffled deck, so that every minute or so sees every kind; one every one to three seconds. A replica
/// that is away or paused by plan is left alone until it is back.
struct DisruptionSchedule {
  static let replicas = 2
  /// In milliseconds. Some of them outlast a lease of conversations, which is five seconds.
  static let pauses = 1000...8000

  let disruptions: [Disruption]

  private enum Card {
    case kill, pause
    case postgres(Disruption.PostgresEnd)
    case strike(ServerFault)
    case script(ServerFault)
    case unavailable, refuse
  }

  /// - Parameter seconds: how long disruptions go on.
  init(seed: UInt64, seconds: Int) {
    var generator = SeededGenerator(seed: seed)
    var dealt: [Disruption] = []
    var deck: [Card] = []
    var freeAt = [Int](repeating: 0, count: Self.replicas)
    var now = 0
    while true {
      now += Int.random(in: 1000...3000, using: &generator)
      guard now < seconds * 1000 else { break }
      if deck.isEmpty { deck = Self.deck.shuffled(using: &generator) }
      let card = deck.removeLast()
      dealt.append(Disruption(atMilliseconds: now, kind: Self.kind(card, now, &freeAt, &generator)))
    }
    disruptions = dealt
  }

  private static let deck: [Card] =
    [Card](repeating: .kill, count: 6) + [Card](repeating: .pause, count: 4) + [
      .postgres(.fast), .postgres(.fast), .postgres(.immediate), .postgres(.immediate), .postgres(.kill),
      .strike(.goAway(lastStream: .all, code: 0, debug: "")),
      .strike(.goAway(lastStream: .none, code: 0, debug: #"{"reason":"Shutdown"}"#)),
      .strike(.dropAfterProcessing), .strike(.blackHole),
      .script(.goAway(lastStream: .current, code: 0, debug: "")),
      .script(.goAway(lastStream: .previous, code: 0, debug: "")),
      .script(.dropBeforeProcessing), .script(.dropAfterProcessing), .script(.resetStream(code: 2)),
      .script(.refuseStream), .script(.blackHole),
      .unavailable, .unavailable, .refuse, .refuse,
    ]

  private static func kind(
    _ card: Card, _ now: Int, _ freeAt: inout [Int], _ generator: inout SeededGenerator
  ) -> Disruption.Kind {
    switch card {
    case .kill:
      let away = Int.random(in: 0...1500, using: &generator)
      return .killReplica(take(until: now + away, now, &freeAt, &generator), awayMilliseconds: away)
    case .pause:
      let pause = Int.random(in: pauses, using: &generator)
      return .pauseReplica(take(until: now + pause, now, &freeAt, &generator), milliseconds: pause)
    case .postgres(let end): return .restartPostgres(end, awayMilliseconds: .random(in: 0...1200, using: &generator))
    case .strike(let fault): return .strike(fault)
    case .script(let fault):
      return .script(
        fault, times: .random(in: 1...4, using: &generator), milliseconds: .random(in: 200...800, using: &generator))
    case .unavailable:
      let digits = "0123456789abcdef".shuffled(using: &generator).prefix(5)
      return .unavailable(tokensFrom: String(digits), times: .random(in: 1...2, using: &generator))
    case .refuse: return .refuseConnections(milliseconds: .random(in: 500...4000, using: &generator))
    }
  }

  /// A replica that is up by plan; when none is, the one that will be first: what happens then waits for it.
  private static func take(
    until end: Int, _ now: Int, _ freeAt: inout [Int], _ generator: inout SeededGenerator
  ) -> Int {
    let free = freeAt.indices.filter { freeAt[$0] <= now }
    let index = free.randomElement(using: &generator) ?? freeAt.indices.min { freeAt[$0] < freeAt[$1] } ?? 0
    freeAt[index] = max(end, freeAt[index])
    return index
  }
}

@Suite("A schedule of disruptions")
struct DisruptionScheduleTests {
  @Test("is the same for the same seed, another for another, and a longer one begins like a shorter one")
  func seeds() {
    let schedule = DisruptionSchedule(seed: 7, seconds: 60).disruptions
    #expect(schedule == DisruptionSchedule(seed: 7, seconds: 60).disruptions)
    #expect(schedule != DisruptionSchedule(seed: 8, seconds: 60).disruptions)
    let longer = DisruptionSchedule(seed: 7, seconds: 120).disruptions
    #expect(longer.count > schedule.count && Array(longer.prefix(schedule.count)) == schedule)
  }

  @Test("has something every one to three seconds, and every kind in little more than a minute", arguments: 1...20)
  func kinds(seed: UInt64) {
    let schedule = DisruptionSchedule(seed: seed, seconds: 100).disruptions
    let gaps = zip([0] + schedule.map(\.atMilliseconds), schedule.map(\.atMilliseconds)).map { $1 - $0 }
    #expect(gaps.allSatisfy { (1000...3000).contains($0) })
    let names = Set(schedule.map(\.name))
    #expect(names.count == 18, "\(names.sorted())")
  }

  @Test("leaves a replica alone while it is away or paused, unless both are", arguments: 1...20)
  func oneAtATime(seed: UInt64) {
    var busyUntil = [Int](repeating: 0, count: DisruptionSchedule.replicas)
    for disruption in DisruptionSchedule(seed: seed, seconds: 300).disruptions {
      let (number, length): (Int, Int)
      switch disruption.kind {
      case .killReplica(let replica, let away): (number, length) = (replica, away)
      case .pauseReplica(let replica, let pause): (number, length) = (replica, pause)
      default: continue
      }
      let now = disruption.atMilliseconds
      #expect(busyUntil[number] <= now || busyUntil.allSatisfy { $0 > now })
      busyUntil[number] = max(busyUntil[number], now + length)
    }
  }

  @Test("has pauses of which at least a third outlast the lease of a process, but not all")
  func pauses() {
    let pauses = (1...20).flatMap { DisruptionSchedule(seed: $0, seconds: 60).disruptions }.compactMap { disruption in
      if case .pauseReplica(_, let milliseconds) = disruption.kind { milliseconds } else { nil }
    }
    let longer = pauses.count { $0 > 5000 }
    #expect(longer * 3 > pauses.count && longer * 2 < pauses.count)
  }
}
