/// Pushes that no event asks for: whether, when, and who writes them.
public struct CampaignSettings: Equatable, Sendable {
  /// `PUSH_TRIGGER_ENABLED`, the kill switch; off unless set.
  public let isEnabled: Bool
  /// `PUSH_TRIGGER_TIME` as minutes after midnight; 10:00 unless set.
  public let minutes: Int
  /// Who writes; nil when there is no key.
  public let model: LanguageModelSettings?
  /// `LANGUAGE_MODEL_DAILY_TOKENS_MAX`; a million unless set, which is some 1,500 pushes.
  public let dailyTokensMax: Int
  /// `LANGUAGE_MODEL_DAILY_DOLLARS_MAX` in millionths of a dollar; 5 dollars unless set.
  public let dailyMicrodollarsMax: Int

  init(_ reader: inout SettingsReader) {
    isEnabled = reader.optional(.pushTriggerEnabled, SettingNumbers.boolean) ?? false
    minutes = reader.optional(.pushTriggerTime, SettingNumbers.timeOfDay) ?? 600
    model = LanguageModelSettings(&reader)
    let tokens = reader.optional(.languageModelDailyTokensMax) { text throws(UnusableValue) in
      try SettingNumbers.integer(text, in: 0...1_000_000_000_000)
    }
    dailyTokensMax = tokens ?? 1_000_000
    let dollars = reader.optional(.languageModelDailyDollarsMax) { text throws(UnusableValue) in
      try SettingNumbers.microdollars(text, dollarsMax: 1_000_000)
    }
    dailyMicrodollarsMax = dollars ?? 5_000_000
  }
}
