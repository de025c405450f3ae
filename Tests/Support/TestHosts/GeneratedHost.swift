internal import Testing

/// A host that no product has: names, keys, decoys and missing tables in all combinations, with a book of who takes part.
package struct GeneratedHost: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  package let tables: String
  /// Users 1 and 2 take part in conversation 9, and 3 to 6 do not: never, no longer, not yet, or in another tenant's 9.
  package let people: String
  /// User 1 writes; returns the id.
  package let message: String
  package let members: Set<String> = ["2"]

  private enum Shape: CaseIterable {
    case members, noMembers, direct, pair, tenants, formerMembers, numberedStates, onlyDecoys
  }

  /// What a host calls its things. It has foreign keys in every second vocabulary, and in the one whose names say nothing.
  private struct Vocabulary {
    let (messages, users, places, members): (String, String, String, String)
    let (place, user, sender, body, created): (String, String, String, String, String)
    let hasKeys: Bool
  }

  private static let vocabularies = [
    Vocabulary(
      messages: "messages", users: "users", places: "rooms", members: "room_members", place: "room_id", user: "user_id",
      sender: "sender_id", body: "body", created: "created_at", hasKeys: true),
    Vocabulary(
      messages: "chat_lines", users: "people", places: "spaces", members: "space_people", place: "space_id",
      user: "person_id",
      sender: "author_id", body: "line", created: "said_at", hasKeys: false),
    Vocabulary(
      messages: "\"Post\"", users: "\"Account\"", places: "\"Channel\"", members: "\"ChannelSubscription\"",
      place: "\"channelId\"",
      user: "\"accountId\"", sender: "\"authorId\"", body: "content", created: "\"createdAt\"", hasKeys: true),
    Vocabulary(
      messages: "app_note", users: "app_player", places: "app_board", members: "app_seat", place: "board",
      user: "player",
      sender: "wrote", body: "words", created: "at", hasKeys: true),
    Vocabulary(
      messages: "message", users: "account", places: "conversation", members: "conversation_user",
      place: "conversation_id",
      user: "account_id", sender: "account_id", body: "text", created: "time", hasKeys: false),
  ]

  package static let all = vocabularies.flatMap { names in Shape.allCases.map { GeneratedHost(names, $0) } }

  private init(_ names: Vocabulary, _ shape: Shape) {
    testDescription = "\(names.messages), \(shape)"
    func key(_ table: String) -> String { names.hasKeys ? " references \(table)" : "" }
    let (isTenants, isDirect) = (shape == .tenants, shape == .direct)
    let pair = shape == .pair ? ", user1_id bigint\(key(names.users)), user2_id bigint\(key(names.users))" : ""
    let places =
      isTenants
      ? "tenant_id bigint, id bigint, name text, primary key (tenant_id, id)"
      : "id bigint primary key, name text\(pair)"
    let place =
      isDirect ? "recipient_id bigint\(key(names.users))" : "\(names.place) bigint\(isTenants ? "" : key(names.places))"
    let tenant = isTenants ? "tenant_id bigint, " : ""
    let composite =
      isTenants && names.hasKeys
      ? ", foreign key (tenant_id, \(names.place)) references \(names.places) (tenant_id, id)" : ""
    var tables = [
      "create table \(names.users) (id bigint primary key, name text)", "create table \(names.places) (\(places))",
      """
      create table \(names.messages) (\(tenant)id bigint generated always as identity primary key, \(place),
        \(names.sender) bigint\(key(names.users)), \(names.body) text, \(names.created) timestamptz default now()\(composite))
      """,
    ]
    var people = ["insert into \(names.users) (id, name) select n, 'user ' || n from generate_series(1, 6) n"]
    let extra = [Shape.formerMembers: "left_at timestamptz", .numberedStates: "status int"][shape]
    func list(_ table: String, _ more: String? = nil) {
      tables.append(
        """
        create table \(table) (\(tenant)\(names.place) bigint\(isTenants ? "" : key(names.places)), \(names.user) bigint\(key(names.users)),
          \(more.map { "\($0), " } ?? "")primary key (\(isTenants ? "tenant_id, " : "")\(names.place), \(names.user))\(composite))
        """)
    }
    func decoy(_ word: String) {
      let table = names.members.hasPrefix("\"") ? "\"\(word)\(names.members.dropFirst())" : "\(word)_\(names.members)"
      list(table)
      people.append("insert into \(table) (\(names.place), \(names.user)) values (9, 3), (9, 4)")
    }
    switch shape {
    case .pair: people.append("insert into \(names.places) (id, user1_id, user2_id) values (9, 1, 2), (8, 3, 4)")
    case .tenants:
      people.append("insert into \(names.places) (tenant_id, id) values (1, 9), (2, 9)")
      list(names.members)
      people.append(
        "insert into \(names.members) (tenant_id, \(names.place), \(names.user)) values (1, 9, 1), (1, 9, 2), (2, 9, 3), (2, 9, 4)"
      )
    default: people.append("insert into \(names.places) (id) values (9), (8)")
    }
    if [.members, .formerMembers, .numberedStates].contains(shape) {
      list(names.members, extra)
      people.append("insert into \(names.members) (\(names.place), \(names.user)) values (9, 1), (9, 2), (8, 3)")
      if shape == .formerMembers {
        people.append("insert into \(names.members) (\(names.place), \(names.user), left_at) values (9, 4, now())")
      }
      if shape == .numberedStates {
        people.append("update \(names.members) set status = 1")
        people.append("insert into \(names.members) (\(names.place), \(names.user), status) values (9, 4, 3)")
      }
      if shape != .members { decoy("waitlist") }
    }
    if shape == .onlyDecoys { ["banned", "favorite", "invited"].forEach(decoy) }
    self.tables = tables.joined(separator: ";\n")
    self.people = people.joined(separator: ";\n")
    message = """
      insert into \(names.messages) (\(tenant.isEmpty ? "" : "tenant_id, ")\(isDirect ? "recipient_id" : names.place), \(names.sender), \(names.body))
      values (\(tenant.isEmpty ? "" : "1, ")\(isDirect ? 2 : 9), 1, 'Hello') returning id
      """
  }
}
