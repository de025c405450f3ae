internal import Testing

/// The tables of a product as its documentation or published schema describes them, reduced to those around its messages, and who gets
/// a message by the product's own rules. Written down by hand; names and types are the product's.
package struct ProductHost: Sendable, CustomTestStringConvertible {
  /// The product.
  package let testDescription: String
  package let tables: String
  /// What the host adds to its tables, where the refusal of `tacet init` names it.
  package var addition: String?
  /// Lines of the proposal that a person edits: how each begins, and what it becomes.
  package var edits: [(begins: String, becomes: String)] = []
  /// Users, and a conversation of some of them.
  package let people: String
  /// Writes a message, and returns its id.
  package let message: String
  /// Write messages that nobody gets.
  package var hidden: [String] = []
  package let title: String
  package let text: String
  /// Who gets the message, in order.
  package let recipients: [String]
  /// The unread messages of the first of these; nil where no badge is known.
  package var badge: Int?
  /// The first of them reads the message; nil where nothing says so.
  package var read: String?

  /// All of them.
  package static let all = [
    moodle, buddyPress, xenForo, privateChat, prismaMessenger, laravelMessenger, campfire, byobu, humHub, pinax, talk,
    supabaseAuth, lemmy, flarum, mastodon, synapse,
  ]
}
