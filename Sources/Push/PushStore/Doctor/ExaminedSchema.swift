/// The server, and whom it takes us for.
public struct ExaminedServer: Equatable, Sendable {
  /// As PostgreSQL numbers itself, e.g. 150006 for 15.6.
  public let version: Int
  /// Whether it only follows another server and takes no writes.
  public let isStandby: Bool
  /// Whether the session is another one than the connection was given: there is a pooler between.
  public let isPooled: Bool
  /// The role of the session.
  public let role: String
  /// `session_replication_role` of the session: `origin` unless somebody has set it.
  public let replicationRole: String

  /// Notes what a server said.
  public init(version: Int, isStandby: Bool, isPooled: Bool, role: String, replicationRole: String) {
    self.version = version
    self.isStandby = isStandby
    self.isPooled = isPooled
    self.role = role
    self.replicationRole = replicationRole
  }
}

/// A role that can reach device tokens, though it is neither their owner nor a service.
public struct TokenAccess: Equatable, Sendable {
  /// Its name; `public` is everybody.
  public let role: String
  /// What it can do, as `grant` names it, e.g. `select, truncate`.
  public let privileges: String

  /// Names a role.
  public init(role: String, privileges: String) {
    self.role = role
    self.privileges = privileges
  }
}

/// A right that the role lacks.
public struct MissingRight: Equatable, Sendable {
  /// What it is on: `schema tacet`, `tacet.inbox`, `function tacet.wake`.
  public let object: String
  /// As `grant` names it; `policy` where row-level security hides every row, `policy for update` (`insert`, `delete`) where
  /// it lets none be written.
  public let privilege: String
  /// Whether it is in schema `tacet`, whose rights `tacet.grant_service` gives.
  public let isOwn: Bool

  /// Names a right.
  public init(object: String, privilege: String, isOwn: Bool) {
    self.object = object
    self.privilege = privilege
    self.isOwn = isOwn
  }
}

/// When a trigger fires, as `pg_trigger.tgenabled` says.
public enum TriggerState: String, Sendable {
  /// In ordinary sessions.
  case ordinary = "O"
  /// In all sessions.
  case always = "A"
  /// In sessions that replay what another server did, and in no others.
  case replica = "R"
  /// Never.
  case disabled = "D"
}

/// A trigger that runs a function of schema `tacet`.
public struct ExaminedTrigger: Equatable, Sendable {
  /// The table with its schema.
  public let table: String
  /// The trigger's name.
  public let name: String
  /// When it fires; nil when it ought to be there and is not.
  public let state: TriggerState?
  /// The function without its schema.
  public let function: String
  /// What the function is told; empty for nothing.
  public let argument: String

  /// Notes a trigger.
  public init(table: String, name: String, state: TriggerState?, function: String = "", argument: String = "") {
    self.table = table
    self.name = name
    self.state = state
    self.function = function
    self.argument = argument
  }
}

/// An index that the statements rely on.
public struct ExaminedIndex: Equatable, Sendable {
  /// Its name.
  public let name: String
  /// Whether it can be used; nil when there is none of this name.
  public let isUsable: Bool?

  /// Notes an index.
  public init(name: String, isUsable: Bool?) {
    self.name = name
    self.isUsable = isUsable
  }
}

/// How far this machine's clock is from the database's.
public struct ClockComparison: Equatable, Sendable {
  /// The database's time less this machine's.
  public let difference: Duration
  /// How wrong ``difference`` may be: half of the round trip that it was measured by.
  public let uncertainty: Duration

  /// Notes a measurement.
  public init(difference: Duration, uncertainty: Duration) {
    self.difference = difference
    self.uncertainty = uncertainty
  }
}
