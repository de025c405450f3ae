internal import Postgres
package import PushStore

/// Whether the functions that read the host's tables work.
enum HostContractCheck {
  static let name = "host functions"

  /// Inert, it costs the host something that no user sees.
  private static let needed = "invalidate_device_token"

  /// - Parameter inert: functions that do nothing, because the host has no table for them.
  static func judge(
    _ failures: [(function: HostFunction, error: PostgresError)], inert: [String] = []
  ) -> [CheckFinding] {
    let dead =
      inert.contains(needed)
      ? [
        CheckFinding(
          name, .warning, "tacet.\(needed) is inert: tokens that APNs calls dead stay and are tried with every push",
          remedy: "replace it for your tables, as db/CONTRACT.md shows")
      ] : []
    guard !failures.isEmpty || !dead.isEmpty else {
      let others = inert.isEmpty ? "" : "; inert until you replace them: \(inert.joined(separator: ", "))"
      return [CheckFinding(name, .ok, "\(HostFunction.allCases.count) answer\(others)")]
    }
    return dead
      + failures.map { function, error in
        CheckFinding(
          name, .failure, "tacet.\(function.rawValue) fails: \(error.debugDescription)",
          remedy: error.sqlState == "42501"
            ? "mend what the rights check shows, and grant select on what the function reads"
            : "replace it for your tables, as db/CONTRACT.md shows")
      }
  }
}

/// Whether a message would be pushed, and what apps report be taken: one was played through the host contract and undone.
package enum ContractCheck {
  static let name = "contract"

  /// Where the database lets nothing be played.
  static let untried = CheckFinding(name, .skipped, "it was not tried: \(PostgresError.takesNoWrites)")

  /// - Parameter role: as whom it was played.
  /// - Returns: a finding for each step that does not go as it should; one that all is well, if all is.
  package static func judge(_ trials: [ContractTrial], role: String) -> [CheckFinding] {
    if ContractTrial.areRefused(trials) { return [untried] }
    let found = trials.compactMap { judge($0, role: role) }
    guard found.isEmpty else { return found }
    let skipped = trials.filter { $0.outcome == .skipped && !$0.message.isEmpty }
    let untried = skipped.map { "; \($0.step) was not tried: \($0.message)" }.joined()
    return [CheckFinding(name, .ok, "a message was played through it and undone\(untried)")]
  }

  private static func judge(_ trial: ContractTrial, role: String) -> CheckFinding? {
    let state = trial.sqlState.map { " (SQLSTATE \($0))" } ?? ""
    switch (trial.outcome, trial.step) {
    case (.done, _), (.skipped, _): return nil
    case (.empty, let step) where trial.message.hasPrefix("no policy shows"):
      return CheckFinding(
        name, .warning, step == "trigger" ? trial.message : "tacet.\(step) finds nothing: \(trial.message)",
        remedy: "create a policy for select to \(role), as under Roles in db/README.md")
    case (.empty, "reach"):
      return CheckFinding(
        name, .warning, "nobody would get a push: \(trial.message)",
        remedy: "if some have devices, replace the functions that read those tables, or let \(role) see their rows")
    case (.empty, let step):
      return CheckFinding(
        name, .warning, "tacet.\(step): \(trial.message)",
        remedy: "if others take part there, replace it for your tables, or let \(role) see their rows")
    case (.failed, "trigger"):
      return CheckFinding(
        name, .failure, "\(trial.message): messages are noticed by webhook only",
        remedy: "create trigger tacet_message_inserted on the table of your messages, as db/CONTRACT.md shows")
    case (.failed, let step):
      return CheckFinding(
        name, .failure, "tacet.\(step) fails\(state): \(trial.message)", remedy: remedy(for: trial, role: role))
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
}

/// Whether states of Live Activities can be made: a type with a fault refuses all of them.
enum ActivityTypeCheck {
  static let name = "activity types"

  static func judge(_ types: [ExaminedActivityType]) -> [CheckFinding] {
    let faults = types.compactMap { type in
      type.fault.map {
        CheckFinding(
          name, .failure, "\(type.name): \($0)",
          remedy: "correct its row of tacet.activity_types; db/README.md has the form")
      }
    }
    guard faults.isEmpty else { return faults }
    return [CheckFinding(name, .ok, types.isEmpty ? "none" : types.map(\.name).joined(separator: ", "))]
  }
}

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
