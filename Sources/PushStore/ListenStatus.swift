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
  }

  private let current = Mutex(State.starting)

  /// Nothing arrives yet.
  public init() {}

  /// What is known now.
  public internal(set) var state: State {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Whether notifications arrive now.
  public var isListening: Bool { state == .listening }

  /// What an operator should know; nil while notifications arrive.
  public var detail: String? {
    switch state {
    case .starting: "no notification has arrived yet; polling goes on"
    case .listening: nil
    case .deaf(let reason): "polling goes on; \(reason)"
    }
  }
}
