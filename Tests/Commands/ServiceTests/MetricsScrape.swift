import Foundation

/// The text of `/metrics`, as a scraper reads it.
struct MetricsScrape {
  /// A line: the sample's name, its labels, its value.
  struct Sample {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  let text: String
  let samples: [Sample]
  /// By family.
  let types: [String: String]
  let helps: [String: String]

  init(_ text: String) {
    self.text = text
    let lines = text.split(separator: "\n")
    samples = lines.filter { !$0.hasPrefix("#") }.compactMap { Self.sample(String($0)) }
    types = Self.comments("# TYPE ", in: lines)
    helps = Self.comments("# HELP ", in: lines)
  }

  /// The names that a query may use, each with the labels that some series of it has.
  var labels: [String: Set<String>] {
    samples.reduce(into: [:]) { $0[$1.name, default: []].formUnion($1.labels.keys) }
  }

  /// The sum of the series that have these labels.
  func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let found = samples.filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }
    return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
  }

  private static func sample(_ line: String) -> Sample? {
    guard let match = line.wholeMatch(of: /([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/) else { return nil }
    let pairs = (match.2 ?? "").matches(of: /(\w+)="((?:[^"\\]|\\.)*)"/).map { (String($0.1), String($0.2)) }
    let number = String(match.3) == "+Inf" ? Double.infinity : Double(match.3)
    return number.map { Sample(name: String(match.1), labels: Dictionary(pairs) { $1 }, value: $0) }
  }

  private static func comments(_ prefix: String, in lines: [Substring]) -> [String: String] {
    let pairs = lines.filter { $0.hasPrefix(prefix) }.map { line in
      let words = line.dropFirst(prefix.count).split(separator: " ", maxSplits: 1)
      return (String(words[0]), words.count > 1 ? String(words[1]) : "")
    }
    return Dictionary(pairs) { first, _ in first }
  }
}

extension RunningService {
  /// `/metrics`, once it shows all that a test waits for; the last one when that takes too long. Nothing announces a
  /// figure, so it is asked for again after a while.
  func scrape(until isThere: (MetricsScrape) -> Bool) async throws -> MetricsScrape {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let scrape = MetricsScrape(try await get("/metrics").text)
      if isThere(scrape) || ContinuousClock.now > deadline { return scrape }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
