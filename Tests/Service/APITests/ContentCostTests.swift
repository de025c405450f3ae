import Foundation
import Glibc
import Reactors
import Testing

@testable import API

@Suite("What content costs")
struct ContentCostTests {
  /// As many bytes as a body may have.
  private static let bytes = 65_000

  /// Bodies of others, each as long as a body may be: deep, wide, and long.
  private static let shapes: [(name: String, json: String)] = [
    ("arrays inside each other", String(repeating: "[", count: bytes / 2) + String(repeating: "]", count: bytes / 2)),
    ("480 arrays inside each other", String(repeating: "[", count: 480) + String(repeating: "]", count: 480)),
    ("objects inside each other", String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400)),
    ("numbers", "[" + Array(repeating: "1", count: bytes / 2).joined(separator: ",") + "]"),
    ("empty arrays", "[" + Array(repeating: "[]", count: bytes / 3).joined(separator: ",") + "]"),
    ("members", "{" + (0..<bytes / 9).map { #""\#($0)":1"# }.joined(separator: ",") + "}"),
    ("escapes", "\"" + String(repeating: #"\u0041"#, count: bytes / 6) + "\""),
    ("digits", String(repeating: "9", count: bytes)),
    ("marks in two orders", "\"" + String(repeating: "\u{301}\u{316}", count: bytes / 4) + "\""),
    (
      "names that differ at their end",
      "{" + (0..<1980).map { "\"" + String(repeating: "e\u{301}", count: 7) + "\($0)\":1" }.joined(separator: ",") + "}"
    ),
  ]

  /// 10 ms in a release; a debug build takes some twenty times as long.
  private static let limit: Duration = {
    #if DEBUG
    .milliseconds(250)
    #else
    .milliseconds(10)
    #endif
  }()

  private static var threadTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Every member of every document that an operation takes: the method, the path, and the body's beginning.
  private static func places() throws -> [(method: String, path: String, proof: String, member: String)] {
    let operations = try InterfaceDescription.shared.get().operations.filter(\.hasContent)
    return operations.flatMap { operation -> [(String, String, String, String)] in
      let path = operation.path.replacing(/\{(\w+)\}/) { match in
        switch match.1 {
        case "token": "aa01"
        case "type": "WorkoutActivityAttributes"
        case "kind": "conversation"
        default: UUID().uuidString.lowercased()
        }
      }
      let members = operation.contents.filter { $0.place.contains(" request ") }.flatMap { _, media in
        let schema = operation.check.resolved(media["schema"] as? [String: Any] ?? [:])
        let forms = (schema["oneOf"] as? [[String: Any]])?.map(operation.check.resolved) ?? [schema]
        return forms.flatMap { ($0["properties"] as? [String: Any] ?? [:]).keys }
      }
      let proof =
        operation.proofs.contains("service")
        ? ServiceRig.serviceKey : operation.proofs.contains("secret") ? ServiceRig.secret : UUID().uuidString
      return (Set(members).sorted() + ["unknown"]).map { (operation.method, path, proof, $0) }
    }
  }

  @Test("content of any shape costs little, at each member of each operation", arguments: shapes.map(\.name))
  func cost(_ name: String) async throws {
    let shape = try #require(Self.shapes.first { $0.name == name }?.json)
    let places = try Self.places()
    #expect(places.count > 60)
    try await ServiceRig.run(hasDatabase: false) { rig in
      for (method, path, proof, member) in places {
        let before = await rig.parts.perform { _, _ in Self.threadTime }
        let body = #"{"\#(member)":\#(shape)}"#
        let fields = ["Content-Type": "application/json", "Authorization": "Bearer \(proof)"]
        let answer = try await PlainClient.ask(method, path, fields: fields, body: body, port: rig.port)
        let spent = await rig.parts.perform { _, _ in Self.threadTime } - before
        #expect(answer.status != 500 && spent < Self.limit, "\(method) \(path) \(member): \(answer.status) \(spent)")
      }
    }
  }
}
