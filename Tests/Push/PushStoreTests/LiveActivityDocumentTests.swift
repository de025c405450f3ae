import TestIDs
import Testing

@testable import PushStore

@Suite("What states of Live Activities may say")
struct LiveActivityDocumentTests {
  private static let declared =
    #"{"name": "string", "count": "int", "share": "number", "isOn": "bool", "at": "date", "note": "string?"}"#
  private static let whole: [String: String] = [
    "name": #""x""#, "count": "3", "share": "0.5", "isOn": "true", "at": #""2001-01-01T00:00:10Z""#,
  ]

  /// A good document with one member changed; nil leaves it out.
  private func checked(_ name: String, _ value: String?) async throws -> String {
    var members = Self.whole
    members[name] = value
    let text = "{" + members.map { #""\#($0.key)": \#($0.value)"# }.joined(separator: ", ") + "}"
    let database = try await TestDatabase.migrated()
    return try await database.sql(
      "select tacet.live_activity_document('state', '\(Self.declared)', '\(text)') -> '\(name)'")
  }

  @Test(
    "values as the app's decoder reads them",
    arguments: [
      ("name", #""""#, #""""#), ("count", "9223372036854775807", "9223372036854775807"), ("count", "3.0", "3"),
      ("count", "-9223372036854775808", "-9223372036854775808"), ("share", "1e3", "1000"), ("share", "1e-400", "0"),
      ("share", "12", "12"), ("isOn", "false", "false"), ("at", #""2001-01-01T00:00:10Z""#, "10"),
      ("at", #""2001-01-01T01:00:10.25+01:00""#, "10.25"), ("at", #""1969-12-31T23:59:59Z""#, "-978307201"),
      ("note", nil, "null"), ("note", "null", "null"), ("note", #""y""#, #""y""#),
    ] as [(String, String?, String)])
  func good(_ name: String, _ value: String?, _ expected: String) async throws {
    #expect(try await checked(name, value) == expected)
  }

  @Test(
    "what the device would drop in silence is refused",
    arguments: [
      ("name", nil), ("name", "null"), ("name", "1"), ("name", #""\#(String(repeating: "x", count: 1025))""#),
      ("count", "0.5"), ("count", #""3""#), ("count", "9223372036854775808"), ("share", "1e301"), ("share", "true"),
      ("isOn", "1"), ("isOn", #""true""#), ("at", "10"), ("at", #""2001-01-01""#), ("at", #""2001-02-30T00:00:00Z""#),
      ("at", #""2001-01-01T25:00:00Z""#), ("at", #""infinity""#), ("at", #""2001-01-01T00:00:10""#), ("other", "1"),
      ("note", "2"),
    ] as [(String, String?)])
  func bad(_ name: String, _ value: String?) async throws {
    await #expect(throws: (any Error).self) { try await checked(name, value) }
  }

  @Test(
    "an alert has a title, and nothing unknown",
    arguments: [
      (#"{"title": "x"}"#, true), (#"{"title": "x", "body": "y", "sound": "default"}"#, true),
      (#"{"body": "y"}"#, false),
      (#"{"title": ""}"#, false), (#"{"title": 1}"#, false), (#"{"title": "x", "badge": "1"}"#, false), (#"[]"#, false),
    ])
  func alerts(_ alert: String, _ isGood: Bool) async throws {
    let database = try await TestDatabase.migrated()
    let call = "select tacet.live_activity_alert('\(alert)')"
    if isGood {
      #expect(try await database.sql(call) != "")
    } else {
      await #expect(throws: (any Error).self) { try await database.sql(call) }
    }
  }

  @Test("attributes, state and alert fit one push")
  func size() async throws {
    let database = try await TestDatabase.migrated()
    let call = "select tacet.check_live_activity_size('{}', jsonb_build_object('a', repeat('x', %)), null)"
    try await database.sql(call.replacing("%", with: "3685"))
    await #expect(throws: (any Error).self) { try await database.sql(call.replacing("%", with: "3686")) }
  }
}
