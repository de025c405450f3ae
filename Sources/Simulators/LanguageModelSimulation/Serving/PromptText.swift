/// Text in a request, in either of the forms that both interfaces take: a string, or blocks of which each is text.
struct PromptText: Decodable {
  let text: String

  private struct Block: Decodable {
    let type: String
    let text: String?
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let string = try? container.decode(String.self) {
      text = string
      return
    }
    let blocks = try container.decode([Block].self)
    guard blocks.allSatisfy({ $0.type == "text" }) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "only blocks of text are simulated")
    }
    text = blocks.compactMap(\.text).joined()
  }
}

/// One message of a request.
struct PromptMessage: Decodable {
  let role: String
  let content: PromptText
}

extension [PromptMessage] {
  /// The texts of a role, one on each line.
  func text(of role: String) -> String {
    filter { $0.role == role }.map(\.content.text).joined(separator: "\n")
  }

  /// The first role that is none of these.
  func role(outside roles: Set<String>) -> String? {
    first { !roles.contains($0.role) }?.role
  }
}
