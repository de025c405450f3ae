internal import PushStore

/// Whether texts in other locales belong to kinds that are watched, and can be filled.
enum TextCheck {
  static let name = "texts"

  static func judge(_ texts: [ExaminedText]) -> [CheckFinding] {
    let byKind = Dictionary(grouping: texts, by: \.kind).sorted { $0.key < $1.key }
    let faults = byKind.flatMap { kind, texts in
      texts.allSatisfy(\.isUnwatched) ? [unwatched(kind, texts)] : texts.compactMap(unfilled)
    }
    guard faults.isEmpty else { return faults }
    let words = byKind.map { kind, texts in "\(kind) (\(texts.map(\.locale).joined(separator: ", ")))" }
    return [CheckFinding(name, .ok, words.isEmpty ? "none in other locales" : words.joined(separator: "; "))]
  }

  private static func unwatched(_ kind: String, _ texts: [ExaminedText]) -> CheckFinding {
    CheckFinding(
      name, .warning, "\(kind) is not watched, and has texts in \(texts.map(\.locale).joined(separator: ", "))",
      remedy: "watch it, or take them away: tacet.unlocalise('\(kind)')")
  }

  private static func unfilled(_ text: ExaminedText) -> CheckFinding? {
    text.missingColumn.map {
      CheckFinding(
        name, .warning, "\(text.kind) in \(text.locale) has {\($0)}, which the kind's own texts do not have",
        remedy: "write the text anew with tacet.localise; until then nothing stands in that place")
    }
  }
}
