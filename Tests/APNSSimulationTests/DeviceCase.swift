import Foundation
import Testing

/// A single-request case of the case file; a `foreach` makes several requests of it.
struct DeviceCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let requests: [Recipe]
  let expectation: Recipe
  let lint: String?

  /// Whether it is about a client certificate, which the listeners do not ask for.
  var needsCertificate: Bool { requests.contains { $0.mapping["certificate"] != nil } }

  static func all() throws -> [DeviceCase] {
    try CaseFile.list("device_cases", in: CaseFile.load()).map { try DeviceCase($0) }
  }

  private init(_ mapping: CaseFile.Mapping) throws {
    testDescription = "\(mapping["id"] ?? "?") \(mapping["title"] ?? "")"
    let variants = mapping["foreach"] as? [CaseFile.Mapping]
    requests =
      try variants?.map { Recipe(mapping: ["headers": $0]) }
      ?? [Recipe(mapping: CaseFile.mapping("req", in: mapping))]
    expectation = Recipe(mapping: try CaseFile.mapping("exp", in: mapping))
    lint = mapping["lint"] as? String
  }
}

/// Untyped YAML that the tests pass around.
///
/// Unchecked is safe: the values are strings, numbers and collections of them, and nothing changes them after reading.
struct Recipe: @unchecked Sendable {
  let mapping: CaseFile.Mapping
}
