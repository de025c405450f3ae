import Synchronization

/// A report that somebody is looking, whose commit was acknowledged.
struct PresenceReport {
  let user: String
  /// The `last_seen` that was written.
  let seenAt: Int64
  /// From when every claim sees it.
  let acknowledgedAt: Int64
}

/// What the host knows that it wrote: filled in by several threads while they write.
final class HostBook: Sendable {
  private struct Content {
    var messages: [String: HostMessage] = [:]
    var reports: [String: [PresenceReport]] = [:]
    var errors: [String] = []
  }

  private let content = Mutex(Content())

  var messages: [HostMessage] { content.withLock { Array($0.messages.values) } }

  /// By user, in the order of their times.
  var reports: [String: [PresenceReport]] { content.withLock { $0.reports } }

  /// What the database refused, connections lost aside: nothing of the service may make the host's statements fail.
  var errors: [String] { content.withLock { $0.errors } }

  /// Before it is sent: whatever happens from now on, the message may be in the database.
  func open(_ message: HostMessage) {
    content.withLock { $0.messages[message.id] = message }
  }

  func update(_ id: String, _ change: (inout HostMessage) -> Void) {
    content.withLock { content in
      guard var message = content.messages.removeValue(forKey: id) else { return }
      change(&message)
      content.messages[id] = message
    }
  }

  func note(_ report: PresenceReport) {
    content.withLock { $0.reports[report.user, default: []].append(report) }
  }

  func note(_ error: any Error) {
    let text = "\(error)"
    guard text.contains("ERROR:") else { return }
    content.withLock { $0.errors.append(text) }
  }
}
