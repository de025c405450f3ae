import Foundation

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
