internal import Postgres
internal import PushRules

/// What the catalog says of a host's tables and views, as the statement `examine_host` and the functions `tacet.hidden_rows` and
/// `tacet.block_tables` return it.
package struct HostSchema: Equatable, Sendable, Decodable {
  /// In the order of their names.
  let tables: [HostTable]
  var hiding: [HidingColumn] = []
  var blocks: [BlockTable] = []

  /// The table that an operator names, quoted or not: with its schema, or without where that is clear.
  func table(named name: String) -> HostTable? {
    if let exact = tables.first(where: { $0.sql == name || $0.fullName == name }) { return exact }
    let same = tables.filter { $0.name == name }
    return same.count == 1 ? same[0] : same.first { $0.schema == "public" }
  }

  /// The table that a foreign key names; nil where it is in a schema that is not looked at.
  func table(of reference: HostReference) -> HostTable? { tables.first(where: reference.isTo) }
}

/// A table or view.
package struct HostTable: Equatable, Sendable, Decodable {
  let schema: String
  let name: String
  /// Whether it can have triggers.
  let isTable: Bool
  let isPartitioned: Bool
  /// PostgreSQL's estimate; before the first analysis one from the table's size.
  let rows: Double
  let hasRowSecurity: Bool
  let columns: [HostColumn]
  /// The valid ones without a predicate, the primary key first.
  let indexes: [HostIndex]
  let references: [HostReference]

  /// As operators write it, and as questions show it. Not quoted.
  var fullName: String { "\(schema).\(name)" }

  var sql: String { "\(schema.quotedIdentifier).\(name.quotedIdentifier)" }

  func column(_ name: String) -> HostColumn? { columns.first { $0.name == name } }

  /// The column that a line of a mapping names; nil where it says an expression.
  func column(saying value: String?) -> HostColumn? { columns.first { $0.sql == value || $0.name == value } }

  /// A line's value as SQL, which stays one expression.
  func sql(_ value: String) -> String { column(saying: value)?.sql ?? "(\(value))" }

  /// The primary key, of several columns perhaps; where there is none, what else is unique.
  var keyColumns: [String] { indexes.first(where: \.isUnique)?.columns ?? [] }

  /// The column by which a row is found: the key's only one, else the one of a unique index that is called `id`. A partitioned table
  /// has other columns in its key. A view has no key, and its `id` is believed.
  var key: HostColumn? {
    if keyColumns.count == 1 { return column(keyColumns[0]) }
    let isFound = isUnique(["id"]) || !isTable || isPartitioned && keyColumns.contains("id")
    return isFound ? column("id") : nil
  }

  /// The column by which the trigger and Tacet know a message, where it is unique; else the key.
  var messageKey: HostColumn? { isUnique(["id"]) ? column("id") : key }

  /// What a column refers to; by itself rather than as a part of a key of several.
  func reference(of column: HostColumn) -> HostReference? {
    let all = references.filter { $0.column == column.name }
    return all.first { $0.columns.count == 1 } ?? all.first
  }

  func refers(_ column: HostColumn, to table: HostTable?) -> Bool {
    references.contains { $0.column == column.name && table.map($0.isTo) == true }
  }

  /// Whether rows repeat no values of these columns, in any order.
  func isUnique(_ columns: Set<String>) -> Bool { indexes.contains { $0.isUnique && Set($0.columns) == columns } }

  /// A statement that makes one column of others.
  fileprivate func generatedColumn(_ name: String, _ type: String? = nil, of columns: [String]) -> String {
    let cast = columns.count == 1 ? "" : "::text"
    let parts = columns.map { $0.quotedIdentifier + cast }.joined(separator: " || ':' || ")
    let column = "\(name.quotedIdentifier) \(type ?? "text")"
    return "alter table \(sql) add column \(column) generated always as (\(parts)) stored;"
  }
}

/// A column with the name of its type, which is that under a domain.
package struct HostColumn: Equatable, Sendable, Decodable {
  let name: String
  let type: String
  let isNullable: Bool
  /// The average of its values in a sample, in bytes; nil for a table that was never analyzed.
  var width: Int?

  var sql: String { name.quotedIdentifier }

  /// The condition that a flag or a time is set.
  var isSet: String { isFlag ? sql : "\(sql) is not null" }

  /// Nil for a type that no id has.
  var idType: IDTypes.IDType? { IDTypes.IDType.byTypeName[type] }
  var isText: Bool { ["text", "varchar", "bpchar", "citext", "name"].contains(type) }
  var isJSON: Bool { ["json", "jsonb"].contains(type) }
  var isFlag: Bool { type == "bool" }
  var isInteger: Bool { ["int2", "int4", "int8"].contains(type) }
  /// A time, or a number that counts from 1970.
  var isTime: Bool { ["timestamptz", "timestamp", "int8", "int4", "float8", "numeric"].contains(type) }
}

/// A column that says, or looks as if it said, that a row is hidden, in a table of one purpose.
struct HidingColumn: Equatable, Sendable, Decodable {
  let schema: String
  let table: String
  /// message, member, profile or block.
  let place: String
  let name: String
  /// What stands before and behind the column in a condition that is true of rows that are shown; nil where it is not understood.
  let before: String?
  let after: String?
  let words: String?
  /// Whether a member still takes part, and only wants no push.
  let isWish: Bool?
}

/// A table that says whom a user does not want to hear from. Without the columns where they are not understood.
struct BlockTable: Equatable, Sendable, Decodable {
  let schema: String
  let table: String
  let blocker: String?
  let blocked: String?
}

/// An index. An expression is an empty text among its columns.
package struct HostIndex: Equatable, Sendable, Decodable {
  let isUnique: Bool
  let columns: [String]
}

/// A column of a foreign key.
package struct HostReference: Equatable, Sendable, Decodable {
  let column: String
  let schema: String
  let table: String
  let target: String
  /// All columns of the key.
  let columns: [String]

  func isTo(_ table: HostTable) -> Bool { (schema, self.table) == (table.schema, table.name) }
}

// Why a table cannot serve, and what would help.
extension HostSchema {
  /// What is missing, where nothing can hold the messages.
  var refusal: String {
    let named = tables.filter { $0.weight(among: .messages) > 2 }
    let lacks = named.prefix(3).map { table in
      let lack = table.sender == nil ? "a sender" : "a conversation, a recipient and a text"
      return messagesFault(table) ?? "\(table.fullName) lacks \(lack)"
    }
    return """
      no table looks like messages: \(lacks.isEmpty ? "none has a key, a sender and a text" : lacks.joined(separator: "; ")). \
      Write tacet.host yourself: a line messages TABLE, under it conversation, sender and text, then members TABLE with \
      conversation and user, and run tacet init --from tacet.host. For what no line can say see db/CONTRACT.md.
      """
  }

  /// - Throws: ``MappingFault`` for a table that is not there, and for one that cannot serve.
  func check(_ mapping: HostMapping) throws(MappingFault) {
    for section in mapping.sections where section.part != .role && !section.isWord && !section.head.value.isEmpty {
      guard let table = table(named: section.head.value) else {
        throw MappingFault(section.head.number, "there is no table \(section.head.value)")
      }
      if section.part == .messages, let fault = messagesFault(table) {
        throw MappingFault(section.head.number, fault)
      }
      for line in section.lines where ["conversation", "sender"].contains(line.key) {
        guard let fault = table.column(saying: line.value).flatMap({ tenants(of: $0, in: table) }) else { continue }
        throw MappingFault(line.number, fault)
      }
    }
  }

  /// Nil where a table can hold the messages.
  func messagesFault(_ table: HostTable) -> String? {
    let key = table.keyColumns
    guard table.isTable else { return "\(table.fullName) is a view, and the trigger belongs to a table: name that" }
    if table.messageKey?.name == "id" { return nil }
    if key.isEmpty { return "\(table.fullName) has no key: its messages need a column id that is unique" }
    guard key.count > 1, key.contains("id") else {
      return """
        the trigger reads a column id, which \(table.fullName) lacks. One that is generated would help: \
        \(table.generatedColumn("id", table.key?.type, of: key)) and a unique index on it
        """
    }
    return """
      ids of \(table.fullName) may repeat, because its key is (\(key.joined(separator: ", "))): a unique index on id alone would help, \
      and where another tenant has the same id, messages in a table whose id is of both
      """
  }

  /// Where the values of a column may each mean rows of several tenants, by its foreign key or else by its name; nil where each means
  /// one row.
  private func tenants(of column: HostColumn, in table: HostTable) -> String? {
    let reference = table.reference(of: column)
    let called = tables.first { NameKey($0.name) == NameKey(column: column.name) && $0 != table && !$0.isPartitioned }
    let id = reference?.target ?? "id"
    guard let target = reference.map(self.table(of:)) ?? called, !target.isUnique([id]),
      reference != nil || target.keyColumns.contains(id)
    else { return nil }
    let columns = reference?.columns ?? target.keyColumns.filter { $0 != id } + [column.name]
    return """
      \(target.fullName) has the key (\(target.keyColumns.joined(separator: ", "))), so \(column.name) alone may mean rows of several \
      tenants. A column of both in each table that names it would help: \
      \(table.generatedColumn("tacet_\(column.name)", of: columns))
      """
  }
}
