internal import PushRules
package import PushStore

/// Why the screens of a Live Activity show what they show.
package struct LiveActivityExplanation: Sendable {
  private let record: LiveActivityRecord

  package init(_ record: LiveActivityRecord) {
    self.record = record
  }

  /// What is the matter, in sentences; the last one says what to do, where something can be done.
  package var sentences: [String] {
    var sentences = [beginning]
    if let newest = record.updates.first { sentences.append(Self.sentence(about: newest)) }
    if let obstacle { sentences.append(obstacle) }
    if let endedAt = record.ended_us {
      sentences.append("It ended at \(TimeText.instant(endedAt)): \(Self.words(ofEnd: record.end_reason)).")
    }
    return sentences
  }

  private var beginning: String {
    return
      "A Live Activity of the user \(record.user_id), of the type \(record.type), begun at \(TimeText.instant(record.started_us)); its state is number \(record.version)."
  }

  private var wasStartedByPush: Bool { record.updates.contains { $0.event == "start" } }

  /// What keeps its states from the screens.
  private var obstacle: String? {
    guard record.ended_us == nil else { return nil }
    if record.update_tokens > 0 { return nil }
    guard wasStartedByPush else {
      return "No app has reported an update token for it: the app that started it updates it by itself."
    }
    if record.start_tokens == 0 {
      return "No device of the user has reported a push-to-start token of its type, so nothing could start it."
    }
    return """
      No app has reported an update token for it. A device has none until the user taps Allow under the activity on the Lock \
      Screen, and an app that was force-quit may not be woken to report it.
      """
  }

  private static func sentence(about update: LiveActivityRecord.Update) -> String {
    let what =
      "The newest push, its \(update.event)\(update.merged > 0 ? " (with \(update.merged) states before it)" : ""),"
    switch update.decision {
    case nil: return "\(what) is under way."
    case "sent"?:
      let devices = CountWords.counted(update.devices_accepted ?? 0, "device")
      return "\(what) was taken by APNs for \(devices)\(update.sent_us.map { " at \(TimeText.instant($0))" } ?? "")."
    case "held"?: return "\(what) is tried again: \(update.reason ?? "unknown")."
    case let decision?:
      return
        "\(what) was \(decision): \(update.reason == "no_tokens" ? "there was no token to send it to" : update.reason ?? "unknown")."
    }
  }

  private static func words(ofEnd reason: String?) -> String {
    switch reason {
    case "server"?: "a server ended it"
    case "app"?: "the app said so"
    case "row"?: "its row in the host's table said so"
    case "row_deleted"?: "its row in the host's table was deleted"
    case "row_reassigned"?: "its row in the host's table is another user's now"
    case "eight_hours"?: "the system ends a Live Activity after eight hours"
    default: reason ?? "unknown"
    }
  }

  /// For people: the sentences, then a line for each push.
  package var text: String {
    let lines = record.updates.reversed().map { update in
      "  \(TimeText.instant(update.created_us))  \(update.event) \(update.version), priority \(update.priority): "
        + (update.decision ?? "under way") + (update.reason.map { " (\($0))" } ?? "")
    }
    return (sentences + lines).joined(separator: "\n") + "\n"
  }

  package var json: [UInt8] {
    let document: PayloadObject = [
      "id": .text(record.id), "user_id": .text(record.user_id.text), "type": .text(record.type),
      "version": .count(record.version), "attributes": .object(record.attributes), "state": .object(record.state),
      "started_at": .instant(record.started_us), "update_tokens": .count(record.update_tokens),
      "start_tokens": .count(record.start_tokens), "ended_at": .instant(record.ended_us),
      "end_reason": .text(record.end_reason), "summary": .text(sentences.joined(separator: " ")),
      "updates": .list(record.updates.map(Self.document)),
    ]
    return document.encoded()
  }

  private static func document(_ update: LiveActivityRecord.Update) -> PayloadObject {
    [
      "subject_id": .text(update.subject_id), "version": .count(update.version), "event": .text(update.event),
      "merged": .count(update.merged), "priority": .count(update.priority), "timestamp": .integer(update.timestamp),
      "decision": .text(update.decision ?? "pending"), "reason": .text(update.reason),
      "sent_at": .instant(update.sent_us),
    ]
  }
}
