/// A script and how far it has come.
struct ScriptPlayer {
  private static let standard = ModelScript.Step(.reply())

  let script: ModelScript
  /// Prompts that each rule has had.
  private var counts: [Int]

  init(_ script: ModelScript) {
    self.script = script
    counts = [Int](repeating: 0, count: script.rules.count)
  }

  /// What comes of the next prompt.
  mutating func next(for inquiry: ModelInquiry) -> ModelScript.Step {
    guard let place = script.rules.firstIndex(where: { inquiry.contains($0.match) }) else { return Self.standard }
    defer { counts[place] += 1 }
    return Self.step(counts[place], of: script.rules[place].steps)
  }

  /// - Parameter count: prompts that came before.
  private static func step(_ count: Int, of steps: [ModelScript.Step]) -> ModelScript.Step {
    var left = count
    for step in steps.dropLast() {
      if left < step.times { return step }
      left -= step.times
    }
    return steps.last ?? standard
  }
}
