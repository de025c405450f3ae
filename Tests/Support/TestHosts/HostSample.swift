internal import Testing

/// The database of an application that many people run, reduced to the tables that matter here and those that look like them.
/// Names and types are those of the application, written down by hand.
package struct HostSample: Sendable, CustomTestStringConvertible {
  /// The application's name.
  package let testDescription: String
  /// The tables.
  package let tables: String
  /// What `tacet init` is told besides.
  package var options: [String] = []
  /// The lines of its summary: messages, participants, users, devices, presence, ids, and what else was possible.
  package let summary: [String]
  /// The types of ids, as options of `tacet migrate`.
  package var migrateOptions = ["--message-ids", "uuid", "--conversation-ids", "uuid", "--user-ids", "uuid"]
  /// Two users, one conversation with both, and the reader's device `$token`; after the wiring.
  package let people: String
  /// The user who reads.
  package let reader: String
  /// Writes a message, and returns its id.
  package let message: String
  /// Writes what is not to be pushed.
  package var note = "select 1"
  /// The conversation.
  package let conversation: String
  /// Whether devices say when they were registered, so that a token that APNs called dead before is kept.
  package var hasRegistrationTimes = true
  /// The sender's name and the text, as the push shows them.
  package let shown: (name: String?, text: String)

  /// The answers among the options.
  package var answers: [String: String] {
    Dictionary(uniqueKeysWithValues: stride(from: 0, to: options.count, by: 2).map { (options[$0], options[$0 + 1]) })
  }

  /// All of them.
  package static let all = [
    mattermost, discourse, zulip, chatwoot, laravelChat, tinode, supabaseChat, slackClone, marketplace,
  ]
}
