import Glibc
import Logging
import Postgres
import PushRules
import PushStore
import Reactors

extension PushService {
  /// Stops a start in a database whose schema this program does not support, or in a copy of another one. A database that
  /// cannot be asked yet is no reason to: its sessions are checked one by one.
  static func refuseUnusable(
    _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws {
    var configuration = configuration
    configuration.connectLimit = .seconds(2)
    let support: SchemaSupport?
    let identity: DatabaseIdentity?
    do throws(PostgresError) {
      let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
      defer { connection.close(on: reactor) }
      // Without a right to read the migrations, the identity still counts.
      support = try? await SchemaSupport.look(over: connection, on: reactor)
      try await IDTypes.look(over: connection, on: reactor)
      // A schema that is not supported may not have the settings.
      let isAsked = support ?? .supported == .supported
      identity = isAsked ? try await DatabaseIdentity.look(over: connection, on: reactor) : nil
    } catch {
      logger.debug("the database is not known yet", metadata: ["error": "\(error.debugDescription)"])
      return
    }
    if let support, support != .supported { throw UnsupportedSchema(support: support) }
    if let identity, identity.isForeign { throw ForeignDatabase(identity: identity) }
    if identity == nil {
      logger.warning(
        "row-level security hides the service's own tables",
        metadata: ["remedy": "as their owner, call tacet.grant_service for this role, or give it BYPASSRLS"])
    }
  }
}

extension PushService {
  /// Stops a start on a TCP port that a process of another database serves: the kernel would give connections to either. One of the
  /// same database is a replica, or a predecessor. A database that cannot be asked is no reason to.
  static func refuseSharing(
    _ address: SocketAddress, _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws {
    guard address.port != 0, await isServed(address, on: reactor) else { return }
    var configuration = configuration
    configuration.connectLimit = .seconds(2)
    // A process that has just begun to listen may not have noted itself yet.
    for _ in 0..<20 {
      do throws(PostgresError) {
        let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
        defer { connection.close(on: reactor) }
        let neighbours = try await ServiceInstance.current.neighbours(over: connection, on: reactor)
        if neighbours.contains(where: { $0.isRecent || kill($0.processID, 0) == 0 || errno == EPERM }) { return }
      } catch {
        logger.warning(
          "another process listens here, and the database cannot say whether it is one of its own",
          metadata: ["address": "\(address)", "error": "\(error.debugDescription)"])
        return
      }
      await reactor.sleep(for: .milliseconds(250))
    }
    throw SharedPort(address: address)
  }

  private static func isServed(_ address: SocketAddress, on reactor: isolated Reactor) async -> Bool {
    do {
      let socket = try await Socket.connect(to: address, within: .seconds(1), on: reactor)
      // Where nobody listens, a socket may have got this very port and met itself.
      return socket.localAddress?.port != address.port
    } catch {
      return false
    }
  }
}

/// A process that does not work with this database listens where this one is to listen.
struct SharedPort: Error, CustomStringConvertible {
  let address: SocketAddress

  var description: String {
    """
    another process listens on \(address), and none of this database runs on this machine. Requests would go to either. Choose \
    another address, or stop it.
    """
  }
}

struct UnsupportedSchema: Error, CustomStringConvertible {
  let support: SchemaSupport

  var description: String {
    switch support {
    case .supported: "the schema is supported"
    case .unreleased:
      """
      the database has a schema from before the first release, which cannot be upgraded. Reinstall: run \
      "psql -X -f db/uninstall.sql", then "tacet migrate".
      """
    case .tooOld(let missing):
      "the database lacks migrations that this program needs: \(missing.joined(separator: ", ")). Run \"tacet migrate\" first."
    case .tooNew(let version, let oldest):
      """
      the database has migration \(version), beside which only programs that know migration \(oldest) may run; this one \
      knows \(Migration.all.last?.version ?? 0). Start the program that the migration came with.
      """
    }
  }
}

/// The database's settings were written in another database.
struct ForeignDatabase: Error, CustomStringConvertible {
  let identity: DatabaseIdentity

  var description: String {
    """
    this database (\(identity.actual)) is a copy of another one (\(identity.noted ?? "")), and carries what waits to be \
    pushed there. Run "tacet adopt" to drop what waits, or "tacet adopt --keep-waiting" if the database has only moved.
    """
  }
}
