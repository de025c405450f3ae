internal import Postgres
internal import PushRules

/// The SQL that a mapping means: `db/host/wiring.sql` with the host's tables in it. One transaction, and behind it the indexes. It may
/// run again.
package struct WiringFile {
  /// By which a file is known as one that `tacet init` has written and may write anew.
  package static let mark = "-- Wires Tacet to the tables of this application."

  let mapping: HostMapping
  let types: MappingTypes
  let schema: HostSchema
  private let template: String
  package let ids: MappingIDs

  /// - Parameters:
  ///   - types: of all values of the mapping, as the database knows them.
  ///   - template: `db/host/wiring.sql`.
  /// - Throws: ``MappingFault`` for what is unsure and what does not fit together.
  package init(
    _ mapping: HostMapping, _ types: MappingTypes, _ schema: HostSchema, template: String
  ) throws(MappingFault) {
    try mapping.requireSure()
    (self.mapping, self.types, self.schema, self.template) = (mapping.qualified(by: schema), types, schema, template)
    ids = try MappingIDs(mapping, types)
    if members.head.value == "everyone", users == nil {
      throw MappingFault(members.head.number, "without a table of users not everyone can take part")
    }
    if members.isWord, let section = mapping.section(.read) {
      var needsTable = section.isWord && section.head.value.hasPrefix("marker")
      if members.head.value == "everyone" { needsTable = needsTable || section.head.value.hasPrefix("flag") }
      if needsTable { throw MappingFault(section.head.number, "\(section.head.value) needs a table of members") }
    }
    for case let (section?, key) in [(messages, "conversation"), (members, "conversation"), (messages, "sender")]
      as [(HostMapping.Section?, String)]
    {
      guard let column = plainColumn(key, of: section), let table = table(of: section) else { continue }
      if let fault = schema.tenants(of: column, in: table) {
        throw MappingFault(section.all(key).first?.number ?? 0, fault)
      }
    }
  }

  package var text: String {
    let lines = template.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.isEmpty }
    return head + filled(lines.map(String.init)).joined(separator: "\n")
  }

  private var head: String {
    """
    \(Self.mark) Written by tacet init from this mapping, which is what to change:
    --
    \(mapping.text.split(separator: "\n").map { "--   \($0)" }.joined(separator: "\n"))

    """
  }

  private func filled(_ lines: [String]) -> [String] {
    let (words, names) = (self.words, self.names)
    let tag = (0...).lazy.map { "$body\($0)$" }.first { tag in !names.values.contains { $0.contains(tag) } } ?? ""
    var result: [String] = []
    var isLeftOut = false
    for line in lines {
      let word = line.firstRange(of: "-- if ").map { String(line[$0.upperBound...]) }
      if line == "-- end" {
        isLeftOut = false
      } else if let word, line.hasPrefix("-- if ") {
        isLeftOut = !words.contains(word)
      } else if !isLeftOut, word.map(words.contains) ?? true {
        let said = word == nil ? line : String(line[..<(line.firstRange(of: " -- if ")?.lowerBound ?? line.endIndex)])
        let text = said.replacing("$body$", with: tag).replacing(/\{(\w+)\}/) { names[String($0.1)] ?? String($0.0) }
        if !(text.isEmpty && result.last?.isEmpty == true) { result.append(text) }
      }
    }
    return result
  }

  // MARK: The parts

  private var messages: HostMapping.Section { mapping.section(.messages) ?? .init(.messages, "") }
  private var members: HostMapping.Section { mapping.section(.members) ?? .init(.members, "") }
  /// Nil without a table.
  private var users: HostMapping.Section? { mapping.section(.users).flatMap { $0.isWord ? nil : $0 } }
  private var devices: HostMapping.Section? { mapping.section(.devices).flatMap { $0.isWord ? nil : $0 } }
  private var read: HostMapping.Read { mapping.read }

  private func table(of section: HostMapping.Section) -> HostTable? { schema.table(named: section.head.value) }

  private func plainColumn(_ key: String, of section: HostMapping.Section) -> HostColumn? {
    let value = section.value(key)
    return table(of: section)?.columns.first { $0.sql == value || $0.name == value }
  }

  private func type(_ key: String, of section: HostMapping.Section) -> String { types[section.part, key] ?? "text" }

  // MARK: What the template is filled with

  /// What is so.
  private var words: Set<String> {
    var words: Set<String> = []
    switch members.head.value {
    case "everyone": words.insert("everyone")
    case "recipient": words.insert("pairs")
    default: words.formUnion(["listed", listsOnce ? "listed_once" : "listed_often"])
    }
    let isOfTwo = words.contains("pairs")
    let reading: [String] =
      switch read {
      case .none: []
      case .flag: ["flag"]
      case .array: ["readers"]
      case .marker(_, _, let isFirstUnread): ["marker", isFirstUnread ? "first_unread" : "last_read"]
      case .receipts: ["receipts"]
      }
    words.formUnion(reading.isEmpty ? ["unread_by_nobody"] : reading)
    if reading == ["flag"] { words.insert(isOfTwo ? "flag_of_recipient" : "flag_of_members") }
    if members.value("unread") != nil {
      words.formUnion(["badge", "counter"])
    } else if !reading.isEmpty, !words.contains("everyone") {
      words.formUnion(["badge", isOfTwo ? "counted_pairs" : "counted"])
      words.formUnion(reading.map { "\(isOfTwo ? "pairs" : "counted")_\($0)" })
    }
    if users?.value("name") != nil { words.insert("names") }
    if users?.value("zone") != nil { words.insert("zones") }
    if users?.conditions("only", "wants").isEmpty == false { words.insert("accounts") }
    if !mapping.all(.blocks).isEmpty { words.insert("blocks") }
    if devices == nil { words.formUnion(users == nil ? ["own_devices"] : ["own_devices", "users_of_own_devices"]) }
    for word in ["badge", "accounts", "blocks"] where !words.contains(word) { words.insert("no_\(word)") }
    return words
  }

  /// Whether a row of the members' table is the only one of its user in the conversation.
  private var listsOnce: Bool {
    guard members.all("user").count == 1, let conversation = plainColumn("conversation", of: members),
      let user = plainColumn("user", of: members)
    else { return members.value("latest") != nil }
    return members.value("latest") != nil || table(of: members)?.isUnique([conversation.name, user.name]) == true
  }

  private var names: [String: String] {
    let name = users?.value("name") == nil ? nil : "nullif(u.name, '')"
    let senderName = [name, messages.value("sender_name") == nil ? nil : "m.sender_name"].compactMap { $0 }
    return [
      "message_type": ids.messages.rawValue, "conversation_type": ids.conversations.rawValue,
      "user_type": ids.users.rawValue, "migrate": ids.migrateCommand,
      "messages": messageRows, "members": memberRows(members.conditions("only")), "all_members": memberRows([]),
      "wanting_members": memberRows(members.conditions("only", "wants")),
      "users": userRows(wanting: false), "wanting_users": userRows(wanting: true), "reads": readRows,
      "devices": deviceRows(all: false), "all_devices": deviceRows(all: true),
      "sender_name": senderName.isEmpty ? "null::text" : "coalesce(\(senderName.joined(separator: ", ")))",
      "message_cast": cast("id", of: messages), "conversation_cast": cast("conversation", of: members),
      "member_cast": cast("user", of: members), "user_cast": users.map { cast("id", of: $0) } ?? "",
      "device_cast": devices.map { cast("user", of: $0) } ?? "", "beginning": beginning,
      "user_pattern": ids.userPattern,
      "blocks": blocked("has_blocked.user_id", "has_blocked.sender_id"), "drop_device": dropDevice,
      "device_token": devices.map { deviceToken($0.value("token") ?? "") } ?? "device_token",
      "registered_at": devices.map { moment("registered", of: $0) } ?? "registered_at",
      "rights": rights, "locking": locking.joined(separator: "\n      "), "indexes": indexes,
    ]
  }

  /// Behind an argument, so that an index on the column serves. Only two types do not compare with text by their own indexes.
  private func cast(_ key: String, of section: HostMapping.Section) -> String {
    let type = type(key, of: section)
    return ["bpchar", "citext"].contains(type) ? "::\(type)" : ""
  }

  /// - Parameter shown: conditions that are columns instead.
  private func rows(
    _ table: String, _ columns: KeyValuePairs<String, String?>, where conditions: [String], _ shown: [String] = []
  ) -> String {
    let shown =
      columns.compactMap { name, value in value.map { "\($0.inParentheses) as \(name)" } }
      + zip(1..., shown).map { "(\($1)) as condition\($0)" }
    let filter = conditions.isEmpty ? "" : " where \(conditions.map { "(\($0))" }.joined(separator: " and "))"
    return "(select \(shown.joined(separator: ", ")) from \(table)\(filter))"
  }

  /// What the check reads of the template's tables; of people and accounts each condition as a column, and nobody left out.
  var tables:
    (
      messages: String, users: String, reads: String, devices: String, people: String, accounts: String,
      senderName: String, names: Bool
    )
  {
    let accounts = users.map {
      rows($0.head.value, ["user_id": $0.value("id")], where: [], $0.conditions("only", "wants"))
    }
    let names = self.names
    return (
      names["messages"] ?? "", names["users"] ?? "", readRows, names["devices"] ?? "",
      memberRows(members.conditions("only", "wants"), isShown: true), accounts ?? "", names["sender_name"] ?? "",
      words.contains("names")
    )
  }

  private var messageRows: String {
    let (sender, recipient) = (messages.value("sender"), messages.value("recipient"))
    let pair = recipient.map { "least(\(sender ?? ""), \($0))::text || '/' || greatest(\(sender ?? ""), \($0))::text" }
    var position = messages.value("written") ?? "id"
    var (flag, array): (String?, String?)
    switch read {
    case .marker(_, let place, _): position = place
    case .flag(let value): flag = value
    case .array(let value): array = readers(value)
    default: break
    }
    return rows(
      messages.head.value,
      [
        "id": "id", "conversation_id": pair ?? messages.value("conversation"), "sender_id": sender,
        "recipient_id": recipient, "sender_name": messages.value("sender_name").map { "(\($0))::text" },
        "body": text(messages.value("text") ?? "", of: type("text", of: messages)),
        "created_at": messages.value("written") == nil ? "null::timestamptz" : birth, "position": position,
        "is_read": flag, "readers": array,
      ], where: messages.conditions("only"))
  }

  private func readers(_ value: String) -> String {
    let type = types[.read, "value"] ?? ""
    return ["json", "jsonb"].contains(type) ? "array(select \(type)_array_elements_text(\(value)))" : value
  }

  /// - Parameter isShown: whether the conditions are columns instead.
  private func memberRows(_ conditions: [String], isShown: Bool = false) -> String {
    guard !members.isWord else { return "" }
    let conversation = members.value("conversation") ?? ""
    let parts = members.all("user").map { user in
      var table = members.head.value
      if let latest = members.value("latest") {
        table =
          "(select distinct on ((\(conversation)), (\(user.value))) * from \(table) "
          + "order by (\(conversation)), (\(user.value)), (\(latest)) desc) newest"
      }
      return rows(
        table,
        [
          "conversation_id": conversation, "user_id": user.value, "seen_at": moment("seen", of: members),
          "left_at": moment("left", of: members), "unread": members.value("unread"),
        ], where: isShown ? [] : conditions, isShown ? conditions : [])
    }
    return parts.count == 1
      ? parts[0] : "(\(parts.map { String($0.dropFirst().dropLast()) }.joined(separator: " union all ")))"
  }

  private func userRows(wanting: Bool) -> String {
    guard let users else { return "" }
    let zone = users.value("zone").map { text($0, of: type("zone", of: users)) }
    return rows(
      users.head.value,
      ["user_id": users.value("id"), "name": users.value("name").map { "(\($0))::text" }, "zone": zone],
      where: wanting ? users.conditions("only", "wants") : [])
  }

  private var readRows: String {
    switch read {
    case .marker(let mark, _, _):
      let section = mapping.section(.read).flatMap { $0.isWord ? nil : $0 } ?? members
      return rows(
        section.head.value,
        ["conversation_id": section.value("conversation"), "user_id": section.value("user"), "mark": mark],
        where: section.conditions("only"))
    case .receipts(let section):
      return rows(
        section.head.value, ["message_id": section.value("message"), "user_id": section.value("user")],
        where: section.conditions("only"))
    default: return ""
    }
  }

  private func deviceRows(all: Bool) -> String {
    guard let devices else {
      return "(select user_id, device_token, environment, app, registered_at from tacet_host.devices)"
    }
    var conditions = all ? [] : devices.conditions("only")
    if !all, let platform = devices.value("platform") {
      conditions.append(
        "coalesce(lower(\(platform)), 'ios') in ('', 'ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns', 'apple')"
      )
    }
    return rows(
      devices.head.value,
      [
        "user_id": devices.value("user"), "device_token": deviceToken(devices.value("token") ?? ""),
        "environment": environment(devices), "app": devices.value("app").map { "(\($0))::text" } ?? "null::text",
        "registered_at": moment("registered", of: devices),
      ], where: conditions)
  }

  /// The token in lower case without what applications put before it (`apple:`); null for what is none of APNs.
  private func deviceToken(_ value: String) -> String { "lower(substring((\(value))::text from '[0-9A-Fa-f]{64,}$'))" }

  private func environment(_ devices: HostMapping.Section) -> String {
    guard let value = devices.value("environment") else { return "null::text" }
    if type("environment", of: devices) == "bool" { return "case when \(value) then 'sandbox' else 'production' end" }
    return
      "case when lower(\(value)) in ('sandbox', 'development') then 'sandbox' when \(value) <> '' then 'production' end"
  }

  private var dropDevice: String {
    guard let devices else { return "delete from tacet_host.devices" }
    switch devices.value("dead") ?? "delete" {
    case "delete": return "delete from \(devices.head.value)"
    case "clear":
      let nothing = plainColumn("token", of: devices)?.isNullable == false ? "''" : "null"
      return "update \(devices.head.value) set \(devices.value("token") ?? "") = \(nothing)"
    case let column: return "update \(devices.head.value) set \(column) = now()"
    }
  }

  /// Whether a user wants nothing of a sender.
  func blocked(_ user: String, _ sender: String) -> String {
    let blocks = mapping.all(.blocks).map { section in
      let relation = rows(
        section.head.value, ["user_id": section.value("blocker"), "sender_id": section.value("blocked")],
        where: section.conditions("only"))
      return "exists (select from \(relation) b where b.user_id = \(user)\(cast("blocker", of: section)) "
        + "and b.sender_id = \(sender)\(cast("blocked", of: section)))"
    }
    return blocks.isEmpty ? "false" : blocks.joined(separator: "\n    or ")
  }

  // MARK: Columns as Tacet reads them

  private func moment(_ key: String, of section: HostMapping.Section) -> String {
    section.value(key).map { moment($0, type(key, of: section)) } ?? "null::timestamptz"
  }

  /// A `timestamp` is taken for UTC, a number for seconds, milliseconds or microseconds since 1970: of a moment after 1973 only one of
  /// the three fits.
  private func moment(_ value: String, _ type: String) -> String {
    let value = value.inParentheses
    switch type {
    case "timestamptz": return value
    case "timestamp": return "\(value) at time zone 'UTC'"
    case "date", "text": return "\(value)::timestamptz"
    default:
      return
        "to_timestamp(nullif(\(value), 0) / case when \(value) > 1e14 then 1e6 when \(value) > 1e11 then 1e3 else 1 end)"
    }
  }

  /// When a message was written. A `timestamp` may be of any zone, so it counts as the latest moment that it can be; null, so that the
  /// time of the insert counts, where that is not over.
  private var birth: String {
    let moment = moment("written", of: messages)
    return type("written", of: messages) == "timestamp"
      ? "nullif(least(\(moment) + interval '13 hours', now()), now())" : moment
  }

  /// What was before all marks.
  private var beginning: String {
    guard case .marker = read else { return "" }
    switch types[.read, "place"] ?? "" {
    case "timestamptz", "timestamp", "date": return "'-infinity'"
    case "uuid": return "'00000000-0000-0000-0000-000000000000'"
    case "text", "varchar", "bpchar": return "''"
    default: return "0"
    }
  }

  /// Of JSON the member that editors of rich text put the plain text into.
  private func text(_ value: String, of type: String) -> String {
    let value = value.inParentheses
    guard ["json", "jsonb"].contains(type) else { return type == "text" ? value : "\(value)::text" }
    return "case when \(type)_typeof(\(value)) = 'string' then \(value) #>> '{}' "
      + "else coalesce(\(value) ->> 'text', \(value) ->> 'txt', \(value) ->> 'body') end"
  }
}

extension String {
  /// A name as it is, anything else so that it stays one expression.
  var inParentheses: String {
    let isPlain = utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return isPlain ? self : "(\(self))"
  }
}
