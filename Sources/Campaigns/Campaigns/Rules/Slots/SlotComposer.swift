internal import PushRules
internal import TemporalReferences

/// What a slot campaign asks a language model for: a body, under a title of the campaign's own.
///
/// The campaign's texts take its place where the model fails.
package struct SlotComposer: Equatable, Sendable {
  package let task: ModelTask
  /// Titles that take turns; empty for the title of the text that applies. One of which a token has no value is left out.
  let titles: [SlotTemplate]
  /// The name of the value that counts the turns of titles; nil for the day's number.
  let titlesBy: String?

  func title(on day: CivilDay, with values: [String: String]) -> String? {
    let filled = titles.map { $0.filled(with: values) }.filter { $0.missing == 0 }
    guard !filled.isEmpty else { return nil }
    let turn = titlesBy.map { values[$0].flatMap { Int($0) } ?? 0 } ?? day.dayNumber
    return filled[turn.modulo(filled.count)].text.cut(clustersMax: SlotText.titleClustersMax)
  }
}

/// A text that a model is to write for one row.
package struct SlotDraft: Sendable {
  package let prompt: CheckInPrompt
  package let title: String
}

extension SlotCampaignDefinition {
  /// What the model is asked for a row; nil without a composer, or without a text that applies.
  package func draft(for occasion: SlotOccasion, values: SlotValues) -> SlotDraft? {
    guard let composer else { return nil }
    var (lines, _) = lines(for: occasion, values: values)
    guard
      let title = composer.title(on: occasion.fireDate, with: lines)
        ?? texts.first(where: { $0.applies(to: lines) })?.suited(to: values.locale).title.filled(with: lines).text
    else { return nil }
    lines["weekday"] = lines["weekday"] ?? occasion.fireDate.weekdayName
    return SlotDraft(prompt: composer.task.prompt(for: .body(title: title), with: lines), title: title)
  }
}

extension CivilDay {
  fileprivate var weekdayName: String {
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][weekday - 1]
  }
}

extension SlotComposer {
  private static let titlesMax = 31
  private static let titleScalarsMax = 256

  /// Reads `{"task": "Greet a person.", "facts": ["name"], "titles": ["Hello, {{name}}!"], "titles_by": "streak"}`.
  init(field: DefinitionField) throws(CampaignDefinitionDefect) {
    let members = try field.members(known: ModelTask.keys + ["titles", "titles_by"])
    task = try ModelTask(field: field, members: members)
    titles =
      try members["titles"].map { value throws(CampaignDefinitionDefect) in
        try field.field("titles", value).templates(Self.titlesMax, scalarsMax: Self.titleScalarsMax)
      } ?? []
    titlesBy = try members["titles_by"].map { value throws(CampaignDefinitionDefect) in
      try field.field("titles_by", value).tokenName()
    }
  }
}

extension DefinitionField {
  func tokenName() throws(CampaignDefinitionDefect) -> String {
    let name = try string()
    guard name.isTokenName else { throw defect(.outOfRange, expected: "a name of a–z, 0–9 and _") }
    return name
  }

  /// One to so many templates.
  func templates(_ countMax: Int, scalarsMax: Int) throws(CampaignDefinitionDefect) -> [SlotTemplate] {
    var templates: [SlotTemplate] = []
    for element in try elements(1...countMax) { templates.append(try element.template(scalarsMax: scalarsMax)) }
    return templates
  }
}
