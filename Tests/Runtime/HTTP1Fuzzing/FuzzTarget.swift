import Foundation
import TestRandomness

/// Called by libFuzzer for each input; ends the process at the first that breaks a rule.
@_cdecl("LLVMFuzzerTestOneInput")
package func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try FuzzCheck.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    fatalError(error.description)
  }
  return 0
}

/// Called by libFuzzer before it reads its corpus: writes the seeds to the folder that `FUZZ_SEEDS` names.
@_cdecl("LLVMFuzzerInitialize")
package func initialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
  guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
  do {
    for (number, seed) in fuzzSeeds.enumerated() {
      try Data(seed).write(to: URL(filePath: folder).appending(path: "seed-\(number)"))
    }
  } catch {
    fatalError("the seeds cannot be written: \(error)")
  }
  return 0
}

/// Called by libFuzzer to make an input of another, in place.
///
/// Every other time libFuzzer does it itself, which knows the dictionary and the comparisons that were made; else what
/// was there is damaged, or something new follows it, or something new and damaged takes its place.
/// - Returns: the new length, at most `countMax`.
@_cdecl("LLVMFuzzerCustomMutator")
package func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int, _ seed: UInt32) -> Int {
  var generator = SeededGenerator(seed: UInt64(seed))
  guard Bool.random(using: &generator) else { return mutateAsUsual(bytes, count, countMax) }
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  var source = FuzzSource(seed: generator.next(), seeds: [input])
  let mutated = (Int.random(in: 0..<4, using: &generator) == 0 ? input : []) + source.next()
  return UnsafeMutableBufferPointer(start: bytes, count: countMax).update(fromContentsOf: mutated.prefix(countMax))
}

/// libFuzzer's own mutations.
@_silgen_name("LLVMFuzzerMutate")
private func mutateAsUsual(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int) -> Int
