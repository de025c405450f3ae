import Testing

@testable import Operations

@Suite("What is proposed, asked and refused")
struct HostProposalTests {
  /// A table from `name type` pairs; the first column is the key, a `?` allows nulls, and a number is the width in a sample.
  private func table(
    _ name: String, _ columns: String..., more: [String] = [], isTable: Bool = true, key: [String]? = nil,
    references: [HostReference] = []
  ) -> HostTable {
    let columns = (columns + more).map { text in
      let parts = text.split(separator: " ").map(String.init)
      return HostColumn(
        name: parts[0], type: parts[1].filter { $0 != "?" }, isNullable: parts[1].hasSuffix("?"),
        width: parts.count > 2 ? Int(parts[2]) : nil)
    }
    let primary = HostIndex(isUnique: true, columns: key ?? [columns[0].name])
    return HostTable(
      schema: "public", name: name, isTable: isTable, isPartitioned: false, rows: 0, hasRowSecurity: false,
      columns: columns, indexes: isTable ? [primary] : [], references: references)
  }

  private func key(_ column: String, _ table: String) -> HostReference {
    HostReference(column: column, schema: "public", table: table, target: "id", columns: [column])
  }

  private var messages: HostTable {
    table("messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz")
  }
  private var members: HostTable { table("room_members", "room_id uuid", "user_id uuid", key: ["room_id", "user_id"]) }
  private var users: HostTable { table("users", "id uuid", "name text?") }

  private func proposal(_ tables: [HostTable]) throws -> HostMapping {
    try HostProposal.mapping(of: HostSchema(tables: tables))
  }

  /// The lines that are marked, with their comments.
  private func unsure(_ tables: [HostTable]) throws -> [String] { try proposal(tables).unsure.map(\.text) }

  private func refused(_ tables: [HostTable]) -> String {
    #expect(throws: MappingFault.self) { try proposal(tables) }?.description ?? ""
  }

  @Test("the smallest host is certain")
  func smallest() throws {
    let mapping = try proposal([messages, members, users])
    #expect(mapping.unsure == [])
    #expect(mapping[.messages].head.value == "public.messages")
    #expect(mapping[.users].value("name") == "name")
    #expect(mapping[.devices].head.value == "own")
    #expect(mapping[.read].head.value == "none")
  }

  @Test("two tables that are as likely are not certain, and both are named")
  func ambiguous() throws {
    let other = table(
      "group_messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz")
    let asked = try unsure([messages, other, members, users])
    #expect(asked.count == 1 && asked[0].hasPrefix("? messages") && asked[0].contains("or public.group_messages?"))
  }

  @Test(
    "what people may have written is asked about, and edits of it are passed over", arguments: ["events", "statuses"])
  func vague(_ name: String) throws {
    let vague = table(name, "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz")
    let edits = table(
      "\(name)_edits", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz")
    let asked = try unsure([vague, edits, members, users])
    #expect(asked.count == 1 && asked[0].hasPrefix("? messages    public.\(name) "), "\(asked)")
    #expect(try unsure([vague, messages, members, users]) == [])
  }

  @Test("of two tables that both say who takes part neither is certain, however likely one is")
  func rivals() throws {
    let other = table("room_participants", "id uuid", "room_id uuid", "user_id uuid")
    let asked = try unsure([messages, members, other, users])
    #expect(asked.count == 1 && asked[0].contains("or public.room_participants?"), "\(asked)")
  }

  @Test(
    "a forum's table of those who have looked is not certain, and one of participants is",
    arguments: [
      ("topic_id", "topic_users", true), ("discussion_id", "discussion_user", true),
      ("topic_id", "topic_members", false), ("room_id", "room_users", false),
    ])
  func looks(_ place: String, _ name: String, _ isAsked: Bool) throws {
    let posts = table("posts", "id uuid", "\(place) uuid", "user_id uuid", "body text", "created_at timestamptz")
    let members = table(
      name, "\(place) uuid", "user_id uuid", "last_read_at timestamptz?", key: [place, "user_id"])
    #expect(try unsure([posts, members, users]).map { $0.prefix(9) } == (isAsked ? ["? members"] : []))
  }

  @Test("a name that is missing is said")
  func nameless() throws {
    #expect(try proposal([messages, members, table("users", "id uuid")]).text.contains("# no column is a name"))
    #expect(try !proposal([messages, members, users]).text.contains("# no column is a name"))
  }

  @Test(
    "everyone takes part only where a person writes it",
    arguments: ["rooms", "channels", "dialogs", "lobby"])
  func strangers(_ place: String) throws {
    let asked = try unsure([messages, users, table(place, "id uuid", "name text")])
    #expect(asked.count == 1 && asked[0].hasPrefix("? members"), "\(asked)")
    #expect(asked[0].contains("every user of public.users gets every message (now about 0)"))
  }

  @Test(
    "a table whose name says that only some of its rows, or others, take part is not certain",
    arguments: [
      "room_waitlist_members": true, "room_moderator_users": true, "banned_users": true, "room_editors": true,
      "room_members": false, "roomuser": false, "chat_participants": false,
    ])
  func others(_ name: String, _ isAsked: Bool) throws {
    let members = table(
      name, "room_id uuid", "user_id uuid", key: ["room_id", "user_id"],
      references: [key("room_id", "rooms"), key("user_id", "users")])
    let messages = table(
      "messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz",
      references: [key("room_id", "rooms"), key("sender_id", "users")])
    let asked = try unsure([messages, members, table("rooms", "id uuid"), users])
    #expect(asked.isEmpty == !isAsked, "\(asked)")
    #expect(asked.allSatisfy { $0.hasPrefix("? members") })
  }

  @Test("foreign keys are believed before names")
  func keys() throws {
    let messages = table(
      "messages", "id uuid", "a uuid", "b uuid", "body text", "created_at timestamptz",
      references: [key("a", "places"), key("b", "people")])
    let members = table(
      "place_members", "x uuid", "y uuid", key: ["x", "y"], references: [key("x", "places"), key("y", "people")])
    let mapping = try proposal([messages, members, table("places", "id uuid"), table("people", "id uuid", "name text")])
    #expect(mapping.unsure == [], "\(mapping.text)")
    #expect(mapping[.messages].value("conversation") == "a")
    #expect(mapping[.messages].value("sender") == "b")
    #expect(mapping[.members].all("user").map(\.value) == ["y"])
  }

  @Test(
    "a message that names its recipient is for the two, and asked about where it names a conversation too",
    arguments: [
      "recipient_id uuid", "to_user_id uuid", "receiver uuid", "to uuid", "message_recipient_id uuid",
      "target_user_id uuid",
    ],
    [true, false])
  func directMessages(_ recipient: String, _ hasRoom: Bool) throws {
    let name = String(recipient.prefix { $0 != " " })
    for references in [[], [key(name, "users")]] {
      let direct = table(
        "messages", "id uuid", "sender_id uuid", recipient, "body text", "created_at timestamptz",
        more: hasRoom ? ["room_id uuid"] : [], references: references)
      let mapping = try proposal([direct, members, users])
      #expect(mapping.unsure.map(\.key) == (hasRoom ? ["recipient"] : []), "\(mapping.text)")
      #expect(mapping[.messages].value("recipient") == (name == "to" ? "\"to\"" : name))
      if !hasRoom { #expect(mapping[.members].head.value == "recipient") }
    }
    let several = table(
      "messages", "id uuid", "sender_id uuid", "recipient_ids _uuid", "body text", "created_at timestamptz")
    #expect(try unsure([several, users]).contains { $0.contains("recipient_ids") })
  }

  @Test("a conversation that names two users needs no table of members; one of three names nobody")
  func pairs() throws {
    let rooms = table("rooms", "id uuid", "user1_id uuid", "user2_id uuid", "creator_id uuid")
    let mapping = try proposal([messages, rooms, users])
    #expect(mapping.unsure == [])
    #expect(mapping[.members].all("user").map(\.value) == ["user1_id", "user2_id"])
    let three = table("rooms", "id uuid", "user1_id uuid", "user2_id uuid", "seller_id uuid")
    let other = table("rooms", "id int8", "user1_id uuid", "user2_id uuid")
    for rooms in [three, other] { #expect(try unsure([messages, rooms, users]).map { $0.prefix(9) } == ["? members"]) }
  }

  @Test("a number for the kind of message is asked about, and so is a state of members")
  func kinds() throws {
    let numbered = table(
      "messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz", "kind int4")
    let asked = try unsure([numbered, members, users])
    #expect(asked.count == 1 && asked[0].contains("kind may say what people write"))
    let states = table(
      "room_members", "room_id uuid", "user_id uuid", "member_state int4", key: ["room_id", "user_id"])
    let lines = try unsure([messages, states, users])
    #expect(lines.count == 1 && lines[0].contains("member_state may say who takes part"), "\(lines)")
  }

  @Test("how far members have read is found in numbers, times, ids and other tables")
  func reads() throws {
    func read(_ column: String, _ more: String..., besides: [HostTable] = []) throws -> String? {
      let messages = table(
        "messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz", more: more)
      let members = table(
        "room_members", "room_id uuid", "user_id uuid", more: column.isEmpty ? [] : [column],
        key: ["room_id", "user_id"])
      return try proposal([messages, members, users] + besides)[.read].head.value
    }
    #expect(try read("last_read_at timestamptz") == "marker last_read_at >= created_at")
    #expect(try read("last_read_number int4", "number int4") == "marker last_read_number >= number")
    #expect(try read("unread_at timestamptz") == "marker unread_at > created_at")
    #expect(
      try read("last_read_message_id uuid")
        == "marker (select x.created_at from public.messages x where x.id = last_read_message_id) >= created_at")
    let receipts = table("message_reads", "message_id uuid", "user_id uuid", key: ["message_id", "user_id"])
    #expect(try read("", besides: [receipts]) == "public.message_reads")
    let places = table("seen", "room_id uuid", "user_id uuid", "message_number int4", key: ["room_id", "user_id"])
    #expect(try read("", "number int4", besides: [places]) == "public.seen")
    let states = table(
      "read_states", "room_id uuid", "user_id uuid", "last_read_at timestamptz", key: ["room_id", "user_id"])
    #expect(try read("", besides: [states]) == "public.read_states")
    #expect(try read("", "read_by _uuid") == "array read_by")
    // In a room of many a flag does not say who has read.
    #expect(try read("", "is_read bool") == "none")
  }

  @Test("what cannot be served is refused with what would help")
  func refusals() {
    #expect(refused([users]).contains("Write tacet.host yourself"))
    let view = table("messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", isTable: false)
    #expect(refused([view, members, users]).contains("is a view"))
    let keyed = table("messages", "event_id uuid", "room_id uuid", "sender_id uuid", "body text")
    #expect(refused([keyed, members, users]).contains("add column id uuid generated always as (event_id)"))
    let tenants = table(
      "messages", "tenant int4", "id uuid", "room_id uuid", "sender_id uuid", "body text", key: ["tenant", "id"])
    #expect(refused([tenants, members, users]).contains("may repeat, because its key is (tenant, id)"))
    let rooms = table("rooms", "tenant int4", "id uuid", key: ["tenant", "id"])
    let several = refused([messages, members, users, rooms])
    #expect(several.contains("rows of several tenants"))
    #expect(several.contains("generated always as (tenant::text || ':' || room_id::text) stored"), "\(several)")
  }

  @Test("a table of devices is taken, one that may be is asked about, and other tokens are passed over")
  func devices() throws {
    let devices = table("push_tokens", "id int8", "user_id uuid", "token text", "platform text?")
    #expect(try proposal([messages, members, users, devices])[.devices].value("token") == "token")
    let sessions = table("sessions", "id int8", "user_id uuid", "device_id text")
    #expect(try unsure([messages, members, users, sessions]).map { $0.prefix(9) } == ["? devices"])
    let devicesOfTheHost = table("devices", "user_id uuid", "device_id text", key: ["user_id", "device_id"])
    for named in [devicesOfTheHost, table("api_keys", "id int8", "user_id uuid", "device_id text")] {
      let mapping = try proposal([messages, members, users, devicesOfTheHost, named])
      #expect(mapping[.devices].head.value == "own")
    }
    for (width, isAsked) in [("", false), (" 63", true), (" 64", false)] {
      let short = table("push_tokens", "id int8", "user_id uuid", "token text\(width)")
      #expect(try unsure([messages, members, users, short]).isEmpty == !isAsked)
    }
    let keys = table("api_keys", "id int8", "user_id uuid", "token text")
    #expect(try proposal([messages, members, users, keys])[.devices].head.value == "own")
  }

  @Test(
    "a table that keeps users with a token loses the token; one whose token is a key loses the row",
    arguments: [true, false])
  func deadTokens(_ isKey: Bool) throws {
    let phones = table("phones", "id int8", "user_id uuid", "device_token text", key: isKey ? ["device_token"] : nil)
    let devices = try proposal([messages, members, users, phones])[.devices]
    #expect(devices.value("dead") == (isKey ? "delete" : "clear"))
  }

  @Test("a text that no name says is asked about, and so is a sender who is a member or of several classes")
  func doubts() throws {
    func lines(_ sender: [String]) throws -> [String] {
      let odd = table("messages", "id uuid", "room_id uuid", "summary text", "created_at timestamptz", more: sender)
      return try unsure([odd, members, users])
    }
    #expect(try lines(["sender_id uuid"]).map { $0.prefix(6) } == ["? text"])
    for sender in [["participant_id uuid"], ["sender_id uuid", "sender_type text"]] {
      let asked = try lines(sender)
      #expect(asked.map { $0.prefix(8) } == ["? sender", "? text  "], "\(asked)")
    }
  }

  @Test("where no name says it, the widest text of a sample is asked about")
  func widest() throws {
    let odd = table(
      "messages", "id text 99", "room_id text 99", "sender_id uuid", "summary text 84", "key text 37", "extra text",
      "blob bytea 99", "created_at timestamptz")
    let members = table("room_members", "room_id text", "user_id uuid", key: ["room_id", "user_id"])
    let asked = try unsure([odd, members, users])
    #expect(asked.count == 1 && asked[0].hasPrefix("? text        summary "), "\(asked)")
    #expect(asked[0].hasSuffix("# the widest text of the sample, 84 bytes"))
  }

  @Test("a name with a line break is refused, because a line of a mapping cannot hold it")
  func lineBreaks() {
    let broken = table("messages", "id uuid", "room_id uuid", "sender_\nid uuid", "body text")
    #expect(refused([broken, members, users]).contains("where a name has a line break: "))
  }
}

@Suite("Names of tables and columns")
struct NameKeyTests {
  @Test("names are read in any habit of writing")
  func keys() {
    for name in ["ChannelMembers", "channel_members", "channelmember", "channel-member"] {
      #expect(NameKey(name).text == "channelmember")
    }
    let singulars = [
      "people": "person", "statuses": "status", "replies": "reply", "boxes": "box", "users": "user", "status": "status",
      "address": "address",
    ]
    for (plural, singular) in singulars { #expect(NameKey(plural).text == singular) }
    for name in ["userid", "user_id", "UserId", "user", "user_uuid"] { #expect(NameKey(column: name).text == "user") }
    #expect(NameKey(column: "id").text == "id")
    #expect(NameKey.words(of: "zerver_userMessages2 Old") == ["zerver", "user", "messages2", "old"])
    #expect(NameKey("zerver_message").weight(among: .messages) == 9)
    #expect(NameKey("invoices").weight(among: .messages) == 0)
    // Without weights an earlier word says more than a later one, also at the end of a name.
    let (first, later) = (NameKey(column: "chat_channel_id"), NameKey(column: "thread_id"))
    #expect(first.weight(among: .conversations) > later.weight(among: .conversations))
  }
  @Test("each list has names", arguments: HostWords.allCases)
  func lists(_ list: HostWords) {
    #expect(!list.all.isEmpty)
    #expect(list.all.allSatisfy { $0 == NameKey.plain($0) })
    #expect(Set(list.all).count == list.all.count)
  }
}
