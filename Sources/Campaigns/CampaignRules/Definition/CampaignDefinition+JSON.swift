extension CampaignDefinition {
  private static let keys = [
    "layers", "occasion", "composer", "templates", "payload",
  ]

  /// Reads a definition.
  ///
  /// ```json
  /// {"layers": ["event", "pattern", "re_engagement"],
  ///  "composer": {"kind": "model", "on_failure": "skip"},
  ///  "templates": {"event_based": [{"title": "Your {event}", "body": "It is {when}. How do you feel about it?"}]},
  ///  "payload": {"action": "new_conversation"}}
  /// ```
  ///
  /// `layers` and `composer` have to be there, and `occasion` with the layer of that name. Without the others there are no
  /// templates, and nothing is added to the payload.
  /// - Throws: the first ``CampaignDefinitionDefect`` in the order of the keys above.
  public init(json: String) throws(CampaignDefinitionDefect) {
    guard let value = JSONValue(json) else { throw CampaignDefinitionDefect(.notJSON, at: "$", expected: "an object") }
    let root = DefinitionField(value: value, path: "$")
    let members = try root.members(known: Self.keys)
    func optional(_ key: String) -> DefinitionField? { members[key].map { root.field(key, $0) } }

    let layers = try Self.layers(root.member("layers", of: members))
    let occasion = try Self.occasion(optional("occasion"), for: layers)
    let composer = try Self.composer(root.member("composer", of: members))
    let templates = try optional("templates").map(Self.templates) ?? [:]
    try Self.requireTemplates(templates, of: layers, for: composer)
    self.init(
      layers: layers,
      occasion: occasion,
      composer: composer,
      templates: templates,
      payload: try optional("payload").map(Self.payload) ?? [:])
  }
}
