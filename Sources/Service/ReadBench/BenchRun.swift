public import Logging
internal import Postgres
internal import PushKinds
public import PushStore
public import Reactors

/// Reads messages as claims do, and measures what each part takes. Writes nothing.
public struct BenchRun: Sendable {
  /// Round trips that are measured at most.
  private static let roundTripsMax = 500

  private let conninfo: String
  private let isPooled: Bool
  private let plan: BenchPlan
  private let logger: Logger

  /// Asks nothing yet.
  /// - Parameters:
  ///   - conninfo: how the database is reached.
  ///   - isPooled: whether a pooler lends sessions for a transaction.
  public init(_ conninfo: String, isPooled: Bool, _ plan: BenchPlan, logger: Logger) {
    self.conninfo = conninfo
    self.isPooled = isPooled
    self.plan = plan
    self.logger = logger
  }

  /// Measures.
  /// - Throws: ``Postgres/PostgresError`` where the database cannot be asked, ``BenchObstacle`` where there is nothing to measure.
  public func run(on reactor: isolated Reactor) async throws -> BenchFigures {
    let session = try await begin(on: reactor)
    defer { session.end(on: reactor) }
    let server = try await session.undone(on: reactor) { try await session.server(on: reactor) }
    guard server.isMigrated else { throw BenchObstacle.notMigrated }
    guard server.mayCall else { throw BenchObstacle.notAllowed(role: server.role) }
    let sample = try await session.undone(on: reactor) {
      try await session.newestMessages(max: plan.messages, on: reactor)
    }
    guard !sample.ids.isEmpty else { throw BenchObstacle.noMessages(sample.source, role: server.role) }
    var figures = BenchFigures(
      server: server, host: session.host, source: sample.source, messages: sample.ids.count,
      concurrency: plan.concurrency)
    figures.roundTrip = Distribution(try await roundTrips(of: session, on: reactor))
    let walk = MessageWalk(session, sample.ids)
    await walk.run(for: plan.walkLimit, on: reactor)
    walk.books.fill(&figures)
    try await readTogether(sample.ids, &figures, on: reactor)
    figures.missingIndexes = await missingIndexes(on: reactor)
    return figures
  }

  private func begin(on reactor: isolated Reactor) async throws(PostgresError) -> MeasuringSession {
    try await MeasuringSession.begin(
      conninfo, isPooled: isPooled, within: plan.statementLimit, logger: logger, on: reactor)
  }

  /// In microseconds.
  private func roundTrips(of session: MeasuringSession, on reactor: isolated Reactor) async throws -> [Int64] {
    let end = Reactor.now + plan.roundTripsLimit.wholeNanoseconds
    return try await session.undone(on: reactor) {
      // The first one also prepares the statement.
      _ = try await session.roundTrip(on: reactor)
      var times: [Int64] = []
      repeat {
        times.append(try await session.roundTrip(on: reactor) / 1000)
      } while times.count < Self.roundTripsMax
        && Reactor.now < end
      return times
    }
  }

  private func readTogether(
    _ messages: [HostID], _ figures: inout BenchFigures, on reactor: isolated Reactor
  ) async throws {
    // Without one read that has come to its end, many at once would only be a load.
    guard figures.alone != nil else { return }
    var sessions: [MeasuringSession] = []
    defer { for session in sessions { session.end(on: reactor) } }
    for _ in 0..<plan.concurrency { sessions.append(try await begin(on: reactor)) }
    let crowd = ReaderCrowd(sessions, messages)
    figures.readsPerSecond = await crowd.run(for: plan.readersLimit, on: reactor)
    figures.together = Distribution(crowd.reads)
  }

  /// What the doctor says about the indexes of the default host; nothing where it cannot look.
  private func missingIndexes(on reactor: isolated Reactor) async -> Set<String> {
    do throws(PostgresError) {
      let examination = try await DatabaseExamination.begin(
        conninfo, within: .seconds(5), logger: logger, on: reactor)
      defer { examination.end(on: reactor) }
      let names = DatabaseExamination.hostIndexes(of: try await examination.contractTables(on: reactor))
      return Set(try await examination.indexes(names, on: reactor).filter { $0.isUsable != true }.map(\.name))
    } catch {
      return []
    }
  }
}

/// Why nothing can be measured.
public enum BenchObstacle: Error, Equatable, CustomStringConvertible {
  /// There is no host contract.
  case notMigrated
  /// The role may not call it.
  case notAllowed(role: String)
  /// There is no message, or the role sees none.
  case noMessages(MessageSample.Source, role: String)

  /// A sentence for people.
  public var description: String {
    switch self {
    case .notMigrated: "this database has no host contract: run tacet migrate first"
    case .notAllowed(let role):
      "role \(role) may not call the host contract: take the service's role, or grant usage on schema tacet and execute on its functions"
    case .noMessages(.nowhere, _): "there is no message: the ledger is empty, and no table has the trigger on messages"
    case .noMessages(.newest(let table), let role), .noMessages(.highestIDs(let table), let role):
      "there is no message: the ledger is empty, and role \(role) sees no row of \(table)"
    case .noMessages(.ledger, _): "there is no message in the ledger"
    }
  }
}

extension Duration {
  /// Of a duration that is not negative and shorter than a century.
  var wholeNanoseconds: UInt64 {
    UInt64(components.seconds) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
  }
}
