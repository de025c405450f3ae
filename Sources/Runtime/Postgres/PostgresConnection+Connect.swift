internal import CLibpq
public import Logging
public import Reactors

extension PostgresConnection {
  /// Opens a session without blocking the reactor.
  ///
  /// Names are resolved on the global executor. Each host gets its turn, whatever those before it answer, and none waits
  /// for one that is silent; see ``ConnectRace``. `target_session_attrs` is honoured.
  /// - Throws: ``PostgresError/Code/notConnected`` with each host's reason, and an SQLSTATE where one gave one,
  ///   ``PostgresError/Code/timedOut``, or ``PostgresError/Code/invalidConfiguration``.
  public static func connect(
    _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresConnection {
    var parameters = try ConnectionParameters(configuration)
    let deadline = Reactor.now + configuration.connectLimit.clampedNanoseconds
    try await parameters.resolve()
    let (handle, target) = try await race(parameters, configuration.hosts, until: deadline, on: reactor)
    let connection = try begin(handle, configuration, logger, on: reactor)
    connection.target = target
    connection.otherTargets = parameters.targets.filter { $0 != target }
    return connection
  }

  private static func race(
    _ parameters: ConnectionParameters, _ memory: HostMemory, until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (handle: OpaquePointer, target: ConnectionTarget) {
    if parameters.prefersStandby {
      // As libpq does: a round for standbys, and one for whatever there is. Not to be one is no fault of a host.
      let half = deadline - (deadline - min(deadline, Reactor.now)) / 2
      let standbys = ConnectRace(parameters.asking(for: "standby"), memory: HostMemory())
      if let found = try? await standbys.run(until: half, on: reactor) { return found }
    }
    return try await ConnectRace(parameters, memory: memory).run(until: deadline, on: reactor)
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
