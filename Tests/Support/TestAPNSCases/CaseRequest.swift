internal import Foundation
package import Simulators

/// A request of the case file: the defaults with a case's own values on top.
package struct CaseRequest {
  /// Where it goes.
  package let environment: SimulatedEnvironment
  /// The request itself.
  package let inspected: InspectedRequest
  /// The client certificate that the connection has, by its name in the fixtures.
  package let certificate: String?

  /// - Parameters:
  ///   - section: the name of the defaults.
  ///   - providerToken: makes the provider token of a preset's name.
  package init(
    _ overrides: CaseFile.Mapping, over section: String = "defaults", fixtures: CaseFixtures,
    providerToken: (String) throws -> String
  ) throws {
    let defaults = try CaseFile.mapping(section, in: CaseFile.load())
    var merged = CaseFile.merge(defaults, overrides)
    // A body replaces the default one as a whole; its kinds do not mix.
    if let body = overrides["body"] { merged["body"] = body }
    environment = SimulatedEnvironment(rawValue: merged["env"] as? String ?? "") ?? .production
    let token = try fixtures.deviceToken(merged["token"] as? String ?? "ok")
    var fields = try Self.fields(merged)
    if let authorization = try Self.authorization(merged, providerToken) {
      fields.append((name: "authorization", value: authorization))
    }
    inspected = InspectedRequest(
      method: merged["method"] as? String ?? "",
      path: (merged["path"] as? String ?? "").replacingOccurrences(of: "{token}", with: token),
      fields: fields,
      body: try (merged["body"] as? CaseFile.Mapping).map(Self.body) ?? [])
    certificate = merged["certificate"] as? String
  }

  private static func fields(_ merged: CaseFile.Mapping) throws -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    for (name, value) in try CaseFile.mapping("headers", in: merged) where !(value is NSNull) {
      for single in value as? [Any] ?? [value] { fields.append((name: name, value: try CaseFile.text(single))) }
    }
    return fields
  }

  private static func authorization(
    _ merged: CaseFile.Mapping, _ providerToken: (String) throws -> String
  ) throws -> String? {
    if let literal = merged["authorization"] as? String { return literal }
    guard let preset = merged["jwt"] as? String else { return nil }
    return try (merged["authorization_prefix"] as? String ?? "bearer ") + providerToken(preset)
  }

  private static func body(_ recipe: CaseFile.Mapping) throws -> [UInt8] {
    if let raw = recipe["raw"] as? String { return Array(raw.utf8) }
    if let json = recipe["json"] { return Array(try JSONSerialization.data(withJSONObject: json)) }
    let size = recipe["pad_to"] as? Int ?? 0
    return padded(to: size, with: recipe["pad_char"] as? String ?? "x")
  }

  /// Valid JSON of exactly `size` bytes; what a wide character leaves over is filled with narrow ones.
  private static func padded(to size: Int, with unit: String) -> [UInt8] {
    let (head, tail) = (#"{"aps":{"alert":""#, #""}}"#)
    let room = size - head.utf8.count - tail.utf8.count
    let units = String(repeating: unit, count: room / unit.utf8.count)
    return Array((head + units + String(repeating: "x", count: room % unit.utf8.count) + tail).utf8)
  }
}
