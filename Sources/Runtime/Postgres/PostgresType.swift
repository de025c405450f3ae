/// A PostgreSQL data type by its object identifier.
///
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
  package static let interval = PostgresType(oid: 1186)
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
}

extension PostgresType {
  /// The array of `element`. Traps for a type that a database defines.
  package static func array(of element: PostgresType) -> PostgresType {
    guard let array = element.array else { preconditionFailure("no array type is known for \(element)") }
    return array
  }
}
