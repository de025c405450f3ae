/// Writes a push from a decision. The same decision always gives the same text.
struct SentenceBook {
  /// The limit of a title, in characters. All bodies are below their limit of 200.
  private static let titleMax = 50

  private static let eventBodies = [
    "How are you feeling about it? I'm here if you want to talk it through.",
    "What would help you walk in calm? We can think it over together.",
    "Want to run through the part you keep coming back to?",
  ]
  private static let patternBodies = [
    "It has come up a few times now. Would it help to look at what is underneath?",
    "I have been thinking about what ties those moments together. Shall we look?",
    "There may be a thread in it worth following. I'm around whenever you are.",
  ]
  private static let returnBodies = [
    "No rush at all. If you feel like picking it up again, I'm here.",
    "I was wondering how it has been going. Tell me when you like.",
    "How have things moved since we talked? I would love to hear.",
  ]

  private let decision: DecisionBlock

  init(_ decision: DecisionBlock) {
    self.decision = decision
  }

  /// A title and a body, within the limits of a push.
  var push: PushText {
    switch decision["type"] {
    case "event_based": write(eventTitle, Self.eventBodies)
    case "pattern_based": write(patternTitle, Self.patternBodies)
    default: write(returnTitle, Self.returnBodies)
    }
  }

  private var eventTitle: [String] {
    let event = decision["event"] ?? "big moment"
    let exact = decision["when"].map { ["Your \(event) is \($0)"] } ?? []
    return exact + ["Your \(event) is coming up", "Something is coming up"]
  }

  private var patternTitle: [String] {
    decision["theme"].map { ["Something about \($0)", "Something I have noticed"] } ?? ["Something I have noticed"]
  }

  private var returnTitle: [String] {
    let subjects = [decision["topic"], decision["domain"]].compactMap(\.self)
    return subjects.map { "Still thinking about \($0)" } + ["How have you been?"]
  }

  /// The first title that fits, and a body.
  private func write(_ titles: [String], _ bodies: [String]) -> PushText {
    let title = titles.first { $0.count <= Self.titleMax } ?? titles[titles.count - 1]
    return PushText(title: title, body: bodies[title.number % bodies.count])
  }
}

struct PushText: Codable, Equatable {
  let title: String
  let body: String
}

extension String {
  /// Equal for equal texts in every process, unlike a hash value.
  fileprivate var number: Int { utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF } }
}

/// The decision of a prompt: lines of `name: value` between `<decision>` and `</decision>`.
struct DecisionBlock: Equatable {
  private let values: [String: String]

  /// The block of a prompt; empty without one. A missing end is tolerated.
  init(in prompt: String) {
    let start = prompt.firstRange(of: "<decision>")?.upperBound ?? prompt.endIndex
    let rest = prompt[start...]
    let end = rest.firstRange(of: "</decision>")?.lowerBound ?? rest.endIndex
    let pairs = rest[..<end].split(whereSeparator: \.isNewline).compactMap { line -> (String, String)? in
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmed }
      return parts.count == 2 && !parts[1].isEmpty ? (parts[0].lowercased(), parts[1]) : nil
    }
    values = Dictionary(pairs) { first, _ in first }
  }

  /// The value of a line; nil when the line is missing or empty.
  subscript(name: String) -> String? { values[name] }
}

extension Substring {
  fileprivate var trimmed: String {
    var rest = drop(while: \.isWhitespace)
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}
