import ArgumentParser
import Glibc
import Logging
import Postgres
import Reactors

/// A subject with its database: the shared parts of its runs.
final class SubjectBench {
  /// The time to finish the work of a run.
  private static let quietLimit = Duration.seconds(60)

  let subject: Subject
  /// The load's connection string.
  let hostConninfo: String
  /// A session of the tables' owner.
  let control: PostgresConnection
  let conversations: [BenchConversation]
  /// Nil when the server's processes are not accessible.
  let postmaster: pid_t?

  private init(
    _ subject: Subject, hostConninfo: String, control: PostgresConnection, conversations: [BenchConversation]
  ) {
    self.subject = subject
    self.hostConninfo = hostConninfo
    self.control = control
    self.conversations = conversations
    postmaster = ClusterUsage.postmaster(ofBackend: control.backendID)
  }

  /// Connects, and prepares the picked conversations.
  static func open(
    _ subject: Subject, hostConninfo: String, on reactor: isolated Reactor
  ) async throws -> SubjectBench {
    let control = try await PostgresConnection.connect(
      .bench(subject.conninfo, application: "control"), logger: Logger(label: "control"), on: reactor)
    let conversations = try await HostScene.prepare(control, on: reactor)
    return SubjectBench(subject, hostConninfo: hostConninfo, control: control, conversations: conversations)
  }

  func close(on reactor: isolated Reactor) { control.close(on: reactor) }

  /// Waits until the service has nothing left to do.
  func awaitQuiet(on reactor: isolated Reactor) async throws {
    let deadline = Reactor.now + Self.quietLimit.clampedNanoseconds
    while try await control.query(Self.hasWork, on: reactor).one().decode("has_work", as: Bool.self) {
      guard Reactor.now < deadline else { throw BenchError("inbox and deliveries did not become empty") }
      await reactor.sleep(for: .milliseconds(20))
    }
  }

  /// Makes a checkpoint, so that none falls into a run. Skipped without the privilege.
  func checkpoint(on reactor: isolated Reactor) async throws {
    guard try await control.query(Self.mayCheckpoint, on: reactor).one().decode("may", as: Bool.self) else { return }
    try await control.simple("checkpoint", on: reactor)
  }

  private static let hasWork = PostgresStatement(
    "bench_has_work",
    "select exists (select from tacet.inbox) or exists (select from tacet.deliveries) as has_work")

  /// Since PostgreSQL 15 there is a role for it.
  private static let mayCheckpoint = PostgresStatement(
    "bench_may_checkpoint",
    """
    select exists (
      select from pg_roles me where me.rolname = current_user and me.rolsuper
      union all
      select from pg_roles r where r.rolname = 'pg_checkpoint' and pg_has_role(r.oid, 'usage')
    ) as may
    """)
}

/// `NAME=PROGRAM,CONNINFO`: a build of the service, and a database that its own program has migrated.
struct Subject: ExpressibleByArgument, Sendable, Equatable {
  let name: String
  /// The path of `tacet`.
  let program: String
  /// libpq's connection string for the owner of the tables. It may contain commas and equals signs.
  let conninfo: String

  init?(argument: String) {
    guard let named = NamedValue(argument: argument), let comma = named.value.firstIndex(of: ",") else { return nil }
    name = named.name
    program = String(named.value[..<comma])
    conninfo = String(named.value[named.value.index(after: comma)...])
    guard !program.isEmpty, !conninfo.isEmpty else { return nil }
  }
}

/// `NAME=VALUE`, cut at the first equals sign; both have at least one character.
struct NamedValue: ExpressibleByArgument, Sendable, Equatable {
  let name: String
  let value: String

  init?(argument: String) {
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    name = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
    guard !name.isEmpty, !value.isEmpty else { return nil }
  }
}
