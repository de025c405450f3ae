/// Somebody else's text made safe to stand on one line of ours: in a prompt's fence, in a template, in the log.
///
/// - Line breaks, tabs and other control characters become spaces, and runs of white space one space, so that a value
///   cannot begin a line of its own.
/// - Angle brackets, and characters that look like them, become ‹ and ›, so that a value cannot close the fence around it.
///   Escaping was chosen over a fence with a random name: nothing has to be drawn or kept secret, and the same material
///   always gives the same prompt.
/// - Characters that nobody sees are left out: those that turn the direction of writing, those of no width, and the tag
///   characters in which a whole sentence can be hidden. The joiners stay, because emoji and several scripts need them.
struct DataLine {
  /// The line, without white space at either end; empty when nothing visible was there.
  let text: String

  /// Reads until `scalarsMax` Unicode scalars are kept.
  ///
  /// Scalars are counted and not grapheme clusters, which have no largest size; a cluster torn by the limit is left out.
  init(_ source: String, scalarsMax: Int) {
    var kept = String.UnicodeScalarView()
    var room = scalarsMax
    var spaceIsDue = false
    for scalar in source.unicodeScalars {
      switch ScalarTreatment(of: scalar) {
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
  /// Itself, or without its last cluster when the next scalar would have been part of that.
  fileprivate func withoutLastCluster(ifContinuedBy next: Unicode.Scalar) -> String {
    var continued = self
    continued.unicodeScalars.append(next)
    return continued.count == count ? String(dropLast()) : self
  }
}

/// What becomes of one scalar of somebody else's text.
enum ScalarTreatment: Equatable {
  /// It stays, or this one takes its place.
  case keep(Unicode.Scalar)
  /// It counts as white space.
  case space
  /// It disappears.
  case leaveOut

  init(of scalar: Unicode.Scalar) {
    switch scalar {
    case "<", "\u{FE64}", "\u{FF1C}", "\u{2329}", "\u{3008}": self = .keep("‹")
    case ">", "\u{FE65}", "\u{FF1E}", "\u{232A}", "\u{3009}": self = .keep("›")
    case "!"..."~": self = .keep(scalar)
    default: self = scalar.isHidden ? .leaveOut : scalar.isBlank ? .space : .keep(scalar)
    }
  }
}

extension Unicode.Scalar {
  /// Whether it is drawn as nothing and yet changes what is read: format characters except the two joiners, and the
  /// supplementary variation selectors.
  var isHidden: Bool {
    switch value {
    case 0x200C, 0x200D: false
    case 0xE0100...0xE01EF: true
    default: properties.generalCategory == .format
    }
  }

  /// Whether it is white space or a control character, line and paragraph separators included.
  var isBlank: Bool {
    properties.isWhitespace || properties.generalCategory == .control
  }
}

/// How much of each short value is taken over, in Unicode scalars. Names longer than these are no names; what is cut keeps
/// a log row and a prompt small whatever a table holds.
enum TextLimits {
  static let eventMax = 40
  static let domainMax = 40
  static let themeMax = 80
  static let templateValueMax = 80
  /// The most domains of one pattern that are logged.
  static let domainsMax = 8

  /// An event's word on one line; nil when nothing of it is visible.
  static func event(_ text: String) -> String? { line(text, max: eventMax) }
  /// A domain on one line; nil when nothing of it is visible.
  static func domain(_ text: String) -> String? { line(text, max: domainMax) }
  /// A theme on one line; nil when nothing of it is visible.
  static func theme(_ text: String) -> String? { line(text, max: themeMax) }

  /// Any other text on one line; nil when nothing of it is visible.
  static func line(_ text: String, max: Int) -> String? {
    let line = DataLine(text, scalarsMax: max).text
    return line.isEmpty ? nil : line
  }
}

extension StringProtocol {
  /// Without the white space around it.
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
