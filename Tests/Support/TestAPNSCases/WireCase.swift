/// A case of the case file: what is done, what the wire has to show, and what a client has to do about it.
package struct WireCase: Sendable, CustomStringConvertible {
  /// `D001`, `S01` or `K01`, and so on.
  package let identifier: String
  /// The identifier and the title.
  package let description: String
  /// The whole case.
  package let recipe: Recipe
  /// What a client does about it: an action's code, or for some a sentence; nil where the case does not say.
  package let client: String?

  /// The single-request cases.
  package static func devices() throws -> [WireCase] { try all("device_cases") }
  /// The cases of several requests.
  package static func sequences() throws -> [WireCase] { try all("sequence_cases") }
  /// The cases about connections.
  package static func connections() throws -> [WireCase] { try all("connection_cases") }

  private static func all(_ section: String) throws -> [WireCase] {
    try CaseFile.list(section, in: CaseFile.load()).map { WireCase($0) }
  }

  private init(_ mapping: CaseFile.Mapping) {
    identifier = mapping["id"] as? String ?? "?"
    description = "\(identifier) \(mapping["title"] ?? "")"
    recipe = Recipe(mapping)
    client = mapping["client"] as? String
  }

  /// What the answer has to be.
  package func expectation() throws -> CaseFile.Mapping { try CaseFile.mapping("exp", in: recipe.mapping) }

  /// What each request of a single-request case changes in the defaults; a `foreach` makes several.
  package func requests() throws -> [CaseFile.Mapping] {
    let variants = recipe.mapping["foreach"] as? [CaseFile.Mapping]
    return try variants?.map { ["headers": $0] } ?? [CaseFile.mapping("req", in: recipe.mapping)]
  }

  /// The steps of a sequence.
  package func steps() throws -> [CaseFile.Mapping] { try CaseFile.list("steps", in: recipe.mapping) }
}
