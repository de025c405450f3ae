import Foundation
import Yams

@testable import API

/// The description that the service serves, read by a machine.
struct InterfaceDescription {
  typealias Object = [String: Any]

  /// One operation of it.
  struct Operation {
    let method: String
    let path: String
    let members: Object
    let check: SchemaCheck

    /// Its answers by status; references followed.
    var responses: [String: Object] {
      (members["responses"] as? [String: Object] ?? [:]).mapValues(check.resolved)
    }

    /// The names of the proofs, any of which is enough.
    var proofs: [String] { (members["security"] as? [Object] ?? []).flatMap(\.keys) }

    /// Whether it takes content.
    var hasContent: Bool { members["requestBody"] != nil }

    /// How an answer differs from what is described.
    func faults(of answer: PlainResponse) -> [String] {
      guard let response = responses["\(answer.status)"] else { return ["\(answer.status) is not described"] }
      let type = answer.fields["content-type"]?.prefix { $0 != ";" }
      guard let contents = response["content"] as? [String: Object] else {
        return answer.body.isEmpty ? [] : ["content is not described"]
      }
      guard let type, let media = contents[String(type)] else { return ["\(type ?? "no type") is not described"] }
      guard type.hasSuffix("json"), let schema = media["schema"] as? Object else { return [] }
      guard let value = try? JSONSerialization.jsonObject(with: Data(answer.body.utf8)) else { return ["no JSON"] }
      return check.faults(value, schema)
    }

    /// Every content with a schema, in requests and answers, and where it stands.
    var contents: [(place: String, media: Object)] {
      var parts = responses.map { ("\(method) \(path) \($0)", $1) }
      if let body = members["requestBody"] as? Object {
        parts.append(("\(method) \(path) request", check.resolved(body)))
      }
      return parts.flatMap { place, part in
        (part["content"] as? [String: Object] ?? [:]).map { ("\(place) \($0)", $1) }
      }
    }
  }

  // Safe: made once, and only read; what it holds are the values of a parsed document.
  nonisolated(unsafe) static let shared = Result { try InterfaceDescription() }

  let operations: [Operation]

  private init() throws {
    let text = EmbeddedFiles.openapi_yaml
    guard let document = try Yams.load(yaml: text) as? Object, let paths = document["paths"] as? [String: Object] else {
      throw TestFailure("no description")
    }
    let check = SchemaCheck(document: document)
    operations = paths.flatMap { path, methods in
      methods.compactMap { method, members in
        guard var members = members as? Object else { return nil }
        // Those of the path hold for each of its operations.
        members["parameters"] =
          (methods["parameters"] as? [Object] ?? []) + (members["parameters"] as? [Object] ?? [])
        return Operation(method: method.uppercased(), path: path, members: members, check: check)
      }
    }
  }

  /// The operation that answers a request; nil when none is described, as for a wrong path or method.
  func operation(_ method: String, _ path: String) -> Operation? {
    let segments = path.prefix { $0 != "?" }.split(separator: "/")
    return operations.filter { operation in
      let pattern = operation.path.split(separator: "/")
      return operation.method == method && pattern.count == segments.count
        && zip(pattern, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }.max { $0.path.filter { $0 == "{" }.count > $1.path.filter { $0 == "{" }.count }
  }
}

extension Result where Success == InterfaceDescription {
  func operation(_ method: String, _ path: String) throws -> InterfaceDescription.Operation? {
    try get().operation(method, path)
  }
}
