/// Damages inputs: single bytes, numbers, lines, and pieces of other inputs.
struct InputMutator<Generator: RandomNumberGenerator> {
  var generator: Generator

  private static var numbers: [String] {
    [
      "0", "1", "00", "63", "64", "65", "255", "256", "-1", "+1", "3f", "40", "41", "2147483648", "4294967296",
      "9223372036854775807", "9223372036854775808", "18446744073709551616", "7fffffffffffffff", "fffffffffffffff",
    ]
  }
  private static var bytes: [UInt8] { Array("\r\n \t:;,=\"\\%/?*.0\0\u{7f}".utf8) + [0x0b, 0x0c, 0x80, 0xa0, 0xff] }

  /// - Parameter other: an input to take pieces from.
  mutating func mutate(_ input: [UInt8], with other: [UInt8], times: Int) -> [UInt8] {
    var input = input
    for _ in 0..<times {
      switch random(9) {
      case 0: flip(&input)
      case 1: input.insert(Self.bytes[random(Self.bytes.count)], at: random(input.count + 1))
      case 2: input.removeSubrange(range(in: input))
      case 3: input.insert(contentsOf: input[range(in: input)], at: random(input.count + 1))
      case 4: input.replaceSubrange(range(in: input), with: other[range(in: other)])
      case 5: duplicateLine(&input)
      case 6: replaceNumber(&input)
      case 7: input = Array(input.prefix(random(input.count + 1))) + other.suffix(random(other.count + 1))
      default: if !input.isEmpty { input[random(input.count)] = Self.bytes[random(Self.bytes.count)] }
      }
    }
    return input
  }

  private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

  private mutating func range(in input: [UInt8]) -> Range<Int> {
    let start = random(input.count + 1)
    return start..<min(input.count, start + random(24))
  }

  private mutating func flip(_ input: inout [UInt8]) {
    guard !input.isEmpty else { return }
    input[random(input.count)] ^= 1 << UInt8(random(8))
  }

  /// Copies one line to the start of another.
  private mutating func duplicateLine(_ input: inout [UInt8]) {
    let starts = [0] + input.indices.filter { input[$0] == 0x0a }.map { $0 + 1 }
    let start = starts[random(starts.count)]
    let end = input[start...].firstIndex(of: 0x0a).map { $0 + 1 } ?? input.count
    input.insert(contentsOf: input[start..<end], at: starts[random(starts.count)])
  }

  /// Puts a number at the edge of something in the place of another.
  private mutating func replaceNumber(_ input: inout [UInt8]) {
    let digits = input.indices.filter { (0x30...0x39).contains(input[$0]) }
    guard !digits.isEmpty else { return }
    let start = digits[random(digits.count)]
    let end = input[start...].firstIndex { !(0x30...0x39).contains($0) } ?? input.count
    input.replaceSubrange(start..<end, with: Array(Self.numbers[random(Self.numbers.count)].utf8))
  }
}
