/// The random part of waits: every push draws twice, and the system's generator is a system call each time.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014), begun by the system's generator, so
/// that processes differ. Nothing secret is drawn.
struct Jitter: RandomNumberGenerator {
  private var state = UInt64.random(in: .min ... .max)

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number in `0 ..< 1`.
  mutating func draw() -> Double { Double.random(in: 0..<1, using: &self) }
}
