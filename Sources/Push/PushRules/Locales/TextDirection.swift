enum TextDirection {
  static func directions(in text: some StringProtocol) -> (hasRightward: Bool, hasLeftward: Bool) {
    var (hasRightward, hasLeftward) = (false, false)
    for scalar in text.unicodeScalars {
      if scalar.runsLeftward { hasLeftward = true } else if scalar.isRightwardLetter { hasRightward = true }
      if hasRightward, hasLeftward { break }
    }
    return (hasRightward, hasLeftward)
  }
}

extension Unicode.Scalar {
  /// Whether it is in a block whose characters run from right to left: Hebrew, Arabic, Syriac, Thaana, NKo, Adlam and so on.
  /// Source: the ranges of bidirectional class R and AL in Unicode's `DerivedBidiClass.txt`.
  var runsLeftward: Bool {
    switch value {
    case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF: true
    default: false
    }
  }

  fileprivate var isRightwardLetter: Bool {
    isASCII ? (0x41...0x5A).contains(value & ~0x20) : properties.isAlphabetic
  }

  var opensIsolate: Bool { (0x2066...0x2068).contains(value) }
}

/// A text that is put together of words and inserted values, such as `Message from ` and a name.
///
/// Where letters of both directions meet, each value is isolated (U+2068 … U+2069), so that neither a name nor its punctuation
/// moves what stands beside it. Source: Unicode Standard Annex 9, section 2.4.
package struct FilledText {
  private var parts: [(text: String, isValue: Bool)] = []

  package init() {}

  /// Adds words of the text itself.
  package mutating func append(words: String) { if !words.isEmpty { parts.append((words, false)) } }

  /// Adds what was inserted.
  package mutating func append(value: String) { if !value.isEmpty { parts.append((value, true)) } }

  package var text: String {
    let whole = parts.reduce(into: "") { $0 += $1.text }
    guard parts.count > 1, whole.utf8.contains(where: { $0 >= 0xD6 }) else { return whole }
    let (hasRightward, hasLeftward) = TextDirection.directions(in: whole)
    guard hasRightward, hasLeftward else { return whole }
    return parts.reduce(into: "") { $0 += $1.isValue ? $1.text.isolated : $1.text }
  }
}

extension String {
  /// In an isolate, without isolates inside: an unbalanced one would end this one too early, or never.
  fileprivate var isolated: String { "\u{2068}" + withoutIsolates + "\u{2069}" }

  private var withoutIsolates: String {
    var scalars = unicodeScalars
    scalars.removeAll { $0.opensIsolate || $0 == "\u{2069}" }
    return String(scalars)
  }

  /// The isolates that the text opens and does not close.
  private var openIsolates: Int {
    var open = 0
    for scalar in unicodeScalars {
      if scalar.opensIsolate { open += 1 } else if scalar == "\u{2069}" { open = max(0, open - 1) }
    }
    return open
  }

  /// The text with its open isolates closed; without any isolates where more are open than any honest text has.
  ///
  /// A text that was cut needs it: what stands after it would belong to the isolate.
  package var closingIsolates: String {
    guard utf8.contains(0xE2) else { return self }
    switch openIsolates {
    case 0: return self
    case 1...Self.openIsolatesMax: return self + String(repeating: "\u{2069}", count: openIsolates)
    default: return withoutIsolates
    }
  }

  /// Deeper than quotations are nested.
  private static let openIsolatesMax = 4

  /// What ``closingIsolates`` adds at most, in bytes.
  static let closingBytesMax = openIsolatesMax * 3
}
