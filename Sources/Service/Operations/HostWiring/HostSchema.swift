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
    func decoded<Value: Decodable>(_ documents: [String], as type: Value.Type) throws -> [Value] {
      try documents.map { try decoder.decode(type, from: Data($0.utf8)) }
    }
    self.tables = try decoded(tables, as: HostTable.self)
    self.blocks = try decoded(blocks, as: BlockTable.self)
    let hidden = Dictionary(grouping: try decoded(hidden, as: HidingColumn.self)) { "\($0.schema).\($0.table)" }
    for place in self.tables.indices { self.tables[place].hiding = hidden[self.tables[place].fullName] ?? [] }
  }

  /// The table that an operator names: with its schema, or without where that is clear.
  func table(named name: String) -> HostTable? {
    if let exact = tables.first(where: { $0.fullName == name }) { return exact }
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

  func reference(of column: String) -> HostReference? { references.first { $0.column == column } }

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

/// A foreign key of one column.
package struct HostReference: Equatable, Sendable, Decodable {
  let column: String
  let schema: String
  let table: String
  let target: String
}

/// The type in which Tacet stores ids; the host's columns compare with it by their indexes.
package enum IDType: String, Equatable, Sendable {
  case uuid
  case bigint
  case text

  /// Nil for a type that cannot be served.
  init?(_ column: HostColumn) {
    switch column.type {
    case "uuid": self = .uuid
    case "int2", "int4", "int8": self = .bigint
    case "text", "varchar", "bpchar", "citext": self = .text
    default: return nil
    }
  }
}

// Tables and columns of a host in SQL.

extension HostTable {
  var sql: String { "\(schema.quotedIdentifier).\(name.quotedIdentifier)" }
}

extension HostColumn {
  /// The column of a row as an id of Tacet's type.
  func id(_ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    switch type {
    case "int2", "int4": return "\(value)::bigint"
    case "varchar", "bpchar", "citext": return "\(value)::text"
    default: return value
    }
  }

  /// The column of a row beside an argument of Tacet's type, so that an index on the column serves. Only two types do not
  /// compare with text by their own indexes.
  func equals(_ argument: String, _ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    return ["bpchar", "citext"].contains(type) ? "\(value) = \(argument)::\(type)" : "\(value) = \(argument)"
  }

  /// The column of a row as a moment. A `timestamp` is taken for UTC, a number for seconds, milliseconds or microseconds since
  /// 1970: of a moment after 1973 only one of the three fits.
  func moment(_ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    switch type {
    case "timestamptz": return value
    case "timestamp": return "\(value) at time zone 'UTC'"
    default:
      return
        "to_timestamp(nullif(\(value), 0) / case when \(value) > 1e14 then 1e6 when \(value) > 1e11 then 1e3 else 1 end)"
    }
  }

  /// The column of a row as the time of a message. A `timestamp` may be of any zone, so it counts as the latest moment that it can
  /// be; null, so that the time of the insert counts, where that is not over.
  func birth(_ row: String) -> String {
    guard type == "timestamp" else { return moment(row) }
    return "nullif(least(\(moment(row)) + interval '13 hours', now()), now())"
  }

  /// What was before all moments, in the column's type.
  var beginning: String { type.hasPrefix("timestamp") ? "'-infinity'" : "0" }

  /// The column of a row as text. Of JSON the member that editors of rich text put the plain text into.
  func plainText(_ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    guard isJSON else { return type == "text" ? value : "\(value)::text" }
    return """
      case when \(type)_typeof(\(value)) = 'string' then \(value) #>> '{}'
        else coalesce(\(value) ->> 'text', \(value) ->> 'txt', \(value) ->> 'body') end
      """
  }
}
