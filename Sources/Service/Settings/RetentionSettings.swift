internal import PushRules

/// How long finished work is kept.
public struct RetentionSettings: Equatable, Sendable {
  /// `RETENTION_DAYS` from 1 to 3650 days, 14 unless set; never less than a message's time to live and a day.
  ///
  /// The ledger is what keeps a message that comes a second time from being pushed a second time. Once the message has
  /// expired, its age does.
  public let retention: Duration

  init(_ reader: inout SettingsReader, policy: SuppressionPolicy) {
    let days = reader.optional(.retentionDays) { text throws(UnusableValue) in
      try SettingNumbers.integer(text, in: 1...3_650)
    }
    let day = Duration.seconds(86_400)
    // A message's age does not count while it is held, which a day is more than enough for.
    retention = max(day * (days ?? 14), policy.timeToLive + day)
  }
}
