internal import FoundationEssentials
internal import Postgres

/// What the catalog says of a host's tables and views.
package struct HostSchema: Equatable, Sendable {
  /// In the order of their names.
  package var tables: [HostTable]

  var blocks: [BlockTable]
  /// Facts by the full name of a table and a column; only of tables that were sampled.
  private var contents: [String: [String: ColumnFacts]] = [:]

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
    func decoded<Value: Decodable>(_ documents: [String], as type: Value.Type) throws -> [Value] {
      try documents.map { try decoder.decode(type, from: Data($0.utf8)) }
    }
    self.tables = try decoded(tables, as: HostTable.self)
    self.blocks = try decoded(blocks, as: BlockTable.self)
    let hidden = Dictionary(grouping: try decoded(hidden, as: HidingColumn.self)) { "\($0.schema).\($0.table)" }
    for place in self.tables.indices { self.tables[place].hiding = hidden[self.tables[place].fullName] ?? [] }
  }

  /// The table that an operator names, quoted or not: with its schema, or without where that is clear.
  func table(named name: String) -> HostTable? {
    if let exact = tables.first(where: { $0.sql == name }) ?? tables.first(where: { $0.fullName == name }) {
      return exact
    }
    let same = tables.filter { $0.name == name }
    return same.count == 1 ? same[0] : same.first { $0.schema == "public" }
  }

  /// The table that a foreign key names; nil where it is in a schema that is not looked at.
  func table(of reference: HostReference) -> HostTable? {
    tables.first { $0.schema == reference.schema && $0.name == reference.table }
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
  let columns: [HostColumn]
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

  func column(_ name: String) -> HostColumn? { columns.first { $0.name == name } }

  /// The column by which a row is found: the primary key's only one, else the one of a unique index that is called `id`. A
  /// partitioned table has other columns in its key. A view has no key, and its `id` is believed.
  var key: HostColumn? {
    let primary = indexes.first(where: \.isPrimary)?.columns
    if let primary, primary.count == 1 { return column(primary[0]) }
    guard let id = column("id") else { return nil }
    let isUnique = indexes.contains { $0.isUnique && $0.columns == ["id"] }
    return isUnique || !isTable || isPartitioned && primary?.contains("id") == true ? id : nil
  }

  /// What a column refers to; by itself rather than as a part of a key of several.
  func reference(of column: String) -> HostReference? {
    let all = references.filter { $0.column == column }
    return all.first { $0.columns.count == 1 } ?? all.first
  }

  func refers(_ column: HostColumn, to table: HostTable?) -> Bool {
    guard let table else { return false }
    return references.contains { ($0.column, $0.schema, $0.table) == (column.name, table.schema, table.name) }
  }

  /// Whether an index begins with these columns.
  func hasIndex(_ columns: [String]) -> Bool { indexes.contains { $0.columns.starts(with: columns) } }

  /// Whether rows repeat no values of these columns, in any order.
  func isUnique(_ columns: Set<String>) -> Bool { indexes.contains { $0.isUnique && Set($0.columns) == columns } }
}

/// A column with the name of its type, which is that under a domain.
package struct HostColumn: Equatable, Sendable, Decodable {
  let name: String
  let type: String
  let isNullable: Bool

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

extension HostSchema {
  /// Rows of a table that are sampled.
  private static let sampleMax = 500

  /// What is asked of the contents of tables that may hold messages, members or devices: each statement returns one document, facts by
  /// column. Facts of texts are sizes alone.
  package var samples: [(table: String, sql: String)] {
    tables.filter { $0.isTable && HostProposal.isSampled($0) }.map { table in
      let facts = table.columns.filter { $0.isText || $0.isInteger }.map { column in
        let name = column.name.quotedIdentifier
        let values =
          column.isInteger
          ? "(select jsonb_agg(v) from (select distinct \(name) as v from s where \(name) is not null order by v limit 9) d)"
          : "null"
        return """
          \(column.name.quotedLiteral), jsonb_build_object('length', (select avg(length(\(name)::text)) from s),
            'tokens', (select avg((\(name)::text ~ '[0-9A-Fa-f]{64,}$')::int) from s), 'values', \(values))
          """
      }
      return (
        table.fullName,
        """
        with s as materialized (select * from \(table.sql) limit \(Self.sampleMax))
        select jsonb_build_object(\(facts.prefix(40).joined(separator: ", ")))::text
        """
      )
    }
  }

  /// - Parameter document: as a statement of ``samples`` returns it.
  package mutating func add(sample document: String, of table: String) throws {
    contents[table] = try JSONDecoder().decode([String: ColumnFacts].self, from: Data(document.utf8))
  }

  /// Why a table cannot hold messages, and what would help; nil where it can.
  func messagesFault(_ table: HostTable) -> String? {
    guard table.isTable else { return "\(table.fullName) is a view, and the trigger belongs to a table: name that" }
    if table.messageKey?.name == "id" { return nil }
    let key = table.indexes.first(where: \.isPrimary)?.columns ?? []
    if key.count > 1, key.contains("id") {
      return """
        ids of \(table.fullName) may repeat, because its key is (\(key.joined(separator: ", "))). A unique index on id alone would \
        help. Where another tenant has the same id, keep the messages in a table whose id is of both: \
        \(table.generatedColumn(of: key))
        """
    }
    guard !key.isEmpty else { return "\(table.fullName) has no key: its messages need a column id that is unique" }
    return """
      the trigger reads a column id, which \(table.fullName) lacks. One that is generated would help: alter table \(table.sql) \
      add column id \(table.key?.type ?? "text") generated always as (\(key.map(\.quotedIdentifier).joined(separator: " || ':' || "))) \
      stored; and a unique index on it
      """
  }

  func facts(_ column: HostColumn, of table: HostTable) -> ColumnFacts? { contents[table.fullName]?[column.name] }

  /// Why the values of a column may each mean rows of several tenants, and what would help; nil where each means one row.
  func tenants(of column: HostColumn, in table: HostTable) -> String? {
    var found: (target: HostTable, key: [String], columns: [String])?
    if let reference = table.reference(of: column.name) {
      guard reference.columns.count > 1, let target = self.table(of: reference), !target.isUnique([reference.target])
      else { return nil }
      found = (target, target.indexes.first(where: \.isPrimary)?.columns ?? [], reference.columns)
    } else if let target = tables.first(where: { NameKey($0.name) == NameKey(column: column.name) && $0 != table }),
      target.isTable, !target.isPartitioned, target.key == nil, target.column("id") != nil,
      let key = target.indexes.first(where: \.isPrimary)?.columns, key.count > 1, key.contains("id")
    {
      found = (target, key, key.filter { $0 != "id" } + [column.name])
    }
    guard let found else { return nil }
    return """
      \(found.target.fullName) has the key (\(found.key.joined(separator: ", "))), so \(column.name) alone may mean rows of several \
      tenants. A column of both in each table that names it would help: \(table.generatedColumn(of: found.columns))
      """
  }
}

extension HostTable {
  /// A statement that makes one column of several.
  func generatedColumn(of columns: [String]) -> String {
    let parts = columns.map { "\($0.quotedIdentifier)::text" }.joined(separator: " || ':' || ")
    let name = "tacet_\(columns.last ?? "id")".quotedIdentifier
    return "alter table \(sql) add column \(name) text generated always as (\(parts)) stored;"
  }
}

// Tables of a host in SQL.
extension HostTable {
  var sql: String { "\(schema.onOneLineOfSQL).\(name.onOneLineOfSQL)" }

  /// The column by which the trigger and Tacet know a message, where it is unique; else the key.
  var messageKey: HostColumn? { isUnique(["id"]) ? column("id") : key }
}

extension HostColumn {
  var sql: String { name.onOneLineOfSQL }
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
