internal import CLibpq
internal import Glibc
public import Logging
public import Reactors

extension PostgresConnection {
  /// Opens a session without blocking the reactor.
  ///
  /// Names are resolved on the global executor. libpq tries the hosts in order and honours `target_session_attrs`; it has
  /// no time limit of its own when driven asynchronously, so a host that never answers is given its share of the limit
  /// and then the attempt begins again with the next host.
  /// - Throws: ``PostgresError/Code/notConnected`` with the server's reason and SQLSTATE where it gave one,
  ///   ``PostgresError/Code/timedOut``, or ``PostgresError/Code/invalidConfiguration``.
  public static func connect(
    _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresConnection {
    var parameters = try ConnectionParameters(configuration)
    let deadline = Reactor.now + configuration.connectLimit.clampedNanoseconds
    try await parameters.resolve()
    let attempts = max(1, parameters.targets.count)
    for first in 0..<attempts {
      let now = Reactor.now
      guard now < deadline else { break }
      let share = (deadline - now) / UInt64(attempts - first)
      if let handle = try await establish(parameters, first: first, deadline: now + share, on: reactor) {
        return try begin(handle, configuration, logger, on: reactor)
      }
    }
    throw PostgresError(.timedOut, "no session within \(configuration.connectLimit)")
  }

  /// One run of libpq's connect over all hosts, beginning with the one numbered `first`.
  /// - Returns: nil when the deadline passed.
  private static func establish(
    _ parameters: ConnectionParameters, first: Int, deadline: UInt64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> OpaquePointer? {
    guard let handle = parameters.startConnect(first: first) else {
      throw PostgresError(.notConnected, "out of memory")
    }
    do throws(PostgresError) {
      if try await pollUntilConnected(handle, deadline: deadline, on: reactor) { return handle }
    } catch {
      PQfinish(handle)
      throw error
    }
    PQfinish(handle)
    return nil
  }

  /// Follows `PQconnectPoll`, which may use another socket after every call: each wait registers anew.
  private static func pollUntilConnected(
    _ handle: OpaquePointer, deadline: UInt64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    var interest = Interest.write
    guard PQstatus(handle) != CONNECTION_BAD else { throw connectFailure(handle) }
    while true {
      let now = Reactor.now
      guard now < deadline else { return false }
      let limit = Duration.nanoseconds(deadline - now)
      guard try await wait(for: interest, of: handle, limit, on: reactor) else { return false }
      switch PQconnectPoll(handle) {
      case PGRES_POLLING_OK: return true
      case PGRES_POLLING_READING: interest = .read
      case PGRES_POLLING_WRITING: interest = .write
      default: throw connectFailure(handle)
      }
    }
  }

  private static func wait(
    for interest: Interest, of handle: OpaquePointer, _ limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let socket = PQsocket(handle)
    guard socket >= 0 else { throw connectFailure(handle) }
    do throws(SystemError) {
      return try await reactor.waitForReadiness(of: socket, interest, for: limit) != nil
    } catch {
      throw PostgresError(.notConnected, error.description)
    }
  }

  /// libpq keeps the text of a refused connect but not its SQLSTATE. Those that tell an operator what to mend are
  /// recognised by the server's English text; a server that speaks another language gives no SQLSTATE here.
  private static func connectFailure(_ handle: OpaquePointer) -> PostgresError {
    let error = PostgresError(.notConnected, of: handle)
    let known: [(String, SQLState)] = [
      ("password authentication failed", .invalidPassword), ("no password supplied", .invalidPassword),
      ("\" does not exist", .invalidCatalogName), ("the database system is", .cannotConnectNow),
    ]
    let sqlState = known.first { contains(error.message, $0.0) }?.1
    return PostgresError(.notConnected, context: .init(sqlState: sqlState, message: error.message))
  }

  private static func contains(_ text: String, _ part: String) -> Bool {
    text.withCString { text in part.withCString { strstr(text, $0) != nil } }
  }

  private static func begin(
    _ handle: OpaquePointer, _ configuration: PostgresConfiguration, _ logger: Logger, on reactor: isolated Reactor
  ) throws(PostgresError) -> PostgresConnection {
    let connection = PostgresConnection(owning: handle, configuration: configuration, logger: logger)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw PostgresError(.notConnected, of: handle)
    }
    do throws(SystemError) {
      connection.registration = try reactor.register(PQsocket(handle), for: .read, handler: connection)
    } catch {
      throw PostgresError(.notConnected, error.description)
    }
    return connection
  }
}
