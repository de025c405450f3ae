import TestRandomness

/// The inputs of a run: made by the grammar or taken from the seeds, then damaged, mostly a little.
struct FuzzSource {
  private let seeds: [[UInt8]]
  private var grammar: RequestGrammar<SeededGenerator>
  private var mutator: InputMutator<SeededGenerator>
  private var generator: SeededGenerator

  init(seed: UInt64, seeds: [[UInt8]]) {
    self.seeds = seeds
    grammar = RequestGrammar(generator: SeededGenerator(seed: seed, part: 0))
    mutator = InputMutator(generator: SeededGenerator(seed: seed, part: 1))
    generator = SeededGenerator(seed: seed, part: 2)
  }

  mutating func next() -> [UInt8] {
    let other = fresh()
    let times = [0, 0, 0, 1, 2, 6].randomElement(using: &generator) ?? 0
    return mutator.mutate(fresh(), with: other, times: times)
  }

  private mutating func fresh() -> [UInt8] {
    guard Int.random(in: 0..<4, using: &generator) == 0, let seed = seeds.randomElement(using: &generator) else {
      return grammar.input()
    }
    return seed
  }
}
