/// Random numbers that a seed repeats: SplitMix64.
///
/// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  /// The numbers of one part of a run: the same for the same seed and part, whatever other parts there are.
  package init(seed: UInt64, part: Int) {
    self.init(seed: seed)
    state = next() ^ (UInt64(part) &* 0xD1B5_4A32_D192_ED03)
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
