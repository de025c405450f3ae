extension ModelTask {
  static let keys = ["task", "facts", "rules", "seconds"]
  private static let taskScalarsMax = 1_000
  private static let factsMax = 16
  /// Of a slot's time and of an hour's lease.
  private static let seconds = 0.1...10

  /// Reads the members of a composer: `{"task": "Greet a person.", "facts": ["name"], "rules": "plain", "seconds": 2}`.
  ///
  /// The rules are `plain` and the limit is the service's by default.
  init(field: DefinitionField, members: [String: JSONValue]) throws(CampaignDefinitionDefect) {
    task = try field.member("task", of: members).line(scalarsMax: Self.taskScalarsMax)
    facts =
      try members["facts"].map { value throws(CampaignDefinitionDefect) in
        try Self.facts(field.field("facts", value))
      } ?? []
    rules =
      try members["rules"].map { value throws(CampaignDefinitionDefect) in
        try field.field("rules", value).word()
      } ?? .plain
    limit = try members["seconds"].map { value throws(CampaignDefinitionDefect) in
      try Self.limit(field.field("seconds", value))
    }
  }

  /// Reads a composer that the database has checked; nil for anything else.
  package init?(json: String) {
    guard let value = JSONValue(json) else { return nil }
    let field = DefinitionField(value: value, path: "$")
    guard let task = try? ModelTask(field: field, members: field.members(known: Self.keys)) else { return nil }
    self = task
  }

  private static func facts(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [String] {
    var facts: [String] = []
    for element in try field.elements(0...factsMax) { facts.append(try element.tokenName()) }
    return facts
  }

  private static func limit(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> Duration {
    let number = try field.number()
    guard seconds.contains(number) else {
      throw field.defect(.outOfRange, expected: "\(seconds.lowerBound) to \(seconds.upperBound)")
    }
    return .seconds(number)
  }
}
