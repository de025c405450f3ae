/// Identifiers in the form in which APNs makes them: upper case, with no particular version digit.
///
/// Drawn from a seed, so that a run can be repeated. Nothing rests on their being hard to guess.
struct MintedIdentifiers {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> String {
    let digits = Self.hexadecimal(draw()) + Self.hexadecimal(draw())
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  /// SplitMix64: one addition and three mixes, and every state is a good one.
  private mutating func draw() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
