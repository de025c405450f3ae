import Logging
import Postgres
import PushStore
import Reactors

/// The database's settings were written in another database.
struct ForeignDatabase: Error, CustomStringConvertible {
  let identity: DatabaseIdentity

  var description: String {
    """
    this database (\(identity.actual)) is a copy of another one (\(identity.noted ?? "")), and carries what waits to be \
    pushed there. Run "tacet adopt" to drop what waits, or "tacet adopt --keep-waiting" if the database has only moved.
    """
  }

  /// Stops a start in a copy. A database that cannot be asked yet is no reason to: its sessions are checked one by one.
  static func refuse(
    _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws {
    var configuration = configuration
    configuration.connectLimit = .seconds(2)
    let identity: DatabaseIdentity?
    do throws(PostgresError) {
      identity = try await DatabaseIdentity.look(in: configuration, logger: logger, on: reactor)
    } catch {
      logger.debug("the database's identity is not known yet", metadata: ["error": "\(error.debugDescription)"])
      return
    }
    if let identity, identity.isForeign { throw ForeignDatabase(identity: identity) }
    if identity == nil {
      logger.warning(
        "row-level security hides the service's own tables",
        metadata: ["remedy": "as their owner, call tacet.grant_service for this role, or give it BYPASSRLS"])
    }
  }
}
