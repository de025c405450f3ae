internal import CLibpq
internal import Glibc
internal import Reactors

/// One run of libpq's connect to one host, driven by the readiness of its socket.
final class ConnectAttempt: ReadinessHandler {
  enum State {
    case pending
    case connected
    case failed(PostgresError)
  }

  private(set) var state = State.pending
  let startedAt = Reactor.now
  private var handle: OpaquePointer?
  private var registration: Registration?
  private let changed: Signal

  /// Takes over what `PQconnectStartParams` returned.
  /// - Parameter changed: given when the attempt is over.
  init(_ handle: OpaquePointer?, changed: Signal, on reactor: isolated Reactor) {
    self.handle = handle
    self.changed = changed
    if handle == nil {
      end(.failed(PostgresError(.notConnected, "out of memory")), on: reactor)
    } else if PQstatus(handle) == CONNECTION_BAD {
      fail(on: reactor)
    } else {
      watch(for: .write, on: reactor)
    }
  }

  deinit { PQfinish(handle) }

  var isPending: Bool {
    if case .pending = state { true } else { false }
  }

  /// Follows `PQconnectPoll`, which may use another socket after every call: each wait registers anew.
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    unwatch(on: reactor)
    switch PQconnectPoll(handle) {
    case PGRES_POLLING_OK: end(.connected, on: reactor)
    case PGRES_POLLING_READING: watch(for: .read, on: reactor)
    case PGRES_POLLING_WRITING: watch(for: .write, on: reactor)
    default: fail(on: reactor)
    }
  }

  /// Hands the connected session over; the caller frees it.
  func takeHandle() -> OpaquePointer? {
    defer { handle = nil }
    return handle
  }

  /// Ends the attempt, or the session that nobody took.
  func cancel(on reactor: isolated Reactor) {
    unwatch(on: reactor)
    PQfinish(handle)
    handle = nil
  }

  private func watch(for interest: Interest, on reactor: isolated Reactor) {
    let socket = PQsocket(handle)
    guard socket >= 0 else { return fail(on: reactor) }
    do throws(SystemError) {
      registration = try reactor.register(socket, for: interest, handler: self)
    } catch {
      end(.failed(PostgresError(.notConnected, error.description)), on: reactor)
    }
  }

  private func unwatch(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }

  private func fail(on reactor: isolated Reactor) { end(.failed(Self.failure(of: handle)), on: reactor) }

  private func end(_ state: State, on reactor: isolated Reactor) {
    self.state = state
    changed.signal(on: reactor)
  }

  /// libpq keeps the text of a refused connect but not its SQLSTATE. Those that tell an operator what to mend are
  /// recognised by the server's English text; a server that speaks another language gives no SQLSTATE here.
  private static func failure(of handle: OpaquePointer?) -> PostgresError {
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
}
