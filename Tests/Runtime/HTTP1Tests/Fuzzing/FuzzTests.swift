import Foundation
import TestRandomness
import Testing

@testable import HTTP1

/// Inputs of a generator and its damaged offspring, against everything that must hold for every input.
///
/// `FUZZ_SEED` (default: the time) repeats a run, `FUZZ_INPUTS` (default: 1500) makes it longer. The same check runs under
/// libFuzzer by `Tests/Runtime/HTTP1Fuzzing/fuzz.sh`.
@Suite struct FuzzTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test("no input breaks a rule")
  func holdsForGenerated() throws {
    let seed = Self.environment["FUZZ_SEED"].flatMap(UInt64.init) ?? UInt64(Date().timeIntervalSince1970)
    let count = Self.environment["FUZZ_INPUTS"].flatMap(Int.init) ?? 1500
    print("FUZZ_SEED=\(seed) FUZZ_INPUTS=\(count)")
    var source = FuzzSource(seed: seed, seeds: fuzzSeeds)
    var accepted = 0
    for _ in 0..<count where try !FuzzCheck.run(source.next()).requests.isEmpty { accepted += 1 }
    print("fuzzing: \(count) inputs, \(accepted) with an accepted request")
    #expect(accepted > count / 3, "the generator no longer makes requests")
  }

  @Test("no case of the tables breaks a rule, and no input that once did")
  func holdsForKnown() throws {
    for input in fuzzSeeds { try FuzzCheck.run(input) }
  }
}
