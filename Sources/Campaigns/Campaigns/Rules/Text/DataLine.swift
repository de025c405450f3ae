/// Foreign text made safe for one line of a prompt's fence, a template or the log.
///
/// - Line breaks, tabs, other control characters and runs of white space become one space, so that a value cannot begin
///   a new line.
/// - Angle brackets and characters that look like them become ‹ and ›, so that a value cannot close its fence. Escaping
///   needs no random or secret fence name, and the same material always gives the same prompt. Texts without a fence
///   keep them.
/// - Invisible characters are removed: those that change the direction of writing, those without width, and the tag
///   characters that can hide a whole sentence. The joiners stay, because emoji and several scripts need them.
struct DataLine {
  /// The trimmed line; empty without a visible character.
  let text: String

  /// Reads until `scalarsMax` Unicode scalars are kept.
  ///
  /// Scalars are counted because grapheme clusters have no largest size. A cluster torn by the limit is dropped.
  /// - Parameter isFenced: whether angle brackets are replaced.
  init(_ source: String, scalarsMax: Int, isFenced: Bool = true) {
    var kept = String.UnicodeScalarView()
    var room = scalarsMax
    var spaceIsDue = false
    for scalar in source.unicodeScalars {
      switch ScalarTreatment(of: scalar, isFenced: isFenced) {
      case .leaveOut: continue
      case .space: spaceIsDue = !kept.isEmpty
      case .keep(let visible):
        room -= spaceIsDue ? 2 : 1
        guard room >= 0 else {
          text = String(kept).withoutLastCluster(ifContinuedBy: spaceIsDue ? " " : visible)
          return
        }
        if spaceIsDue { kept.append(" ") }
        kept.append(visible)
        spaceIsDue = false
      }
    }
    text = String(kept)
  }
}

extension String {
  /// The string without its last cluster if the next scalar would extend that cluster.
  fileprivate func withoutLastCluster(ifContinuedBy next: Unicode.Scalar) -> String {
    var continued = self
    continued.unicodeScalars.append(next)
    return continued.count == count ? String(dropLast()) : self
  }
}

/// How one scalar of foreign text is treated.
private enum ScalarTreatment {
  /// Keep this scalar, which may be a replacement.
  case keep(Unicode.Scalar)
  case space
  case leaveOut

  init(of scalar: Unicode.Scalar, isFenced: Bool) {
    switch scalar {
    case "<", "\u{FE64}", "\u{FF1C}", "\u{2329}", "\u{3008}": self = .keep(isFenced ? "‹" : scalar)
    case ">", "\u{FE65}", "\u{FF1E}", "\u{232A}", "\u{3009}": self = .keep(isFenced ? "›" : scalar)
    case "!"..."~": self = .keep(scalar)
    default: self = scalar.isHidden ? .leaveOut : scalar.isBlank ? .space : .keep(scalar)
    }
  }
}

extension Unicode.Scalar {
  /// Whether it is invisible and changes the text: format characters except the two joiners, and the supplementary
  /// variation selectors.
  var isHidden: Bool {
    switch value {
    case 0x200C, 0x200D: false
    case 0xE0100...0xE01EF: true
    default: properties.generalCategory == .format
    }
  }

  /// Whether it is white space, a control character, or a line or paragraph separator.
  var isBlank: Bool {
    properties.isWhitespace || properties.generalCategory == .control
  }
}

/// The lengths to which short values are cut, in Unicode scalars. They keep log rows and prompts small.
enum TextLimits {
  static let eventMax = 40
  static let domainMax = 40
  static let themeMax = 80
  static let templateValueMax = 80
  /// The most logged domains of one pattern.
  static let domainsMax = 8

  static func event(_ text: String) -> String? { line(text, max: eventMax) }
  static func domain(_ text: String) -> String? { line(text, max: domainMax) }
  static func theme(_ text: String) -> String? { line(text, max: themeMax) }

  /// A text on one line; nil without a visible character.
  static func line(_ text: String, max: Int) -> String? {
    let line = DataLine(text, scalarsMax: max).text
    return line.isEmpty ? nil : line
  }
}

extension StringProtocol {
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
