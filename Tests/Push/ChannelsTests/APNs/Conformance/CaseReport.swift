import TestAPNSCases
import Testing

/// Counts cases, and what in them was not as stated.
struct CaseReport {
  private let kind: String
  private var cases = 0
  private var deviating: Set<String> = []
  /// Counts worth printing besides.
  var notes: [String] = []

  init(_ kind: String) {
    self.kind = kind
  }

  /// Drives one case; what it throws counts against it as well.
  /// - Parameter drive: returns what was not as stated.
  mutating func drive(
    _ wireCase: WireCase, isolation: isolated (any Actor)? = #isolation, _ drive: () async throws -> [String]
  ) async {
    cases += 1
    let deviations: [String]
    do {
      deviations = try await drive()
    } catch {
      deviations = ["\(error)"]
    }
    guard !deviations.isEmpty else { return }
    deviating.insert(wireCase.identifier)
    for deviation in deviations { Issue.record("\(wireCase): \(deviation)") }
  }

  /// Prints the counts, and makes sure that there was something to count.
  func finish(expecting count: Int) {
    #expect(cases == count)
    let stated = deviating.isEmpty ? "all as stated" : "not as stated: \(deviating.sorted())"
    print("\(kind) cases: \(cases), \(([stated] + notes).joined(separator: ", "))")
  }
}

/// Gathers what is not as stated in one case.
final class Findings {
  private(set) var all: [String] = []

  func expect(_ isAsStated: Bool, _ deviation: @autoclosure () -> String) {
    if !isAsStated { all.append(deviation()) }
  }
}

struct CaseFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
