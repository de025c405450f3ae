/// What made the service look for work; the ledger keeps it for each push.
public enum WakeCause: String, Sendable {
  /// PostgreSQL notified.
  case notify
  /// A webhook named a message.
  case webhook
  /// The poll found it: a wake-up was lost, or nobody notifies because the service is awake.
  case poll
  /// The service had just started.
  case start
  /// A hold or a retry became due.
  case due
  /// Another reactor of this process found more than it could take.
  case neighbour
}
