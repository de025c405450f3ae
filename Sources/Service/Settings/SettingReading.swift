/// What reading a setting, or several that belong together, came to.
enum SettingReading<Value> {
  /// Nothing is said; somebody else's word may hold.
  case absent
  /// Something is said that cannot be used, and that was noted.
  case unusable
  case value(Value)

  /// What was read, or else what is inherited.
  func inheriting(_ other: SettingReading) -> SettingReading {
    if case .absent = self { other } else { self }
  }

  var value: Value? {
    if case .value(let value) = self { value } else { nil }
  }

  var isAbsent: Bool {
    if case .absent = self { true } else { false }
  }
}
