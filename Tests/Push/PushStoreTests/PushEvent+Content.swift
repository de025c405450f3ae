package import PushRules
package import PushStore

extension PushEvent {
  /// What the event says, as one of its kinds.
  var message: MessagePush? { content as? MessagePush }
  var readSync: ReadSyncPush? { content as? ReadSyncPush }
  var watchedRow: WatchedRowPush? { content as? WatchedRowPush }
}

extension PushEvent: Equatable {
  /// Whether all their members are equal, written out.
  package static func == (one: PushEvent, other: PushEvent) -> Bool { "\(one)" == "\(other)" }
}

extension MessagePush: Equatable {
  /// Whether they say the same.
  package static func == (one: MessagePush, other: MessagePush) -> Bool { "\(one)" == "\(other)" }
}

extension WatchedRowPush: Equatable {
  /// Whether they say the same.
  package static func == (one: WatchedRowPush, other: WatchedRowPush) -> Bool { "\(one)" == "\(other)" }
}
