import Logging
import Postgres
import PushKinds
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

/// This program cannot work with the database's schema.
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
