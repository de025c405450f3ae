import Testing

@testable import Operations

@Suite("What is guessed, asked and refused")
struct WiringPlanTests {
  /// A table from `name type` pairs; the first column is the key, and a `?` allows nulls.
  private func table(
    _ name: String, _ columns: String..., more: [String] = [], isTable: Bool = true, key: [String]? = nil,
    references: [HostReference] = []
  ) -> HostTable {
    let columns = (columns + more).map { text in
      let parts = text.split(separator: " ").map(String.init)
      return HostColumn(name: parts[0], type: parts[1].filter { $0 != "?" }, isNullable: parts[1].hasSuffix("?"))
    }
    let primary = HostIndex(isUnique: true, isPrimary: true, columns: key ?? [columns[0].name])
    return HostTable(
      schema: "public", name: name, isTable: isTable, isPartitioned: false, rows: 0, hasRowSecurity: false,
      columns: columns, indexes: isTable ? [primary] : [], references: references)
  }

  private var messages: HostTable {
    table("messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz")
  }
  private var members: HostTable { table("room_members", "room_id uuid", "user_id uuid", key: ["room_id", "user_id"]) }
  private var users: HostTable { table("users", "id uuid", "name text?") }

  private func answers(_ subject: WiringQuestion.Subject, _ answer: String?) -> WiringAnswers {
    var answers = WiringAnswers()
    answers[subject] = answer
    return answers
  }

  private func asked(_ tables: [HostTable]) -> WiringQuestion? {
    #expect(throws: WiringQuestion.self) { try WiringPlan(HostSchema(tables)) }
  }

  private func refused(_ tables: [HostTable], _ answers: WiringAnswers = WiringAnswers()) -> String {
    let problem = #expect(throws: WiringProblem.self) { try WiringPlan(HostSchema(tables), answers) }
    return problem?.description ?? ""
  }

  @Test("the smallest host needs no answer")
  func smallest() throws {
    let plan = try WiringPlan(HostSchema([messages, members, users]))
    #expect(plan.messages.table == messages)
    #expect(plan.users?.table == users)
    #expect(plan.devices == .own)
    #expect(plan.migrateOptions == ["--message-ids", "uuid", "--conversation-ids", "uuid", "--user-ids", "uuid"])
  }

  @Test("two tables that are as likely are a question, and an answer decides")
  func ambiguous() throws {
    let other = table(
      "group_messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz")
    let tables = [messages, other, members, users]
    let question = asked(tables)
    #expect(question?.subject == .messages)
    #expect(question?.choices == ["public.messages", "public.group_messages"])
    #expect(try WiringPlan(HostSchema(tables), answers(.messages, "group_messages")).messages.table == other)
  }

  @Test("everyone is offered last, where nothing says that places are private, and with what it means")
  func participants() throws {
    let rooms = table("rooms", "id uuid", "name text")
    let followers = table("room_followers", "room_id uuid", "user_id uuid", "note text", "body text", "message_id uuid")
    let question = asked([messages, users, rooms, followers])
    #expect(question?.choices == ["public.room_followers", "everyone"])
    #expect(question?.text.contains("every user of public.users gets every message (now about 0 users)") == true)
    let everyone = answers(.participants, "everyone")
    let plan = try WiringPlan(HostSchema([messages, users, rooms]), everyone)
    #expect(plan.participants == .everyone)
    #expect(WiringFile(plan).text.contains("every user of public.users gets every message (now about 0 users)"))
    #expect(refused([messages, rooms], everyone).contains("--users"))
  }

  @Test(
    "everyone is neither offered nor taken where messages may be private",
    arguments: [
      ["rooms", "id uuid", "is_private bool"], ["rooms", "id uuid", "kind text"], ["dialogs", "id uuid"],
      ["x", "id uuid"], ["rooms", "id uuid", "member_ids _uuid"], ["rooms", "id uuid", "users jsonb"],
      ["rooms", "id uuid", "password_hash text"], ["rooms", "id uuid", "created_by uuid", "isInviteOnly bool"],
    ])
  func privatePlaces(_ place: [String]) {
    let column = place[0] == "dialogs" ? "dialog_id uuid" : "room_id uuid"
    let messages = table("messages", "id uuid", column, "sender_id uuid", "body text", "created_at timestamptz")
    let places = table(place[0], more: Array(place.dropFirst()))
    let members = table("followers", column, "user_id uuid", "body text", "message_id uuid")
    #expect(asked([messages, users, places, members])?.choices == ["public.followers"])
    #expect(refused([messages, users, places]).contains("db/CONTRACT.md"))
    let everyone = refused([messages, users, places], answers(.participants, "everyone"))
    #expect(everyone.contains("every user of public.users gets every message"))
  }

  @Test("everyone is not taken beside a table that says who takes part")
  func knownMembers() {
    let rooms = table("rooms", "id uuid", "name text", "created_by uuid")
    let text = refused([messages, members, users, rooms], answers(.participants, "everyone"))
    #expect(text.contains("public.room_members says who takes part"))
    #expect(text.contains("every user of public.users gets every message"))
  }

  @Test(
    "a message that names its recipient in the row is refused, with what to do",
    arguments: [
      "recipient_id uuid", "to_user_id uuid", "receiver uuid", "to uuid", "message_recipient_id uuid",
      "recipient_ids _uuid", "target_user_id uuid",
    ],
    [true, false])
  func directMessages(_ recipient: String, _ hasRoom: Bool) {
    let name = String(recipient.prefix { $0 != " " })
    let reference = HostReference(column: name, schema: "public", table: "users", target: "id")
    for references in [[], [reference]] {
      let direct = table(
        "messages", "id uuid", "sender_id uuid", recipient, "body text", "created_at timestamptz",
        more: hasRoom ? ["room_id uuid"] : [], references: references)
      for participants in [nil, "everyone"] {
        let text = refused([direct, members, users], answers(.participants, participants))
        #expect(text.contains("public.messages.\(name) says who a message is for"))
        #expect(text.contains("db/CONTRACT.md"))
      }
    }
  }

  @Test("a conversation that names two users needs no table of participants")
  func pairs() throws {
    let rooms = table("rooms", "id uuid", "user1_id uuid", "user2_id uuid", "creator_id uuid")
    guard case .pair(let pair) = try WiringPlan(HostSchema([messages, rooms, users])).participants else {
      Issue.record("no pair")
      return
    }
    #expect(pair.users.map(\.name) == ["user1_id", "user2_id"])
    let three = table("rooms", "id uuid", "user1_id uuid", "user2_id uuid", "seller_id uuid")
    // Neither is a pair of users, and a room that names users is not open to all.
    let other = table("rooms", "id int8", "user1_id uuid", "user2_id uuid")
    for rooms in [three, other] {
      #expect(refused([messages, rooms, users]).contains("no table that could hold participants"))
    }
  }

  @Test("a number for the kind of message is a question with an open answer")
  func kinds() throws {
    let numbered = table(
      "messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", "created_at timestamptz", "kind int4")
    let question = asked([numbered, members, users])
    #expect(question?.subject == .messageKinds)
    #expect(question?.isOpen == true)
    let schema = HostSchema([numbered, members, users])
    let plan = try WiringPlan(schema, answers(.messageKinds, "0, 3"))
    #expect(plan.messages.conditions.map { $0.sql("m") } == ["m.kind in (0, 3)"])
    #expect(try WiringPlan(schema, answers(.messageKinds, "all")).messages.conditions == [])
    for wrong in ["", "x", "1;drop", "99999999999"] {
      #expect(refused([numbered, members, users], answers(.messageKinds, wrong)).contains("--message-kinds"))
    }
  }

  @Test("what cannot be served is refused with what to do, and an answer that names nothing")
  func refusals() {
    #expect(refused([users]).contains("db/CONTRACT.md"))
    let view = table("messages", "id uuid", "room_id uuid", "sender_id uuid", "body text", isTable: false)
    #expect(refused([view, members, users]).contains("is a view"))
    let keyed = table("messages", "event_id uuid", "room_id uuid", "sender_id uuid", "body text")
    #expect(refused([keyed, members, users]).contains("generated always as (event_id)"))
    let tenants = table(
      "messages", "tenant int4", "id uuid", "room_id uuid", "sender_id uuid", "body text", key: ["tenant", "id"])
    #expect(refused([tenants, members, users]).contains("no table that could hold messages"))
    let numbers = table("users", "id int8", "name text?")
    #expect(refused([messages, members, numbers], answers(.users, "users")).contains("user"))
    for subject in WiringQuestion.Subject.allCases where subject != .messageKinds {
      let text = refused([messages, members, users], answers(subject, "public.nothing"))
      #expect(text.contains("--\(subject.rawValue) public.nothing"))
    }
  }

  @Test("a table of devices is taken, one that may be is asked about, and other tokens are passed over")
  func devices() throws {
    let devices = table("push_tokens", "id int8", "user_id uuid", "token text", "platform text?")
    guard case .table(let sure) = try WiringPlan(HostSchema([messages, members, users, devices])).devices else {
      Issue.record("no table of devices")
      return
    }
    #expect(sure.token.name == "token")
    let sessions = table("sessions", "id int8", "user_id uuid", "device_id text")
    #expect(asked([messages, members, users, sessions])?.choices == ["public.sessions.device_id", "own"])
    let keys = table("api_keys", "id int8", "user_id uuid", "token text")
    #expect(try WiringPlan(HostSchema([messages, members, users, keys])).devices == .own)
  }

  @Test(
    "a table that keeps users with a token loses the token; one whose token is a key loses the row",
    arguments: [true, false])
  func deadTokens(_ isKey: Bool) throws {
    let phones = table("phones", "id int8", "user_id uuid", "device_token text", key: isKey ? ["device_token"] : nil)
    guard case .table(let devices) = try WiringPlan(HostSchema([messages, members, users, phones])).devices else {
      Issue.record("no table of devices")
      return
    }
    #expect(devices.keepsRows == !isKey)
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
    #expect(NameKey("zerver_message").weight(among: HostWords.messages) == 9)
    #expect(NameKey("invoices").weight(among: HostWords.messages) == 0)
    #expect(NameKey(column: "chat_channel_id").rank(among: ["thread", "channel"]) == 3)
  }
}
