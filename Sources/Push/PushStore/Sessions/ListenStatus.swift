internal import Synchronization

/// Whether notifications arrive, readable from every reactor; one listener writes it.
package final class ListenStatus: Sendable {
  package enum State: Sendable, Equatable {
    case starting
    /// A notification was sent and arrived a moment ago.
    case listening
    /// Notifications do not arrive, and why.
    case deaf(String)
    /// The service does not listen, by its settings.
    case unused
  }

  private let current = Mutex(State.starting)
  private let unusedBecause: String?

  /// Nothing arrives yet.
  /// - Parameter reason: why nobody is going to listen, such as a setting and its value; nil when somebody is.
  package init(unusedBecause reason: String? = nil) {
    unusedBecause = reason
    current.withLock { $0 = reason == nil ? .starting : .unused }
  }

  package internal(set) var state: State {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Whether all is as the settings want it.
  package var isReady: Bool { state == .listening || state == .unused }

  /// What an operator should know; nil while notifications arrive.
  package var detail: String? {
    switch state {
    case .starting: "no notification has arrived yet; polling goes on"
    case .listening: nil
    case .deaf(let reason): "polling goes on; \(reason)"
    case .unused: "not used, as \(unusedBecause ?? ""); webhooks and polling wake the service"
    }
  }
}
