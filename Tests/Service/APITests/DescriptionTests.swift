import Foundation
import HTTP1
import HTTPTypes
import TestProcesses
import TestRepository
import Testing

@testable import API

@Suite("The description of the interface")
struct DescriptionTests {
  private typealias Operation = InterfaceDescription.Operation

  /// What the server itself may answer to any request, before a handler sees it.
  private static let refusals: Set<String> = ["400", "405", "408", "413", "414", "429", "431", "503"]

  private let description: InterfaceDescription

  init() throws { description = try InterfaceDescription.shared.get() }

  private func offenders(_ isWrong: (Operation) -> Bool) -> [String] {
    description.operations.filter(isWrong).map { "\($0.method) \($0.path)" }
  }

  @Test("every route is described, and everything that is described is served")
  func bothDirections() async throws {
    let described = Set(description.operations.map { "\($0.method) \($0.path)" })
    try await ServiceRig.run(hasDatabase: false) { rig in
      let served = Set(rig.operations.map { "\($0.method.rawValue) \($0.pattern)" })
      #expect(served.subtracting(described) == [])
      #expect(described.subtracting(served) == [])
      #expect(served.count == rig.operations.count)
    }
  }

  @Test("a second parser reads it too, and more strictly: PyYAML")
  func secondParser() throws {
    let script = "import sys, yaml; yaml.safe_load(open(sys.argv[1], encoding='utf-8'))"
    // The system's, whose packages deploy/test installs.
    let parser = try ChildProcess(["/usr/bin/python3", "-c", script, Repository.file("openapi.yaml").path])
    #expect(parser.wait() == 0)
  }

  @Test("every operation lists the refusals of the server")
  func refusals() {
    #expect(offenders { !Self.refusals.isSubset(of: $0.responses.keys) } == [])
  }

  @Test("every operation that asks for a proof says what is answered without")
  func proofs() {
    #expect(offenders { !$0.proofs.isEmpty && $0.responses["401"] == nil } == [])
    #expect(offenders { $0.members["security"] == nil } == [])
    // Operations for apps and other servers are off where their proof is not set up.
    #expect(offenders { !Set($0.proofs).isDisjoint(with: ["client", "service"]) && $0.responses["404"] == nil } == [])
    #expect(
      Set(description.operations.flatMap(\.proofs)).isSubset(of: ["secret", "signature", "client", "service", "worker"])
    )
  }

  @Test("every operation that takes content says what is answered to content of another type")
  func media() {
    #expect(offenders { $0.hasContent && $0.responses["415"] == nil } == [])
  }

  @Test("every document that is taken says that it has no other members, because unknown ones are refused")
  func members() {
    let open = description.operations.flatMap { operation -> [String] in
      operation.contents.filter { $0.place.contains(" request ") }.flatMap { place, media -> [String] in
        let schema = operation.check.resolved(media["schema"] as? [String: Any] ?? [:])
        let forms = (schema["oneOf"] as? [[String: Any]])?.map(operation.check.resolved) ?? [schema]
        // What the host's database sends about a row has members that are the host's.
        return forms.filter { ($0["properties"] as? [String: Any])?["record"] == nil }
          .filter { $0["additionalProperties"] as? Bool != false }.map { _ in place }
      }
    }
    #expect(open == [])
  }

  @Test("every operation has a name of its own, a summary and a tag")
  func names() {
    let names = description.operations.compactMap { $0.members["operationId"] as? String }
    #expect(Set(names).count == description.operations.count)
    #expect(offenders { $0.members["summary"] == nil || ($0.members["tags"] as? [String])?.count != 1 } == [])
  }

  @Test("every parameter of a path is described")
  func parameters() {
    #expect(
      offenders { operation in
        let described = (operation.members["parameters"] as? [[String: Any]] ?? []).map(operation.check.resolved)
          .filter { $0["in"] as? String == "path" && $0["required"] as? Bool == true }
          .compactMap { $0["name"] as? String }
        let used = operation.path.matches(of: /\{(\w+)\}/).map { String($0.1) }
        return described.sorted() != used.sorted()
      } == [])
  }

  @Test("every example is what its schema says, and every JSON content has one")
  func examples() {
    for operation in description.operations {
      for (place, media) in operation.contents where place.hasSuffix("json") {
        let named = (media["examples"] as? [String: [String: Any]] ?? [:]).compactMap { $1["value"] }
        let examples = named + (media["example"].map { [$0] } ?? [])
        #expect(!examples.isEmpty, "no example: \(place)")
        for example in examples {
          let faults = operation.check.faults(example, media["schema"] as? [String: Any] ?? [:])
          #expect(faults == [], "\(place)")
        }
      }
    }
  }

  @Test(
    "the check finds what is wrong",
    arguments: [
      (#"{"type":"about:blank","title":"T","status":400}"#, true), (#"{"type":"about:blank","title":"T"}"#, false),
      (#"{"type":"about:blank","title":7,"status":400}"#, false), (#"["type"]"#, false), ("null", false),
      (#"{"type":"about:blank","title":"T","status":"400"}"#, false),
      (#"{"type":"about:blank","title":"T","status":399}"#, false),
      (#"{"type":"about:blank","title":"T","status":400.5}"#, false),
    ])
  func check(text: String, isRight: Bool) throws {
    let operation = try #require(description.operation("GET", "/readyz"))
    let value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    let faults = operation.check.faults(value, ["$ref": "#/components/schemas/Problem"])
    #expect(faults.isEmpty == isRight, "\(faults)")
  }
}
