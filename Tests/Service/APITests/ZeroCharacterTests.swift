import Foundation
import TestIDs
import Testing

@testable import API

@Suite("U+0000, which PostgreSQL cannot store", .uuidsOnly)
struct ZeroCharacterTests {
  private typealias Object = [String: Any]

  /// A place in a document: members by name, elements by number.
  private typealias Path = [any Hashable]

  @Test("is refused in every string of every document that is described, and never a failure")
  func everyString() async throws {
    try await ServiceRig.run { (rig) async throws in
      let description = try InterfaceDescription.shared.get()
      let token = try await rig.workerToken()
      var tried = 0
      for operation in description.operations where operation.hasContent {
        let path = Self.path(of: operation)
        for (document, schema) in Self.documents(of: operation) {
          for place in Self.strings(in: document, schema, operation.check) {
            let body = try JSONSerialization.data(withJSONObject: Self.document(document, with: "a\0b", at: place[...]))
            let answer = try await rig.send(
              operation.method, path, proofs: operation.proofs, token, String(decoding: body, as: UTF8.self))
            #expect([400, 422].contains(answer.status), "\(operation.method) \(operation.path) \(place): \(answer)")
            tried += 1
          }
        }
      }
      #expect(tried > 80, "\(tried)")
    }
  }

  @Test(
    "is found as an escape alone",
    arguments: [
      (#"{"message": "a\u0000"}"#, true), (#"{"message": "\\\u0000"}"#, true), (#"{"\u0000": "a"}"#, true),
      (#"{"message": "\\u0000"}"#, false), (#"{"message": "\\\\u0000"}"#, false), (#"{"message": "u0000"}"#, false),
      (#"{"message": "\"\u00000"}"#, true), (#"{"message": "\u0001"}"#, false),
    ])
  func escapes(_ text: String, _ isRefused: Bool) {
    let document = try? RequestContent.decode([String: String].self, from: Array(text.utf8))
    #expect((document == nil) == isRefused)
  }
}

extension ZeroCharacterTests {
  /// With values for the parameters in its path that lead to the document.
  private static func path(of operation: InterfaceDescription.Operation) -> String {
    let values = [
      "token": "aa", "type": "WorkoutActivityAttributes", "campaign": "ritual", "slot": "0800", "kind": "message",
    ]
    return operation.path.replacing(/\{(\w+)\}/) { values[String($0.1)] ?? UUID().uuidString.lowercased() }
  }

  /// The examples of what an operation takes.
  private static func documents(of operation: InterfaceDescription.Operation) -> [(Object, Object)] {
    // What the host's database says of a row is not stored.
    guard !operation.proofs.contains("secret") else { return [] }
    return operation.contents.filter { $0.place.contains(" request ") }.flatMap { _, media in
      let named = (media["examples"] as? [String: Object] ?? [:]).compactMap { $1["value"] as? Object }
      return (named + [media["example"] as? Object].compactMap(\.self)).map { ($0, media["schema"] as? Object ?? [:]) }
    }
  }

  /// Where a document has strings, and where its schema says that it may.
  private static func strings(in value: Any, _ schema: Object, _ check: SchemaCheck) -> [Path] {
    let schema = check.resolved(schema)
    switch value {
    case is String: return [[]]
    case let object as Object:
      let properties = schema["properties"] as? Object ?? [:]
      let present = object.flatMap { name, value in
        strings(in: value, properties[name] as? Object ?? [:], check).map { [name as any Hashable] + $0 }
      }
      let absent = properties.filter { name, member in
        let type = check.resolved(member as? Object ?? [:])["type"]
        return object[name] == nil && (type as? String == "string" || (type as? [String])?.contains("string") == true)
      }
      return present + absent.keys.map { [$0] }
    case let list as [Any]:
      let element = schema["items"] as? Object ?? [:]
      return list.indices.flatMap { index in
        strings(in: list[index], element, check).map { [index as any Hashable] + $0 }
      }
    default: return []
    }
  }

  private static func document(_ value: Any, with text: String, at place: Path.SubSequence) -> Any {
    switch (value, place.first) {
    case (_, nil): return text
    case (var object as Object, let name as String):
      object[name] = document(object[name] ?? "", with: text, at: place.dropFirst())
      return object
    case (var list as [Any], let index as Int):
      list[index] = document(list[index], with: text, at: place.dropFirst())
      return list
    default: preconditionFailure("the place is in the document")
    }
  }
}

extension ServiceRig {
  /// Sends a document with the first proof that an operation takes.
  fileprivate func send(
    _ method: String, _ path: String, proofs: [String], _ token: String, _ body: String
  ) async throws -> PlainResponse {
    if proofs == ["worker"] { return try await worker(method, path, token, body) }
    // A user's requests are limited, so each comes from another one.
    return try await ask(method, path, as: proofs.contains("client") ? makeUser() : nil, body: body)
  }

  fileprivate func workerToken() async throws -> String {
    let answer = try await ask(
      "PUT", "/v1/web-push/subscriptions", as: makeUser(), body: TargetRoutesTests.body(TargetRoutesTests.endpoint("a"))
    )
    return try answer.decode(TargetRoutesTests.Registered.self).fetch_token
  }
}
