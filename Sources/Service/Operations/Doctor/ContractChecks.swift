internal import Postgres
package import PushStore

// Whether what the host has written for Tacet works: functions, types of Live Activities, texts.
extension Judgement {
  /// Whether the functions that read the host's tables work.
  /// - Parameter inert: functions that do nothing, because the host has no table for them.
  static func hostFunctions(
    _ failures: [(function: HostFunction, error: PostgresError)], inert: [String] = []
  ) -> [Judgement] {
    let replace = "replace it for your tables, as db/CONTRACT.md shows"
    // Inert, it costs the host something that no user sees.
    let needed = "invalidate_device_token"
    var found: [Judgement] = []
    if inert.contains(needed) {
      found.append(
        .warning(
          "tacet.\(needed) is inert: tokens that APNs calls dead stay and are tried with every push", remedy: replace))
    }
    found += failures.map { function, error in
      .failure(
        "tacet.\(function.rawValue) fails: \(error.debugDescription)",
        remedy: error.sqlState == "42501"
          ? "mend what the rights check shows, and grant select on what the function reads" : replace)
    }
    let others = inert.isEmpty ? "" : "; inert until you replace them: \(inert.joined(separator: ", "))"
    return found.or("\(HostFunction.allCases.count) answer\(others)")
  }

  /// Where the database lets nothing be played.
  static let contractUntried = skipped("it was not tried: \(PostgresError.takesNoWrites)")

  /// Whether a message would be pushed, and what apps report be taken: one was played through the host contract and undone.
  /// - Parameter role: as whom it was played.
  /// - Returns: one for each step that does not go as it should; one that all is well, if all is.
  package static func contract(_ trials: [ContractTrial], role: String) -> [Judgement] {
    if ContractTrial.areRefused(trials) { return [contractUntried] }
    let skipped = trials.filter { $0.outcome == .skipped && !$0.message.isEmpty }
    let untried = skipped.map { "; \($0.step) was not tried: \($0.message)" }.joined()
    return trials.compactMap { trial($0, role: role) }.or("a message was played through it and undone\(untried)")
  }

  private static func trial(_ trial: ContractTrial, role: String) -> Judgement? {
    let (step, message) = (trial.step, trial.message)
    switch (trial.outcome, step) {
    case (.done, _), (.skipped, _): return nil
    case (.empty, _) where message.hasPrefix("no policy shows"):
      return .warning(
        step == "trigger" ? message : "tacet.\(step) finds nothing: \(message)",
        remedy: "create a policy for select to \(role), as under Roles in db/README.md")
    case (.empty, "reach"):
      return .warning(
        "nobody would get a push: \(message)",
        remedy: "if some have devices, replace the functions that read those tables, or let \(role) see their rows")
    case (.empty, _):
      return .warning(
        "tacet.\(step): \(message)",
        remedy: "if others take part there, replace it for your tables, or let \(role) see their rows")
    case (.failed, "trigger"):
      return .failure(
        "\(message): messages are noticed by webhook only",
        remedy: "create trigger tacet_message_inserted on the table of your messages, as db/CONTRACT.md shows")
    case (.failed, _):
      let state = trial.sqlState.map { " (SQLSTATE \($0))" } ?? ""
      return .failure("tacet.\(step) fails\(state): \(message)", remedy: remedy(for: trial, role: role))
    }
  }

  private static func remedy(for trial: ContractTrial, role: String) -> String {
    switch trial.sqlState {
    case "42501":
      "let role \(role) do it: the grants and policies under Roles in db/README.md, or what the rights check names"
    case let state? where state.hasPrefix("42"): "replace it for your tables, as db/CONTRACT.md shows"
    case .some: "see the server's log of this moment for its message"
    case nil where trial.message.hasPrefix("row-level security"):
      "create a policy for update to \(role) on that table, as under Roles in db/README.md"
    case nil: "replace it for your tables, or let role \(role) see their rows by a policy for select"
    }
  }

  /// Whether states of Live Activities can be made: a type with a fault refuses all of them.
  static func activityTypes(_ types: [ExaminedActivityType]) -> [Judgement] {
    types.compactMap { type in
      type.fault.map {
        .failure("\(type.name): \($0)", remedy: "correct its row of tacet.activity_types; db/README.md has the form")
      }
    }.or(types.isEmpty ? "none" : types.map(\.name).joined(separator: ", "))
  }

  /// Whether texts in other locales belong to kinds that are watched, and can be filled.
  static func texts(_ texts: [ExaminedText]) -> [Judgement] {
    let byKind = Dictionary(grouping: texts, by: \.kind).sorted { $0.key < $1.key }
      .map { (kind: $0.key, texts: $0.value, locales: $0.value.map(\.locale).joined(separator: ", ")) }
    let words = byKind.map { "\($0.kind) (\($0.locales))" }.joined(separator: "; ")
    return byKind.flatMap { kind, texts, locales -> [Judgement] in
      if texts.allSatisfy(\.isUnwatched) {
        return [
          .warning(
            "\(kind) is not watched, and has texts in \(locales)",
            remedy: "watch it, or take them away: tacet.unlocalise('\(kind)')")
        ]
      }
      return texts.compactMap { text in
        text.missingColumn.map {
          .warning(
            "\(kind) in \(text.locale) has {\($0)}, which the kind's own texts do not have",
            remedy: "write the text anew with tacet.localise; until then nothing stands in that place")
        }
      }
    }.or(words.isEmpty ? "none in other locales" : words)
  }
}
