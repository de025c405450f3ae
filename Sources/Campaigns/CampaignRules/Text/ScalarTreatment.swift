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
