internal import Foundation
internal import Testing

/// The database of an application that many people run, reduced to the tables that matter here and those that look like them.
/// Names and types are those of the application, written down by hand.
package struct HostSample: Sendable, CustomTestStringConvertible {
  /// How `tacet migrate` is told of a host whose ids are all of type uuid.
  package static let uuids = ["--message-ids", "uuid", "--conversation-ids", "uuid", "--user-ids", "uuid"]

  /// The application's name.
  package let testDescription: String
  /// The tables.
  package let tables: String
  /// Lines of the proposal that a person edits: how each begins, with single spaces, and what it becomes; empty where it goes.
  package var edits: [(begins: String, becomes: String)] = []
  /// The mapping with the edits, as ``HostEdits/said(_:)`` shows it.
  package let mapping: String
  /// The types of ids, as options of `tacet migrate`.
  package var migrateOptions = HostSample.uuids
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

  /// The proposal as a person has edited it.
  package func edited(_ proposal: String) -> String { HostEdits.made(edits, in: proposal) }

  /// All of them.
  package static let all = [
    mattermost, discourse, zulip, chatwoot, laravelChat, tinode, supabaseChat, slackClone, marketplace,
  ]
}

/// Edits of a mapping, and what is left of it without its comments.
package enum HostEdits {
  /// - Parameter edits: each of the first line that begins so, with single spaces.
  package static func made(_ edits: [(begins: String, becomes: String)], in proposal: String) -> String {
    var lines = proposal.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for edit in edits {
      guard let place = lines.firstIndex(where: { plain($0).hasPrefix(edit.begins) }) else {
        lines.append("no line begins with: \(edit.begins)")
        continue
      }
      lines[place] = edit.becomes
    }
    return lines.joined(separator: "\n")
  }

  /// The lines that say something, without comments, with single spaces, and at most 80 characters of each.
  package static func said(_ mapping: String) -> String {
    let lines = mapping.split(separator: "\n").map { plain(String($0)).prefix(80) }.filter { !$0.isEmpty }
    return lines.map { $0.last == " " ? $0.dropLast() : $0 }.joined(separator: "\n")
  }

  private static func plain(_ line: String) -> String {
    let said = line.hasPrefix("#") ? "" : line.components(separatedBy: " # ")[0]
    return said.split(separator: " ").joined(separator: " ")
  }
}
