internal import Synchronization

/// Whether notifications arrive, readable from every reactor; one listener writes it.
public final class ListenStatus: Sendable {
  /// What is known.
  public enum State: Sendable, Equatable {
    /// Not heard of anything yet.
    case starting
    /// A notification was sent and arrived a moment ago.
    case listening
    /// Notifications do not arrive, and why.
    case deaf(String)
    /// The service does not listen: the database's sessions are lent by transactions.
    case unused
  }

  private let current = Mutex(State.starting)

  /// Nothing arrives yet.
  /// - Parameter isUsed: whether anybody is going to listen.
  public init(isUsed: Bool = true) {
    current.withLock { $0 = isUsed ? .starting : .unused }
  }

  /// What is known now.
  public internal(set) var state: State {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Whether all is as the settings want it.
  public var isReady: Bool { state == .listening || state == .unused }

  /// What an operator should know; nil while notifications arrive.
  public var detail: String? {
    switch state {
    case .starting: "no notification has arrived yet; polling goes on"
    case .listening: nil
    case .deaf(let reason): "polling goes on; \(reason)"
    case .unused: "not used, as DATABASE_POOL_MODE is transaction; webhooks and polling wake the service"
    }
  }
}
