internal import FoundationEssentials
internal import Postgres

/// What the catalog says of a host's tables and views.
package struct HostSchema: Equatable, Sendable {
  /// In the order of their names.
  package var tables: [HostTable]

  var blocks: [BlockTable]

  /// - Parameter tables: in the order of their names.
  package init(_ tables: [HostTable]) { (self.tables, blocks) = (tables, []) }

  /// Reads documents.
  /// - Parameters:
  ///   - tables: those of the statement `examine_host`.
  ///   - hidden: those of `tacet.hidden_rows` in `db/functions`.
  ///   - blocks: those of `tacet.block_tables`.
  /// - Throws: `DecodingError` for a document of another shape.
  package init(tables: [String], hidden: [String], blocks: [String]) throws {
    let decoder = JSONDecoder()
    func decoded<Value: Decodable>(_ documents: [String]) throws -> [Value] {
      try documents.map { try decoder.decode(Value.self, from: Data($0.utf8)) }
    }
    (self.tables, self.blocks) = (try decoded(tables), try decoded(blocks))
    let hiding: [HidingColumn] = try decoded(hidden)
    for place in self.tables.indices { self.tables[place].hiding = hiding.filter { $0.isOf(self.tables[place]) } }
  }

  /// The table that an operator names, quoted or not: with its schema, or without where that is clear.
  func table(named name: String) -> HostTable? {
    if let exact = tables.first(where: { $0.sql == name || $0.fullName == name }) { return exact }
    let same = tables.filter { $0.name == name }
    return same.count == 1 ? same[0] : same.first { $0.schema == "public" }
  }

  /// The table that a foreign key names; nil where it is in a schema that is not looked at.
  func table(of reference: HostReference) -> HostTable? {
    tables.first { $0.schema == reference.schema && $0.name == reference.table }
  }

  /// - Parameter document: as ``HostTable/sample`` asks for it.
  package mutating func add(sample document: String, of table: String) throws {
    let facts = try JSONDecoder().decode([String: ColumnFacts].self, from: Data(document.utf8))
    guard let place = tables.firstIndex(where: { $0.fullName == table }) else { return }
    for column in tables[place].columns.indices {
      tables[place].columns[column].facts = facts[tables[place].columns[column].name]
    }
  }
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
  var columns: [HostColumn]
  /// The valid ones without a predicate, the primary key first.
  let indexes: [HostIndex]
  let references: [HostReference]
  /// Columns that say, or look as if they said, that a row is hidden.
  var hiding: [HidingColumn] = []

  private enum CodingKeys: String, CodingKey {
    case schema, name, isTable, isPartitioned, rows, hasRowSecurity, columns, indexes, references
  }

  /// As operators write it, and as questions show it. Not quoted.
  package var fullName: String { "\(schema).\(name)" }

  var sql: String { "\(schema.onOneLineOfSQL).\(name.onOneLineOfSQL)" }

  /// As `regclass` reads it, which knows no `U&`.
  var relation: String { "\(schema.quotedIdentifier).\(name.quotedIdentifier)" }

  func column(_ name: String) -> HostColumn? { columns.first { $0.name == name } }

  /// The column that a line of a mapping names; nil where it says an expression.
  func column(saying value: String?) -> HostColumn? { columns.first { $0.sql == value || $0.name == value } }

  /// A line's value as SQL, which stays one expression.
  func sql(_ value: String) -> String { column(saying: value)?.sql ?? "(\(value))" }

  /// The primary key, of several columns perhaps; where there is none, the first unique column.
  var keyColumns: [String] {
    (indexes.first(where: \.isPrimary) ?? indexes.first { $0.isUnique && $0.columns.count == 1 })?.columns ?? []
  }

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
  func reference(of column: String) -> HostReference? {
    let all = references.filter { $0.column == column }
    return all.first { $0.columns.count == 1 } ?? all.first
  }

  func refers(_ column: HostColumn, to table: HostTable?) -> Bool {
    guard let table else { return false }
    return references.contains { ($0.column, $0.schema, $0.table) == (column.name, table.schema, table.name) }
  }

  /// Whether rows repeat no values of these columns, in any order.
  func isUnique(_ columns: Set<String>) -> Bool { indexes.contains { $0.isUnique && Set($0.columns) == columns } }
}

/// A column with the name of its type, which is that under a domain.
package struct HostColumn: Equatable, Sendable, Decodable {
  let name: String
  let type: String
  let isNullable: Bool
  /// Nil where the table was not sampled.
  var facts: ColumnFacts?

  var sql: String { name.onOneLineOfSQL }

  var isText: Bool { ["text", "varchar", "bpchar", "citext", "name"].contains(type) }
  var isJSON: Bool { ["json", "jsonb"].contains(type) }
  var isFlag: Bool { type == "bool" }
  var isInteger: Bool { ["int2", "int4", "int8"].contains(type) }
  /// A time, or a number that counts from 1970.
  var isTime: Bool { ["timestamptz", "timestamp", "int8", "int4", "float8", "numeric"].contains(type) }
}

/// A column by which a host hides rows, in a table of one purpose.
struct HidingColumn: Equatable, Sendable, Decodable {
  enum Place: String, Equatable, Sendable, Decodable {
    case message, member, profile, block
  }

  let schema: String
  let table: String
  let place: Place
  let name: String
  /// What stands before and behind the column in a condition that is true of rows that are shown; nil where it is not understood.
  let before: String?
  let after: String?
  let words: String?
  /// Whether a member still takes part, and only wants no push.
  let isWish: Bool?

  func isOf(_ table: HostTable) -> Bool { schema == table.schema && self.table == table.name }
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
  let isPrimary: Bool
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
}

/// What a sample of a column holds.
package struct ColumnFacts: Equatable, Sendable, Decodable {
  /// Of the values that are not null.
  let length: Double?
  /// The share of values that end in 64 or more hexadecimal digits, as device tokens of APNs do.
  let tokens: Double?
  /// Of whole numbers, the smallest few.
  let values: [Int64]?
}

extension HostTable {
  /// Asks for facts of at most 500 rows, by column, as one document: of texts sizes alone.
  package var sample: String {
    let sampled = columns.filter { $0.isText || $0.isInteger }.prefix(40).map(\.sql).joined(separator: ", ")
    return """
      with facts as (
        select c.key, avg(length(c.value)) as length, avg((c.value ~ '[0-9A-Fa-f]{64,}$')::int) as tokens,
          (array_agg(distinct c.value::int8) filter (where c.value ~ '^-?[0-9]{1,18}$'))[:9] as values
        from (select \(sampled) from \(sql) limit 500) s
        cross join jsonb_each_text(to_jsonb(s)) c
        where c.value is not null
        group by c.key
      )
      select jsonb_object_agg(f.key, to_jsonb(f))::text from facts f
      """
  }
}

// Why a table cannot serve, and what would help.
extension HostSchema {
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
    guard table.isTable else { return "\(table.fullName) is a view, and the trigger belongs to a table: name that" }
    if table.messageKey?.name == "id" { return nil }
    let key = table.keyColumns
    guard !key.isEmpty else { return "\(table.fullName) has no key: its messages need a column id that is unique" }
    if key.count > 1, key.contains("id") {
      return """
        ids of \(table.fullName) may repeat, because its key is (\(key.joined(separator: ", "))). A unique index on id alone would \
        help. Where another tenant has the same id, keep the messages in a table whose id is of both: \
        \(table.generatedColumn("tacet_id", of: key))
        """
    }
    return """
      the trigger reads a column id, which \(table.fullName) lacks. One that is generated would help: \
      \(table.generatedColumn("id", table.key?.type, of: key)) and a unique index on it
      """
  }

  /// Where the values of a column may each mean rows of several tenants; nil where each means one row.
  func tenants(of column: HostColumn, in table: HostTable) -> String? {
    var found: (target: HostTable, columns: [String])?
    if let reference = table.reference(of: column.name) {
      guard reference.columns.count > 1, let target = self.table(of: reference), !target.isUnique([reference.target])
      else { return nil }
      found = (target, reference.columns)
    } else if let target = tables.first(where: { NameKey($0.name) == NameKey(column: column.name) && $0 != table }),
      target.isTable, !target.isPartitioned, target.key == nil, target.keyColumns.contains("id")
    {
      found = (target, target.keyColumns.filter { $0 != "id" } + [column.name])
    }
    guard let (target, columns) = found else { return nil }
    return """
      \(target.fullName) has the key (\(target.keyColumns.joined(separator: ", "))), so \(column.name) alone may mean rows of several \
      tenants. A column of both in each table that names it would help: \
      \(table.generatedColumn("tacet_\(column.name)", of: columns))
      """
  }
}

extension HostTable {
  /// A statement that makes one column of others.
  fileprivate func generatedColumn(_ name: String, _ type: String? = nil, of columns: [String]) -> String {
    let cast = columns.count == 1 ? "" : "::text"
    let parts = columns.map { $0.quotedIdentifier + cast }.joined(separator: " || ':' || ")
    let column = "\(name.quotedIdentifier) \(type ?? "text")"
    return "alter table \(sql) add column \(column) generated always as (\(parts)) stored;"
  }
}

extension String {
  /// As an identifier that has no line break, so that a line of a mapping can hold it.
  fileprivate var onOneLineOfSQL: String {
    guard utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return quotedIdentifier }
    let bytes = quotedIdentifier.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "\\"): [byte, byte]
      case ..<0x20, 0x7F: Array("\\00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8)
      default: [byte]
      }
    }
    return "U&" + String(decoding: bytes, as: UTF8.self)
  }
}
