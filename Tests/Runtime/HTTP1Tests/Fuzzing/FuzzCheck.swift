import HTTPTypes
import TestRandomness

@testable import HTTP1

/// A rule that an input has broken.
struct FuzzFinding: Error, CustomStringConvertible {
  let rule: String
  let input: [UInt8]

  /// The input as a literal that can become a regression test.
  var description: String { "\(rule): \(String(decoding: input, as: UTF8.self).debugDescription) \(input)" }
}

/// What must hold for every input whatever.
struct FuzzCheck {
  let input: [UInt8]
  private let whole: FuzzTrace

  /// Runs the input whole, byte by byte and in random pieces, and judges what came of it.
  @discardableResult
  static func run(_ input: [UInt8]) throws(FuzzFinding) -> FuzzTrace {
    let check = FuzzCheck(input: input, whole: FuzzedConnection.run([input[...]]))
    try check.piecesMakeNoDifference()
    try check.memoryIsBounded()
    try check.others(isLenient: false)
    try check.others(isLenient: true)
    try check.headsSurviveRewriting()
    try check.answersAreFramed(in: check.whole)
    try check.drainLosesNothing()
    return check.whole
  }

  func require(_ isTrue: Bool, _ rule: String) throws(FuzzFinding) {
    guard isTrue else { throw FuzzFinding(rule: rule, input: input) }
  }

  /// The same input is always cut the same way, so that a finding can be repeated: seeded with its FNV-1a hash.
  private var generator: SeededGenerator {
    SeededGenerator(seed: input.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
  }

  private func piecesMakeNoDifference() throws(FuzzFinding) {
    try require(FuzzedConnection.run(input.indices.map { input[$0...$0] }) == whole, "byte by byte differs")
    var generator = generator
    for longest in [3, 20, 200] {
      var pieces: [ArraySlice<UInt8>] = []
      var rest = input[...]
      while !rest.isEmpty {
        let length = Int.random(in: 1...longest, using: &generator)
        pieces.append(rest.prefix(length))
        rest = rest.dropFirst(length)
      }
      try require(FuzzedConnection.run(pieces) == whole, "pieces up to \(longest) differ")
    }
  }

  /// A server that begins to go away somewhere in the input answers what has begun, and takes up nothing new.
  private func drainLosesNothing() throws(FuzzFinding) {
    var generator = generator
    let cut = Int.random(in: 0...input.count, using: &generator)
    let begun = FuzzedConnection.run([input[..<cut]]).requests.count
    let drained = FuzzedConnection.run(input[..<cut], thenDrainedAnd: input[cut...])
    try require(drained.close != nil, "a drained connection stays open")
    try require(drained.requests.count <= begun + 1, "a drained connection goes on")
    try require(drained.requests == Array(whole.requests.prefix(drained.requests.count)), "a drain changes a request")
    try answersAreFramed(in: drained)
  }

  private func memoryIsBounded() throws(FuzzFinding) {
    try require(whole.inputBytesMax <= 64 * 1024, "the input takes more than 64 KiB")
    for request in whole.requests {
      try require(request.body?.count ?? 0 <= FuzzedConnection.bodyBytesMax, "content is over its limit")
      try require(request.head.byteCount <= 1024, "a head is over its limits")
    }
  }

  /// What was accepted is read the same by another reader.
  private func others(isLenient: Bool) throws(FuzzFinding) {
    guard !whole.requests.isEmpty else { return }
    let others = ReferenceReader.requests(in: input, isLenient: isLenient)
    try require(others.count >= whole.requests.count, "another reader sees fewer requests (lenient: \(isLenient))")
    for (request, other) in zip(whole.requests, others) {
      let fields = request.head.fieldLines.flatMap { line in
        [request.head.bytes[line.name].map(\.lowercased), Array(request.head.bytes[line.value])]
      }
      try require(
        Array(request.head.method.rawValue.utf8) == other.method && Array(request.head.target.utf8) == other.target
          && fields == other.fields && (request.body == nil || request.body == other.body),
        "another reader sees another request (lenient: \(isLenient))")
    }
  }

  /// A head written anew from its parts means the same.
  private func headsSurviveRewriting() throws(FuzzFinding) {
    for head in whole.requests.map(\.head) {
      var bytes = Array("\(head.method) \(head.target) HTTP/\(head.version == .http10 ? "1.0" : "1.1")\r\n".utf8)
      for line in head.fieldLines { bytes += head.bytes[line.name] + [0x3a] + head.bytes[line.value] + [0x0d, 0x0a] }
      bytes += [0x0d, 0x0a]
      var parser = RequestHeadParser(limits: FuzzedConnection.limits)
      let again = try? parser.parse(bytes.span)
      try require(
        again?.method == head.method && again?.target == head.target && again?.path == head.path
          && again?.query == head.query && again?.authority == head.authority && again?.framing == head.framing
          && again?.isPersistent == head.isPersistent && again?.expectsContinue == head.expectsContinue
          && again?.fieldLines.count == head.fieldLines.count, "a head written anew is another")
    }
  }
}

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
