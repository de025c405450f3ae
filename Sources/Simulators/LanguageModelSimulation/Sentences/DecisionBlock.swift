/// What a prompt says a push is to be about: lines of `name: value` between `<decision>` and `</decision>`.
struct DecisionBlock: Equatable {
  private let values: [String: String]

  /// The block of a prompt; without one, or without its end, what there is of it.
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

  /// The value of a line; nil without the line, or where it says nothing.
  subscript(name: String) -> String? { values[name] }
}

extension Substring {
  /// Without white space around it.
  fileprivate var trimmed: String {
    var rest = drop(while: \.isWhitespace)
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}
