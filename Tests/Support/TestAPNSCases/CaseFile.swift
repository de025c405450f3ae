internal import Foundation
internal import Yams

/// The case file, and how its shorthand is read.
package enum CaseFile {
  package typealias Mapping = [String: Any]

  /// Read once: a debug build takes a tenth of a second for it.
  private static let shared = Result { Recipe(try read()) }

  package static func load() throws -> Mapping {
    try shared.get().mapping
  }

  private static func read() throws -> Mapping {
    guard let file = Bundle.module.url(forResource: "apns-cases", withExtension: "yaml", subdirectory: "Resources"),
      let mapping = try Yams.load(yaml: String(contentsOf: file, encoding: .utf8)) as? Mapping
    else { throw CaseFileError.unreadable }
    return mapping
  }

  package static func mapping(_ name: String, in parent: Mapping) throws -> Mapping {
    guard let found = parent[name] as? Mapping else { throw CaseFileError.missing(name) }
    return found
  }

  package static func list(_ name: String, in parent: Mapping) throws -> [Mapping] {
    guard let found = parent[name] as? [Mapping] else { throw CaseFileError.missing(name) }
    return found
  }

  /// A string, or `{unit, times}`.
  static func text(_ value: Any) throws -> String {
    if let text = value as? String { return text }
    guard let repeated = value as? Mapping, let unit = repeated["unit"] as? String,
      let times = repeated["times"] as? Int
    else { throw CaseFileError.missing("unit and times") }
    return String(repeating: unit, count: times)
  }

  /// Defaults under overrides, mappings member by member.
  static func merge(_ base: Mapping, _ overrides: Mapping) -> Mapping {
    base.merging(overrides) { old, new in
      guard let old = old as? Mapping, let new = new as? Mapping else { return new }
      return old.merging(new) { $1 }
    }
  }
}

package enum CaseFileError: Error {
  case unreadable
  case missing(String)
}

/// Untyped YAML that the tests pass around.
///
/// Unchecked is safe: the values are strings, numbers and collections of them, and nothing changes them after reading.
package struct Recipe: @unchecked Sendable {
  package let mapping: CaseFile.Mapping

  package init(_ mapping: CaseFile.Mapping) {
    self.mapping = mapping
  }
}
