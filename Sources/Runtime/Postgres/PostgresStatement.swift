/// A statement. It is prepared once per connection and then run by its name, or in transaction mode sent whole each time.
///
/// Make it once, as a static value. Connections remember it by its name, so names must be unique in the process.
///
/// ```swift
/// static let markRead = PostgresStatement(
///   "mark_read", "update tacet.reads set read_at = now() where user_id = $1", [.uuid])
/// ```
package struct PostgresStatement: Sendable {
  /// The name on the server, in errors and in logs; at most 63 bytes.
  package let name: String
  /// One SQL statement with parameters `$1`, `$2`, and so on.
  package let sql: String
  package let parameterTypes: [PostgresType]
  /// Whether ``parameterTypes`` has types that differ between databases.
  private let hasChosenTypes: Bool

  /// Makes a statement. Nothing is sent before its first use.
  package init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
    precondition(!name.isEmpty && name.utf8.count <= 63, "a statement name has 1 to 63 bytes")
    self.init(name, sql, parameterTypes, hasChosenTypes: parameterTypes.contains(where: \.isChosen))
  }

  private init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType], hasChosenTypes: Bool) {
    self.name = name
    self.sql = sql
    self.parameterTypes = parameterTypes
    self.hasChosenTypes = hasChosenTypes
  }

  /// The statement with the types of one database.
  package func resolved(by chosen: [PostgresType]) -> PostgresStatement {
    guard hasChosenTypes else { return self }
    return PostgresStatement(name, sql, parameterTypes.map { $0.resolved(by: chosen) }, hasChosenTypes: false)
  }

  static let heartbeat = PostgresStatement("heartbeat", "select 1")
}

/// A PostgreSQL data type by its object identifier.
/// Built-in types have fixed numbers (`pg_type.dat`). Types that a database defines, such as enumerations, have numbers from 16384
/// that differ between databases.
package struct PostgresType: Hashable, Sendable, CustomStringConvertible {
  /// The object identifier; 0 lets the server infer the type.
  package let oid: UInt32

  package init(oid: UInt32) { self.oid = oid }

  /// The server infers the type. A ``Swift/String`` parameter is sent as text for any type.
  package static let inferred = PostgresType(oid: 0)
  package static let bool = PostgresType(oid: 16)
  /// `bytea`
  package static let bytes = PostgresType(oid: 17)
  package static let int2 = PostgresType(oid: 21)
  package static let int4 = PostgresType(oid: 23)
  package static let int8 = PostgresType(oid: 20)
  package static let text = PostgresType(oid: 25)
  package static let json = PostgresType(oid: 114)
  package static let jsonb = PostgresType(oid: 3802)
  package static let float8 = PostgresType(oid: 701)
  package static let timestamptz = PostgresType(oid: 1184)
  package static let uuid = PostgresType(oid: 2950)
  static let float4 = PostgresType(oid: 700)
  static let name = PostgresType(oid: 19)
  static let character = PostgresType(oid: 1042)
  static let varchar = PostgresType(oid: 1043)
  static let unknown = PostgresType(oid: 705)
  static let xml = PostgresType(oid: 142)
  static let void = PostgresType(oid: 2278)
  static let numeric = PostgresType(oid: 1700)
  static let date = PostgresType(oid: 1082)
  static let timestamp = PostgresType(oid: 1114)
  static let interval = PostgresType(oid: 1186)

  /// A type that differs between databases: the one at this place, below 64, of ``PostgresConfiguration/chosenTypes``.
  package static func chosen(_ place: Int) -> PostgresType {
    precondition((0..<64).contains(place), "a database chooses at most 64 types")
    return PostgresType(oid: firstChosen + UInt32(place))
  }

  /// The array of this type. Nil for types that a database defines.
  package var array: PostgresType? {
    isChosen ? PostgresType(oid: oid + Self.chosenArrays) : Self.arrays.first { $0.element == self }?.array
  }

  /// The numbers of chosen types and of their arrays, the last ones, which no server gives to a type.
  private static let firstChosen: UInt32 = 0xFFFF_FF00
  private static let chosenArrays: UInt32 = 64

  /// Whether another type takes its place.
  var isChosen: Bool { oid >= Self.firstChosen }

  /// The type that a database has chosen, or its array; the same type if it is the same in all. As long as the choice is not
  /// known, no value can be sent.
  func resolved(by chosen: [PostgresType]) -> PostgresType {
    guard isChosen else { return self }
    let (place, count) = (Int(oid - Self.firstChosen), Int(Self.chosenArrays))
    guard chosen.indices.contains(place % count) else { return .inferred }
    return place < count ? chosen[place] : chosen[place - count].array ?? .inferred
  }

  /// The element type of an array. Nil for other types, and for arrays that a database defines.
  var element: PostgresType? { Self.arrays.first { $0.array == self }?.element }

  /// The SQL name, or the number of a type without a name here.
  package var description: String {
    if let name = Self.names[self] { return name }
    if let element { return "\(element)[]" }
    return "type \(oid)"
  }

  /// Whether the binary form of the type is its characters, as for enumerations and domains over text.
  var isTextual: Bool {
    switch self {
    case .text, .varchar, .character, .name, .json, .unknown, .xml, .void: true
    default: oid >= 16384
    }
  }

  private static let names: [PostgresType: String] = [
    .inferred: "inferred", .bool: "boolean", .bytes: "bytea", .int2: "smallint", .int4: "integer", .int8: "bigint",
    .text: "text", .json: "json", .jsonb: "jsonb", .float4: "real", .float8: "double precision", .name: "name",
    .character: "character", .varchar: "character varying", .unknown: "unknown", .xml: "xml", .void: "void",
    .numeric: "numeric", .date: "date", .timestamp: "timestamp without time zone",
    .timestamptz: "timestamp with time zone", .interval: "interval", .uuid: "uuid",
  ]

  /// Searched for every array that is sent, which is faster than a dictionary for so few. The types in the statements of every
  /// push come first.
  private static let arrays: [(element: PostgresType, array: PostgresType)] = [
    (.text, .init(oid: 1009)), (.uuid, .init(oid: 2951)), (.int8, .init(oid: 1016)), (.int4, .init(oid: 1007)),
    (.bool, .init(oid: 1000)), (.bytes, .init(oid: 1001)), (.int2, .init(oid: 1005)), (.json, .init(oid: 199)),
    (.jsonb, .init(oid: 3807)), (.float4, .init(oid: 1021)), (.float8, .init(oid: 1022)), (.name, .init(oid: 1003)),
    (.character, .init(oid: 1014)), (.varchar, .init(oid: 1015)), (.numeric, .init(oid: 1231)),
    (.date, .init(oid: 1182)), (.timestamp, .init(oid: 1115)), (.timestamptz, .init(oid: 1185)),
    (.interval, .init(oid: 1187)),
  ]

  /// The array of `element`. Traps for a type that a database defines.
  package static func array(of element: PostgresType) -> PostgresType {
    guard let array = element.array else { preconditionFailure("no array type is known for \(element)") }
    return array
  }
}

/// Encodes the parameters of one statement for libpq.
/// A connection reuses one and its memory, because libpq copies the values when it sends the statement.
package struct PostgresParameterEncoder {
  private var types: [PostgresType] = []
  private var bytes: [UInt8] = []
  private var offsets: [Int] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []
  private var isRefused = false

  init() {}

  /// Encodes a statement's parameters.
  /// - Throws: ``PostgresError/Code/invalidParameter`` with the parameter's number and type, but not its value.
  mutating func encode(
    _ parameters: [any PostgresEncodable], for statement: PostgresStatement
  ) throws(PostgresError) {
    guard parameters.count == statement.parameterTypes.count else {
      throw PostgresError(
        .invalidParameter, "\(parameters.count) parameters for \(statement.parameterTypes.count) declared"
      ).of(statement: statement.name)
    }
    reset(types: statement.parameterTypes)
    for (index, parameter) in parameters.enumerated() {
      parameter.encode(into: &self)
      precondition(formats.count == index + 1, "\(type(of: parameter)) appends exactly one parameter")
      if isRefused {
        throw PostgresError(.invalidParameter, "parameter $\(index + 1) does not fit \(types[index])")
          .of(statement: statement.name)
      }
    }
  }

  /// Passes the values, lengths and formats for `PQsendQueryPrepared`, valid during the call.
  func withArguments<Result>(
    _ body: (
      _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
      _ formats: UnsafePointer<Int32>?, _ count: Int32
    ) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { storage in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: offsets.count) { values in
        // libpq takes the bytes as `char *`.
        let base = storage.assumingMemoryBound(to: CChar.self).baseAddress
        for (index, offset) in offsets.enumerated() {
          values.initializeElement(at: index, to: offset < 0 ? nil : base.map { $0 + offset })
        }
        return body(values.baseAddress, lengths, formats, Int32(offsets.count))
      }
    }
  }

  private mutating func reset(types: [PostgresType]) {
    self.types = types
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
    offsets.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    formats.removeAll(keepingCapacity: true)
    isRefused = false
  }

  private mutating func append(from offset: Int, format: Int32) {
    offsets.append(offset)
    lengths.append(offset < 0 ? 0 : Int32(bytes.count - offset))
    formats.append(format)
    // libpq reads text up to a NUL, and the pointer to an empty last value must be inside the storage.
    bytes.append(0)
  }
}

// The methods for the types of parameters.
extension PostgresParameterEncoder {
  package mutating func appendNull() { append(from: -1, format: 0) }

  /// The parameter is sent as text, which the server reads as the declared type. A NUL byte refuses the statement.
  package mutating func appendText(_ text: some Sequence<UInt8>) {
    let offset = bytes.count
    bytes.append(contentsOf: text)
    if bytes.hasZero(from: offset) { isRefused = true }
    append(from: offset, format: 0)
  }

  /// The parameter is an array, sent in binary form.
  /// - Parameter append: appends the element at an index with its length in front, or −1 for a null, and returns false to refuse
  ///   the statement.
  package mutating func appendArray(
    count: Int, _ append: (_ index: Int, _ type: PostgresType, _ bytes: inout [UInt8]) -> Bool
  ) {
    appendBinary { type, bytes in
      guard let element = type.element else { return false }
      ArrayHeader.append(element, count: count, to: &bytes)
      for index in 0..<count {
        guard append(index, element, &bytes) else { return false }
      }
      return true
    }
  }

  /// The parameter is sent in binary form.
  /// - Parameter write: appends the form of the declared type, and returns false to refuse the statement.
  package mutating func appendBinary(_ write: (_ type: PostgresType, _ bytes: inout [UInt8]) -> Bool) {
    let offset = bytes.count
    if !write(types[formats.count], &bytes) { isRefused = true }
    append(from: offset, format: 1)
  }
}
