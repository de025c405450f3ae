internal import FoundationEssentials
internal import Operations
internal import PushRules
internal import PushStore

/// Times, numbers and reasons as people read them.
enum Wording {
  /// A duration in the unit that fits: `0.8 ms`, `12 ms`, `1.24 s`, `3 min`, `2 h 5 min`, `4 d`. Negative ones are
  /// nothing yet.
  static func duration(_ duration: Duration) -> String {
    let microseconds = max(0, duration.wholeMicroseconds)
    let seconds = microseconds / 1_000_000
    switch microseconds {
    case ..<10_000: return "\(decimal(microseconds / 100, places: 1)) ms"
    case ..<1_000_000: return "\(microseconds / 1000) ms"
    case ..<60_000_000: return "\(decimal(microseconds / 10_000, places: 2)) s"
    default: break
    }
    switch seconds {
    case ..<3600: return "\(seconds / 60) min"
    case ..<86_400: return "\(seconds / 3600) h" + rest(seconds % 3600 / 60, "min")
    default: return "\(seconds / 86_400) d" + rest(seconds % 86_400 / 3600, "h")
    }
  }

  private static func rest(_ count: Int64, _ unit: String) -> String { count == 0 ? "" : " \(count) \(unit)" }

  /// How long ago something was, or is to be: to the second, and what is less than one as a duration.
  static func age(_ age: Duration) -> String {
    (.seconds(1)..<(.seconds(60))).contains(age) ? "\(age.components.seconds) s" : duration(age)
  }

  /// A span that ends now, as the words behind `the last`.
  static func span(_ span: Duration) -> String { span == .seconds(3600) ? "hour" : duration(span) }

  /// A number with thin spaces between its thousands.
  static func number(_ number: Int) -> String {
    var text = ""
    for (place, digit) in String(number).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3), digit != "-" { text.append("\u{202F}") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// A count that ends at 10 001.
  static func count(_ count: Int, isAtLeast: Bool = false) -> String {
    let most = PushDatabase.overviewCountMax
    if count > most { return number(most) + "+" }
    return number(count) + (isAtLeast ? "+" : "")
  }

  /// A share, from a tenth on as a whole number; 0 of nothing.
  static func percentage(_ count: Int, of total: Int) -> String {
    let tenths = count * 1000 / max(1, total)
    return tenths >= 100 ? "\((tenths + 5) / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }

  /// A moment in UTC, with its date or without.
  static func time(_ microseconds: Int64, hasDate: Bool = true) -> HTML {
    let instant = TimeText.instant(microseconds)
    let date: HTML = hasDate ? "<span class=\"day\">\(String(instant.prefix(10)))</span> " : ""
    return "<time datetime=\"\(instant)\">\(date)\(String(instant.dropFirst(11).dropLast()))</time>"
  }

  /// A moment of today in UTC, to the second.
  static func clock(_ microseconds: Int64) -> HTML {
    let instant = TimeText.instant(microseconds)
    return "<time datetime=\"\(String(instant.prefix(19)))Z\">\(String(instant.prefix(19).suffix(8)))</time>"
  }

  /// An id, shortened to what tells it from its neighbours; the title has the whole.
  static func shortID(_ id: HostID) -> HTML {
    let id = id.text
    return "<code title=\"\(id)\">\(String(id.prefix(8)))</code>"
  }

  static func decision(_ decision: OutcomeDecision) -> HTML {
    "<span class=\"mark \(decision.rawValue)\">\(decision.rawValue)</span>"
  }

  /// A reason: what it means where the rules gave it, and its name in the interface.
  static func reason(_ reason: String?) -> HTML {
    guard let reason else { return "" }
    if reason == ShadowedKinds.reason {
      return "<span class=\"meaning\">would have been sent</span> <code>\(reason)</code>"
    }
    guard let known = DecisionReason(rawValue: reason) else { return "<code>\(reason)</code>" }
    return "<span class=\"meaning\">\(meaning(known))</span> <code>\(reason)</code>"
  }

  private static func meaning(_ reason: DecisionReason) -> String {
    switch reason {
    case .userViewing: "is looking"
    case .alreadyRead: "has read it"
    case .noTokens: "has no device"
    case .noRecipients: "nobody else is there"
    case .optedOut: "wants none of this kind"
    case .muted: "has muted it"
    case .notMentioned: "is not mentioned"
    case .pushedToday: "had one today"
    case .quietHours: "quiet hours"
    case .deleted: "it is gone"
    case .cancelled: "was taken back"
    case .expired: "too old by then"
    case .folding: "soon updates its burst"
    case .folded: "shown by a newer one"
    }
  }

  private static func decimal(_ number: Int64, places: Int) -> String {
    let unit: Int64 = places == 1 ? 10 : 100
    return "\(number / unit)." + String(number % unit + unit).dropFirst()
  }
}
