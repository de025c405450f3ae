import Foundation
import HTTP1
import HTTPTypes
import TestProcesses
import TestRepository
import Testing
import Yams

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

/// Judges a JSON value by a schema, as far as the description of the interface uses schemas. A keyword that this does not
/// know is a fault, so that nothing is believed to be checked that is not.
struct SchemaCheck {
  typealias Schema = [String: Any]

  /// The description, in which references are looked up.
  let document: Schema

  private static let annotations: Set<String> = [
    "description", "title", "example", "examples", "default", "deprecated", "contentMediaType",
  ]

  /// Follows `$ref`, if there is one.
  func resolved(_ schema: Schema) -> Schema {
    guard let reference = schema["$ref"] as? String else { return schema }
    let found = reference.split(separator: "/").dropFirst().reduce(document as Any?) { ($0 as? Schema)?[String($1)] }
    return (found as? Schema).map(resolved) ?? ["unknown reference \(reference)": true]
  }

  /// What is wrong with a value; `place` says where it stands.
  func faults(_ value: Any, _ schema: Schema, at place: String = "$") -> [String] {
    resolved(schema).sorted { $0.key < $1.key }.flatMap { keyword, rule -> [String] in
      if Self.annotations.contains(keyword) { return [] }
      return applied(keyword, rule, resolved(schema), to: value, at: place).map { "\(place): \($0)" }
    }
  }

  private func applied(_ keyword: String, _ rule: Any, _ schema: Schema, to value: Any, at place: String) -> [String] {
    switch (keyword, rule) {
    case ("type", _): types(rule).contains { Self.isOfType($0, value) } ? [] : ["is not \(rule)"]
    case ("const", _): Self.isEqual(value, rule) ? [] : ["is not \(rule)"]
    case ("enum", let list as [Any]): list.contains { Self.isEqual(value, $0) } ? [] : ["is none of \(list)"]
    case ("allOf", let list as [Schema]): list.flatMap { faults(value, $0, at: place) }
    case ("anyOf", let list as [Schema]): list.contains { faults(value, $0).isEmpty } ? [] : ["is none of the forms"]
    case ("oneOf", let list as [Schema]):
      list.filter { faults(value, $0).isEmpty }.count == 1 ? [] : ["is not exactly one of the forms"]
    case ("not", let other as Schema): faults(value, other).isEmpty ? ["is what it must not be"] : []
    default:
      switch value {
      case let object as Schema: ofObject(keyword, rule, schema, object, at: place)
      case let list as [Any]: ofList(keyword, rule, list, at: place)
      case let text as String: ofText(keyword, rule, text)
      default: ofNumber(keyword, rule, value)
      }
    }
  }

  private func ofObject(_ keyword: String, _ rule: Any, _ schema: Schema, _ object: Schema, at place: String)
    -> [String]
  {
    switch (keyword, rule) {
    case ("required", let names as [String]): names.filter { object[$0] == nil }.map { "lacks \($0)" }
    case ("properties", let properties as [String: Schema]):
      properties.flatMap { name, schema in object[name].map { faults($0, schema, at: "\(place).\(name)") } ?? [] }
    case ("additionalProperties", _):
      object.filter { (schema["properties"] as? Schema)?[$0.key] == nil }.flatMap { name, value in
        (rule as? Schema).map { faults(value, $0, at: "\(place).\(name)") }
          ?? (rule as? Bool == false ? ["has \(name)"] : [])
      }
    case ("maxProperties", let most as Int): object.count <= most ? [] : ["has too many members"]
    case ("propertyNames", let names as Schema): object.keys.flatMap { faults($0, names, at: "\(place).\($0)") }
    default: Self.isKnown(keyword) ? [] : ["unknown keyword \(keyword)"]
    }
  }

  private func ofList(_ keyword: String, _ rule: Any, _ list: [Any], at place: String) -> [String] {
    switch (keyword, rule) {
    case ("items", let item as Schema): zip(0..., list).flatMap { faults($1, item, at: "\(place)[\($0)]") }
    case ("minItems", let least as Int): list.count >= least ? [] : ["has too few items"]
    case ("maxItems", let most as Int): list.count <= most ? [] : ["has too many items"]
    default: Self.isKnown(keyword) ? [] : ["unknown keyword \(keyword)"]
    }
  }

  private func ofText(_ keyword: String, _ rule: Any, _ text: String) -> [String] {
    switch (keyword, rule) {
    case ("pattern", let pattern as String):
      (try? Regex(pattern)).map { text.contains($0) } == true ? [] : ["does not match \(pattern)"]
    case ("minLength", let least as Int): text.unicodeScalars.count >= least ? [] : ["is too short"]
    case ("maxLength", let most as Int): text.unicodeScalars.count <= most ? [] : ["is too long"]
    case ("format", let format as String): Self.isOfFormat(format, text) ? [] : ["is no \(format)"]
    default: Self.isKnown(keyword) ? [] : ["unknown keyword \(keyword)"]
    }
  }

  private func ofNumber(_ keyword: String, _ rule: Any, _ value: Any) -> [String] {
    guard let number = (value as? NSNumber)?.doubleValue, let bound = (rule as? NSNumber)?.doubleValue else {
      return Self.isKnown(keyword) ? [] : ["unknown keyword \(keyword)"]
    }
    switch keyword {
    case "minimum": return number >= bound ? [] : ["is below \(bound)"]
    case "maximum": return number <= bound ? [] : ["is above \(bound)"]
    default: return Self.isKnown(keyword) ? [] : ["unknown keyword \(keyword)"]
    }
  }

  /// A keyword that says nothing of values of this type, and is checked for those of another.
  private static func isKnown(_ keyword: String) -> Bool {
    [
      "required", "properties", "additionalProperties", "maxProperties", "propertyNames", "items", "minItems",
      "maxItems", "uniqueItems", "pattern", "minLength", "maxLength", "format", "minimum", "maximum",
    ].contains(keyword)
  }

  private func types(_ rule: Any) -> [String] { rule as? [String] ?? [rule as? String ?? ""] }

  private static func isOfType(_ type: String, _ value: Any) -> Bool {
    switch type {
    case "object": value is Schema
    case "array": value is [Any]
    case "string": value is String
    case "null": value is NSNull
    case "boolean": (value as? NSNumber).map(isBoolean) ?? (value is Bool)
    case "number": (value as? NSNumber).map { !isBoolean($0) } ?? (value is Int || value is Double)
    case "integer":
      (value as? NSNumber).map { !isBoolean($0) && $0.doubleValue == $0.doubleValue.rounded() } ?? (value is Int)
    default: false
    }
  }

  private static func isOfFormat(_ format: String, _ text: String) -> Bool {
    switch format {
    case "uuid": UUID(uuidString: text) != nil
    case "uri-reference": URL(string: text) != nil
    case "date-time": text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/) != nil
    default: false
    }
  }

  private static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

  private static func isEqual(_ one: Any, _ other: Any) -> Bool { "\(one)" == "\(other)" }
}
