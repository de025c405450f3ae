internal import PushRules
internal import PushStore

/// The attempts of one claim at the recipient's devices.
struct AttemptSteps {
  let entry: HistoryEntry

  /// In the order in which they ended.
  var steps: [EventExplanation.Step] {
    zip(0..., entry.attempts).map { index, attempt in
      .init(
        .attempt, at: entry.claimedAt + attempt.endedMicroseconds, text: text(of: attempt, at: index),
        details: Self.details(of: attempt))
    }
  }

  private func text(of attempt: HistoryEntry.Attempt, at index: Int) -> String {
    let device = "device \(attempt.device)"
    let service = attempt.service
    let why = attempt.reason.map { RefusalWords.described($0, by: service) } ?? "no reason was given"
    let isSent = attempt.identifier != nil || attempt.status != nil
    switch attempt.verdict {
    case "accepted":
      let form = attempt.content.map { ", \(ContentWords.form($0))" } ?? ""
      return "\(service) accepted the push for \(device)\(attempt.localeWords)\(form)"
        + (followsTrial(index) ? "; its environment was noted" : "")
    case "elsewhere":
      return "not for \(device) in this environment: \(why); the other one was asked next"
    case "dropped": return "\(service) refused \(device): \(why); its token was dropped"
    case "refused": return isSent ? "\(service) refused \(device): \(why)" : "not sent to \(device): \(why)"
    case ShadowedKinds.reason: return "shadow: the push for \(device) was built, and not sent to \(service)"
    case "postponed": return "put off for \(device): \(why)"
    case "waiting":
      return isSent
        ? "waits for the route of \(device): \(why)"
        : "not sent to \(device), because its route takes no pushes: \(why)"
    case "impossible": return "the other environment could tell nothing about \(device): \(why)"
    default: return "\(attempt.verdict) for \(device): \(why)"
    }
  }

  /// Whether the same device was asked in another environment before.
  private func followsTrial(_ index: Int) -> Bool {
    entry.attempts[..<index].contains { $0.device == entry.attempts[index].device && $0.verdict == "elsewhere" }
  }

  private static func details(of attempt: HistoryEntry.Attempt) -> [EventExplanation.Detail] {
    [
      ("route", attempt.route), ("status", attempt.status.map(String.init)), ("reason", attempt.reason),
      (attempt.service == "APNs" ? "apns-id" : "id", attempt.identifier),
    ].compactMap { name, value in value.map { .init(name: name, value: $0) } }
  }
}

extension HistoryEntry.Attempt {
  /// In which locale the push was shown; empty for the words of the event itself.
  fileprivate var localeWords: String {
    guard let locale else { return "" }
    return ", in \(locale), " + (askedLocale.map { "since the device asks for \($0)" } ?? "as the device asks")
  }
}
