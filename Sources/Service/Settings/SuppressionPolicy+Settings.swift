internal import PushRules

extension SuppressionPolicy {
  /// Reads both limits; one that is not set, or unusable and noted, keeps its default.
  init(_ reader: inout SettingsReader) {
    // No presence report is older than an hour and still says anything; zero switches holding off.
    let window = reader.optional(.suppressionWindowSeconds) { text throws(UnusableValue) in
      try SettingNumbers.seconds(text, in: 0...3_600)
    }
    // Thirty days is what APNs itself keeps a push for at most.
    let timeToLive = reader.optional(.messageTTLSeconds) { text throws(UnusableValue) in
      try SettingNumbers.seconds(text, in: 1...2_592_000)
    }
    let defaults = SuppressionPolicy()
    self.init(window: window ?? defaults.window, timeToLive: timeToLive ?? defaults.timeToLive)
  }
}
