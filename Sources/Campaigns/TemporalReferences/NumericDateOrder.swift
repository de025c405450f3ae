/// The order in which a reader's country writes the numbers of a date.
public enum NumericDateOrder: String, Equatable, Sendable {
  /// 2/20/2026, as in the United States.
  case monthDayYear = "mdy"
  /// 20/2/2026, as in most countries.
  case dayMonthYear = "dmy"
  /// 2026/2/20, and 2/20 without the year, as in East Asia.
  case yearMonthDay = "ymd"
}

extension NumericDateOrder {
  /// The order of a locale such as `en_US`, `en-GB` or `zh-Hant-TW`.
  ///
  /// Its region decides. Without one the language's largest region does, which only matters for English and the
  /// year-first languages. Unicode extensions and POSIX modifiers are ignored. Never fails: an unknown identifier has
  /// the order of most countries.
  public init(localeIdentifier: String) {
    let bare = localeIdentifier.prefix { $0 != "@" && $0 != "." }
    let parts = bare.split { "_-".contains($0) }.map(String.init).prefix { $0.count > 1 }
    let language = parts.first?.lowercased() ?? ""
    let region = parts.dropFirst().first { $0.count == 2 }?.uppercased()
    self = Self.order(ofRegion: region ?? Self.largestRegions[language] ?? "")
  }

  /// Regions that write the month first, and those that write the year first, by CLDR's short date patterns.
  private static func order(ofRegion region: String) -> Self {
    switch region {
    case "US", "AS", "FM", "GU", "MH", "MP", "PH", "PR", "PW", "UM", "VI": .monthDayYear
    case "CN", "HU", "IR", "JP", "KP", "KR", "LT", "MN", "TW", "ZA": .yearMonthDay
    default: .dayMonthYear
    }
  }

  /// The regions of languages written without one, where they differ from the usual order.
  private static let largestRegions = [
    "en": "US", "fa": "IR", "hu": "HU", "ja": "JP", "ko": "KR", "lt": "LT", "mn": "MN", "zh": "CN",
  ]
}
