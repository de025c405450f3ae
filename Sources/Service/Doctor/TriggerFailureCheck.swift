internal import PushStore

/// Whether triggers of ours had to swallow errors lately.
enum TriggerFailureCheck {
  static let name = "trigger failures"

  static func judge(_ failures: [TriggerFailureCount]) -> [CheckFinding] {
    guard !failures.isEmpty else { return [CheckFinding(name, .ok, "none during the last day")] }
    return failures.map {
      CheckFinding(
        name, .warning,
        "\($0.failures) during the last day with SQLSTATE \($0.sqlState), kind \($0.kind), the last \(Words.duration($0.age)) ago",
        remedy:
          "read their texts in tacet.trigger_failures; events whose ids are there are enqueued within ten seconds, others need a webhook"
      )
    }
  }
}
