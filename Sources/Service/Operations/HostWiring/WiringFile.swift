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
  let template: String
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
    let (members, read) = (mapping[.members], mapping[.read])
    if members.head.value == "everyone", mapping[.users].isWord {
      throw MappingFault(members.head.number, "without a table of users not everyone can take part")
    }
    if members.isWord, read.isWord, read.word == "marker" || read.word == "flag" && members.head.value == "everyone" {
      throw MappingFault(read.head.number, "\(read.head.value) needs a table of members")
    }
    for (part, key) in [(HostMapping.Part.messages, "conversation"), (.members, "conversation"), (.messages, "sender")]
    {
      let section = mapping[part]
      guard let column = column(key, section), let table = table(section),
        let fault = schema.tenants(of: column, in: table)
      else { continue }
      throw MappingFault(section.all(key).first?.number ?? 0, fault)
    }
  }

  package var text: String {
    """
    \(Self.mark) Written by tacet init from this mapping, which is what to change:
    --
    \(mapping.text.split(separator: "\n").map { "--   \($0)" }.joined(separator: "\n"))

    \(filled(template, ["makes_tables"], own: "tacet_host"))
    """
  }

  /// A script that makes the functions of the wiring and `played` in schema `pg_temp`, for a transaction that is rolled back.
  /// - Parameter isApplied: whether the wiring's own tables are there.
  func checkScript(isApplied: Bool) -> String {
    let own = isApplied ? "tacet_host" : "pg_temp"
    let text = template.replacing("tacet.", with: "pg_temp.").replacing("tacet_host.", with: "\(own).")
    return filled(text, isApplied ? ["check"] : ["check", "makes_tables"], own: own)
  }

  func table(_ section: HostMapping.Section) -> HostTable? {
    section.isWord ? nil : schema.table(named: section.head.value)
  }

  /// The column that a line names; nil for an expression.
  func column(_ key: String, _ section: HostMapping.Section) -> HostColumn? {
    let value = section.value(key)
    return table(section)?.columns.first { $0.sql == value || $0.name == value }
  }

  // MARK: What the template is filled with

  /// - Parameter own: the schema of the wiring's tables.
  private func filled(_ template: String, _ words: Set<String>, own: String) -> String {
    var (values, words) = (self.values(own: own), words.union(self.words))
    read(into: &values, &words)
    let indexes = missingIndexes
    values["index_names"] = indexes.map { "to_regclass(\($0.fullName.quotedLiteral))" }.joined(separator: ", ")
    return WiringTemplate(template).filled(
      values,
      [
        "members": .init(
          separator: "\nunion all\n",
          values: mapping[.members].all("user").map { line in
            ["members.user": line.value.inParentheses]
          }),
        "block": .init(separator: "\nor ", values: mapping.all(.blocks).map(values(of:))),
        "policy": .init(separator: "\n", values: policies), "key": .init(separator: "\n", values: keys),
        "index": .init(separator: "\n", values: indexes.map(\.values)),
      ], words: words)
  }

  private var words: Set<String> {
    let (members, devices, users) = (mapping[.members], mapping[.devices], mapping[.users])
    let isRead = mapping.read != .none
    let counts = members.value("unread") != nil
    let isEveryone = members.head.value == "everyone"
    let words: KeyValuePairs = [
      "listed": !members.isWord, "everyone": isEveryone, "pairs": members.head.value == "recipient", "once": listsOnce,
      "reading": isRead, "badge": counts || isRead && !isEveryone, "counted": !members.isWord && !counts,
      "own_devices": devices.isWord, "sandbox_flag": types[.devices, "environment"] == "bool",
      "is_deleted": ["delete", nil].contains(devices.value("dead")),
      "is_partitioned": table(mapping[.messages])?.isPartitioned == true,
      "erases_users": column("id", users)?.name == "id" && table(users)?.isTable == true,
    ]
    return Set(words.filter(\.value).map(\.key))
  }

  /// Whether a row of the members' table is the only one of its user in the conversation.
  private var listsOnce: Bool {
    let members = mapping[.members]
    guard members.all("user").count == 1, let conversation = column("conversation", members),
      let user = column("user", members)
    else { return members.value("latest") != nil }
    return members.value("latest") != nil || table(members)?.isUnique([conversation.name, user.name]) == true
  }

  private func values(own: String) -> [String: String] {
    let (messages, members, devices) = (mapping[.messages], mapping[.members], mapping[.devices])
    var values = [
      "message_type": ids.messages.rawValue, "conversation_type": ids.conversations.rawValue,
      "user_type": ids.users.rawValue, "migrate": ids.migrateCommand, "user_pattern": ids.userPattern,
      "unused_id": ids.messages == .bigint ? "-1 - floor(random() * 2e9)" : "gen_random_uuid()",
      "messages.id::": cast(types[.messages, "id"]), "members.reasons": "''", "trigger_arguments": triggerArguments,
    ]
    if let table = table(messages) {
      values["messages_text"] = "\(table.schema.quotedIdentifier).\(table.name.quotedIdentifier)".quotedLiteral
      values["messages_alias"] = table.name.quotedIdentifier
    }
    let defaults =
      devices.isWord
      ? ["devices.table": "\(own).devices", "devices.user::": ""]
      : ["devices.environment": "null::text", "devices.app": "null::text"]
    values.merge(defaults) { $1 }
    for section in mapping.sections where ![.blocks, .role].contains(section.part) {
      values.merge(self.values(of: section)) { $1 }
    }
    let (sender, recipient) = (values["messages.sender"] ?? "", values["messages.recipient"])
    let pair = recipient.map { "least(\(sender), \($0))::text || '/' || greatest(\(sender), \($0))::text" }
    values["conversation"] = pair ?? values["messages.conversation"]
    values["body"] = plainText("text", of: messages)
    values["zone"] = values["users.zone"].map { _ in plainText("zone", of: mapping[.users]) }
    values["position"] = values["messages.written"] ?? "id"
    values["birth"] = birth
    let written = column("written", messages)
    values["written_column"] = written?.type.hasPrefix("timestamp") == true ? written?.sql : nil
    values["seen_at"] = moment("seen", of: members)
    values["left_at"] = moment("left", of: members)
    values["registered_at"] = devices.isWord ? "registered_at" : moment("registered", of: devices)
    if devices.value("dead") == "clear" {
      values["nothing"] = column("token", devices)?.isNullable == false ? "''" : "null"
    }
    return values.merging(rights) { $1 }
  }

  /// A part's table and lines, its conditions together and why a row is left out, and casts.
  private func values(of section: HostMapping.Section) -> [String: String] {
    guard !section.isWord else { return [:] }
    let part = section.part
    var values = ["\(part).table": section.head.value]
    var reasons: [String] = []
    for line in section.lines where !line.key.isEmpty {
      let name = "\(part).\(line.key)"
      if ["only", "wants"].contains(line.key) {
        values[name] = (values[name].map { "\($0) and " } ?? "") + "(\(line.value))"
        reasons.append("case when (\(line.value)) is not true then \("not: \(line.value)".quotedLiteral) end")
      } else if values[name] == nil {
        values[name] = column(line.key, section)?.sql ?? line.value.inParentheses
        values["\(name)::"] = cast(types[part, line.key])
      }
    }
    if !reasons.isEmpty { values["\(part).reasons"] = "concat_ws('; ', \(reasons.joined(separator: ", ")))" }
    return values
  }

  private func read(into values: inout [String: String], _ words: inout Set<String>) {
    switch mapping.read {
    case .none, .receipts: break
    case .flag(let value): values["read.flag"] = value.inParentheses
    case .array(let value):
      let type = types[.read, "value"] ?? ""
      let isJSON = ["json", "jsonb"].contains(type)
      values["readers"] = isJSON ? "array(select \(type)_array_elements_text(\(value)))" : value.inParentheses
    case .marker(let mark, let place, let isFirstUnread):
      (values["mark"], values["position"], values["beginning"]) = (mark.inParentheses, place.inParentheses, beginning)
      if isFirstUnread { words.insert("first_unread") }
      guard mapping[.read].isWord else { return }
      for key in ["table", "conversation", "user"] { values["read.\(key)"] = values["members.\(key)"] }
    }
  }

  // MARK: Columns as Tacet reads them

  /// Behind an argument, so that an index on the column serves. Only two types do not compare with text by their own indexes.
  private func cast(_ type: String?) -> String {
    type.map { ["bpchar", "citext"].contains($0) ? "::\($0)" : "" } ?? ""
  }

  /// A `timestamp` is taken for UTC, a number for seconds, milliseconds or microseconds since 1970: of a moment after 1973 only one of
  /// the three fits.
  private func moment(_ key: String, of section: HostMapping.Section) -> String {
    guard let value = section.value(key)?.inParentheses else { return "null::timestamptz" }
    switch types[section.part, key] ?? "text" {
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
    let moment = moment("written", of: mapping[.messages])
    return types[.messages, "written"] == "timestamp"
      ? "nullif(least(\(moment) + interval '13 hours', now()), now())" : moment
  }

  /// What was before all marks.
  private var beginning: String {
    switch types[.read, "place"] ?? "" {
    case "timestamptz", "timestamp", "date": "'-infinity'"
    case "uuid": "'00000000-0000-0000-0000-000000000000'"
    case "text", "varchar", "bpchar": "''"
    default: "0"
    }
  }

  /// Of JSON the member that editors of rich text put the plain text into.
  private func plainText(_ key: String, of section: HostMapping.Section) -> String {
    let value = (section.value(key) ?? "").inParentheses
    let type = types[section.part, key] ?? "text"
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
