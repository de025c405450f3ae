/// A valid request, independent of the provider.
struct ModelInquiry: Equatable {
  let provider: SimulatedProvider
  let model: String
  /// The system prompt; empty for none.
  let instructions: String
  /// All messages of the user, one on each line.
  let material: String
  /// The most tokens of the reply; nil for no limit.
  let tokensMax: Int?

  /// Whether the prompt contains a text; nil matches every prompt.
  func contains(_ text: String?) -> Bool {
    guard let text, !text.isEmpty else { return true }
    return material.firstRange(of: text) != nil || instructions.firstRange(of: text) != nil
  }

  var decision: DecisionBlock { DecisionBlock(in: material + "\n" + instructions) }

  var tokens: Int { TokenCount.of(instructions) + TokenCount.of(material) }
}

/// Tokens of simulated models: four characters each, about as in English.
enum TokenCount {
  static let characters = 4

  static func of(_ text: String) -> Int { (text.count + characters - 1) / characters }
}

struct ModelOutput: Equatable {
  enum Ending: Equatable {
    case complete
    case cutOff
    case refused
  }

  let text: String
  let ending: Ending
  let inputTokens: Int
  let outputTokens: Int

  /// A whole reply, cut at the request's token limit.
  static func reply(_ text: String?, to inquiry: ModelInquiry) -> ModelOutput {
    let text = text ?? written(for: inquiry)
    let tokens = TokenCount.of(text)
    guard let tokensMax = inquiry.tokensMax, tokens > tokensMax else {
      return ModelOutput(text: text, ending: .complete, inputTokens: inquiry.tokens, outputTokens: tokens)
    }
    let cut = String(text.prefix(tokensMax * TokenCount.characters))
    return ModelOutput(text: cut, ending: .cutOff, inputTokens: inquiry.tokens, outputTokens: tokensMax)
  }

  /// The first half of a reply.
  static func cut(_ text: String?, to inquiry: ModelInquiry) -> ModelOutput {
    let text = text ?? written(for: inquiry)
    let half = String(text.prefix(text.count / 2))
    return ModelOutput(
      text: half, ending: .cutOff, inputTokens: inquiry.tokens, outputTokens: inquiry.tokensMax ?? TokenCount.of(half))
  }

  static func refusal(to inquiry: ModelInquiry) -> ModelOutput {
    ModelOutput(text: "", ending: .refused, inputTokens: inquiry.tokens, outputTokens: 1)
  }

  /// The push for the prompt's decision, as JSON.
  private static func written(for inquiry: ModelInquiry) -> String {
    guard let json = try? sortedJSON(SentenceBook(inquiry.decision).push) else {
      preconditionFailure("two texts cannot be written as JSON")
    }
    return String(decoding: json, as: UTF8.self)
  }
}

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
