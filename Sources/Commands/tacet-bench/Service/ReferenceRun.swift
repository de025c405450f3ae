import Logging
import Postgres
import Reactors

/// Scenario `reference`: the database alone, over one connection, without a service.
struct ReferenceRun {
  private static let seconds = 1.0

  let subject: SubjectBench

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    // As the tables' owner, in a separate schema, because others may not allow new tables.
    try await subject.control.simple(Self.makeTable, on: reactor)
    let connection = try await PostgresConnection.connect(
      .bench(subject.subject.conninfo, application: "reference"), logger: Logger(label: "reference"), on: reactor)
    defer { connection.close(on: reactor) }
    let roundTrips = try await time(Self.select, connection, on: reactor)
    let commits = try await time(Self.insert, connection, on: reactor)
    return [
      "roundtrip_p50_us": roundTrips.milliseconds(at: 50) * 1000, "commit_p50_ms": commits.milliseconds(at: 50),
      "commit_p99_ms": commits.milliseconds(at: 99),
    ]
  }

  /// Executes a statement repeatedly. The first execution prepares it and does not count.
  private func time(
    _ statement: PostgresStatement, _ connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws -> LatencyHistogram {
    try await connection.query(statement, on: reactor)
    var histogram = LatencyHistogram()
    let end = Reactor.now + UInt64(Self.seconds * 1e9)
    while Reactor.now < end {
      let start = Reactor.now
      try await connection.query(statement, on: reactor)
      histogram.record(from: start, to: Reactor.now)
    }
    return histogram
  }

  private static let makeTable = """
    create schema if not exists tacet_bench;
    drop table if exists tacet_bench.commits;
    create table tacet_bench.commits (at timestamptz not null)
    """

  private static let select = PostgresStatement("bench_select", "select 1")

  private static let insert = PostgresStatement(
    "bench_commit", "insert into tacet_bench.commits values (clock_timestamp())")
}

/// Scenario `start`: the time to become ready, and the idle footprint.
struct StartRun {
  private static let starts = 5
  private static let idleTime = Duration.seconds(2)

  let bench: ServiceBench
  let subject: SubjectBench

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    var times = LatencyHistogram()
    var memory: [String: Double] = [:]
    for start in 1...Self.starts {
      memory = try await bench.withService(of: subject, on: reactor) { service in
        times.record(nanoseconds: service.readyAfter)
        if start == Self.starts { await reactor.sleep(for: Self.idleTime) }
        return service.memoryFigures
      }
    }
    return memory.merging(["ready_ms": times.milliseconds(at: 50), "ready_max_ms": times.millisecondsMax]) { $1 }
  }
}
