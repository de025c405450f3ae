import API
import Logging
import Operations
import Postgres
import PushStore
import Reactors
import Synchronization

/// Plays a message through the host contract when the service starts, and each minute while that does not work: an
/// operator who replaced a function or forgot a grant learns of it before a message comes. One in each process; when it dies,
/// only failing claims show it.
final class ContractWatch {
  /// Between two trials while something is wrong.
  private static let interval = Duration.seconds(60)
  /// Between two trials while the database is away.
  private static let outageInterval = Duration.seconds(1)

  private let store: PushDatabase
  private let status: ContractStatus
  private let logger: Logger
  private let pause: WakefulPause
  private var isStopped = false
  private var told: [Judgement] = []

  init(store: PushDatabase, status: ContractStatus, sleep: DatabaseSleep?, logger: Logger) {
    self.store = store
    self.status = status
    self.logger = logger
    pause = WakefulPause(sleep)
  }

  /// Works until all is well, or ``stop(on:)``.
  func run(on reactor: isolated Reactor) async {
    while !isStopped, let wait = await look(on: reactor) {
      _ = await pause.wait(for: wait * .random(in: 0.8...1.2), on: reactor)
    }
  }

  func stop(on reactor: isolated Reactor) {
    isStopped = true
    pause.signal(on: reactor)
  }

  /// - Returns: when to look again; nil when all is well.
  private func look(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      let trials = try await store.rehearseMessage(on: reactor)
      // Claims and readiness say so.
      if ContractTrial.areRefused(trials) { return Self.outageInterval }
      let findings = Judgement.contract(trials, role: "the service").filter { $0.verdict != .ok }
      status.update(trials)
      if findings != told { tell(findings) }
      return findings.isEmpty ? nil : Self.interval
    } catch {
      guard error.blamesStatement else { return Self.outageInterval }
      logger.warning("the host contract could not be tried", metadata: ["error": "\(error.debugDescription)"])
      return Self.interval
    }
  }

  private func tell(_ findings: [Judgement]) {
    told = findings
    for finding in findings {
      logger.warning(
        "messages would not be pushed as they should",
        metadata: ["found": "\(finding.found)", "todo": "\(finding.remedy ?? "")"])
    }
    if findings.isEmpty { logger.notice("the host contract works") }
  }
}

/// What is known of the host contract, readable from every reactor.
final class ContractStatus: Sendable {
  private let failed = Mutex<[String]>([])

  fileprivate func update(_ trials: [ContractTrial]) {
    failed.withLock { $0 = trials.filter { $0.outcome == .failed }.map(\.step) }
  }

  /// Not ready when no message can be pushed. Callers learn the names of functions, and nothing of the host's tables.
  var readiness: ReadinessCheck {
    let failed = failed.withLock { $0 }
    let names = failed.map { $0 == "trigger" ? "the trigger on messages" : "tacet.\($0)" }
    return ReadinessCheck(
      "contract", isReady: ContractTrial.neededForPushes.isDisjoint(with: failed),
      detail: names.isEmpty
        ? nil : "\(names.joined(separator: ", ")): does not work; the log and tacet doctor say what to do")
  }
}
