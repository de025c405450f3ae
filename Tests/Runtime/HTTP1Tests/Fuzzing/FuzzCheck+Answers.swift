import HTTPTypes

@testable import HTTP1

extension FuzzCheck {
  /// One answer for each request and perhaps a refusal; the last alone says that it is the last, if it is.
  func answersAreFramed(in trace: FuzzTrace) throws(FuzzFinding) {
    guard let responses = responses(in: trace) else { throw FuzzFinding(rule: "answers are not framed", input: input) }
    let finals = responses.filter { $0.status >= 200 }
    var expected = trace.requests.count
    var isLast = trace.close == .answered
    if case .refused = trace.close {
      isLast = true
      if trace.requests.last?.body != nil || trace.requests.isEmpty || wasAnsweredEarly(in: trace) { expected += 1 }
    }
    try require(finals.count == expected, "\(finals.count) answers instead of \(expected)")
    try require(!responses.dropLast().contains(where: \.isClosing), "an answer follows the last one")
    try require((responses.last?.isClosing ?? false) == isLast, "the last answer does not say so, or wrongly")
  }

  /// A request that is refused in its head may be HEAD, which is not told; then there is one HEAD more in the input than
  /// was accepted.
  private func responses(in trace: FuzzTrace) -> [ResponseReader.Response]? {
    let isHead = trace.requests.map { $0.head.method == .head }
    let head = Array("HEAD ".utf8)
    let heads = input.indices.count { input[$0...].starts(with: head) }
    return ResponseReader.responses(in: trace.sent, isHead: isHead)
      ?? (heads > isHead.count { $0 } ? ResponseReader.responses(in: trace.sent, isHead: isHead + [true]) : nil)
  }

  /// Whether the last request that was seen was answered before its content was read.
  private func wasAnsweredEarly(in trace: FuzzTrace) -> Bool {
    guard let last = trace.requests.last, last.body == nil else { return false }
    if last.head.withPathBytes({ $0.hasPrefix(FuzzedConnection.missingPrefix) }) { return true }
    if case .length(let length) = last.head.framing { return length > FuzzedConnection.bodyBytesMax }
    return false
  }
}
