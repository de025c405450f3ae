extension Tokenizer {
  /// The most digits of one group: a year's.
  private static let digitsMax = 4
  /// The most groups: a date's.
  private static let groupsMax = 3

  /// Reads digits and the separators between them.
  ///
  /// Too many digits or groups, groups with different separators and thousands are opaque: telephone numbers,
  /// addresses, versions, prices. A dash after a clock time or date begins the other end of a range and ends the number.
  mutating func readNumber() -> (Token.Kind, String) {
    var groups = [readGroup()]
    var separator: Unicode.Scalar?
    var isUniform = true
    while let next = separatorAhead(after: separator) {
      isUniform = isUniform && next == separator ?? next
      separator = next
      advance()
      let group = readGroup()
      if groups.count <= Self.groupsMax { groups.append(group) }
    }
    guard isUniform, separator != ",", groups.count <= Self.groupsMax,
      groups.allSatisfy({ $0.digits <= Self.digitsMax })
    else { return (.opaque, "") }
    let token = NumericToken(groups: groups.map(\.value), digits: groups.map(\.digits), separator: separator)
    return (.number(token), token.spelling)
  }

  /// Reads the digits of one group.
  private mutating func readGroup() -> (value: Int, digits: Int) {
    var value = 0
    var digits = 0
    while let scalar = scalar(), scalar.isDigit {
      digits += 1
      if digits <= Self.digitsMax { value = value * 10 + Int(scalar.value) - 0x30 }
      advance()
    }
    return (value, digits)
  }

  /// The separator here, if digits follow it; dashes as hyphens.
  private func separatorAhead(after separator: Unicode.Scalar?) -> Unicode.Scalar? {
    guard let scalar = scalar(), self.scalar(ahead: 1)?.isDigit == true else { return nil }
    switch scalar {
    case "/", ".", ":": return scalar
    case "-", "\u{2010}"..."\u{2013}": return separator == nil || separator == "-" ? "-" : nil
    case ",": return hasThousands ? scalar : nil
    default: return nil
    }
  }

  /// Whether exactly three digits follow the comma here, which groups a large number then.
  private var hasThousands: Bool {
    (1...3).allSatisfy { scalar(ahead: $0)?.isDigit == true } && scalar(ahead: 4)?.isDigit != true
  }
}

extension NumericToken {
  /// As the lexicon lists it: leading zeros are dropped.
  fileprivate var spelling: String {
    groups.map(String.init).joined(separator: separator.map { String($0) } ?? "")
  }
}
