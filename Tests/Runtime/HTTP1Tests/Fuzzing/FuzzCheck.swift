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

/// What a connection made of an input, in full.
struct FuzzTrace: Equatable {
  struct Request: Equatable {
    let head: RequestHead
    /// `nil` if the request was answered before its content was read.
    var body: [UInt8]?

    static func == (left: Request, right: Request) -> Bool {
      left.head.bytes == right.head.bytes && left.body == right.body
    }
  }

  var requests: [Request] = []
  var sent: [UInt8] = []
  var close: CloseReason?
  /// The most memory the input took. Depends on the pieces, so it is no part of what is compared.
  var inputBytesMax = 0

  static func == (left: FuzzTrace, right: FuzzTrace) -> Bool {
    left.requests == right.requests && left.sent == right.sent && left.close == right.close
  }
}

/// Runs an input through a connection with limits so small that inputs reach them.
struct FuzzedConnection {
  /// Requests for paths that begin so are answered before their content is read.
  static let missingPrefix: StaticString = "/m"
  static let bodyBytesMax = 64
  static let limits: HTTPLimits = {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 96
    limits.fieldBytesMax = 384
    limits.fieldCountMax = 12
    limits.discardedBytesMax = 48
    limits.chunkLineBytesMax = 32
    limits.chunkExtensionBytesMax = 48
    return limits
  }()

  private var machine = ConnectionStateMachine(limits: limits, date: HTTPDate(unixSeconds: 784_111_777))
  private var action: ConnectionAction
  private var trace = FuzzTrace()

  private init() { action = machine.opened() }

  /// Feeds the pieces one after another, then closes the client's side.
  static func run(_ pieces: some Sequence<ArraySlice<UInt8>>) -> FuzzTrace {
    var connection = FuzzedConnection()
    for piece in pieces { connection.feed(piece) }
    return connection.finish()
  }

  /// Feeds one piece, has the server go away, and feeds the rest.
  static func run(_ piece: ArraySlice<UInt8>, thenDrainedAnd rest: ArraySlice<UInt8>) -> FuzzTrace {
    var connection = FuzzedConnection()
    connection.feed(piece)
    if case .read = connection.action, let action = connection.machine.drainRequested() {
      connection.action = action
      connection.perform()
    }
    connection.feed(rest)
    return connection.finish()
  }

  private mutating func finish() -> FuzzTrace {
    if case .read = action {
      action = machine.peerClosed()
      perform()
    }
    return trace
  }

  private mutating func feed(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty, case .read = action {
      let taken = machine.receive { space in
        let count = min(space.count, rest.count)
        space.copyBytes(from: rest.prefix(count))
        return count
      }
      rest = rest.dropFirst(taken)
      action = machine.received()
      trace.inputBytesMax = max(trace.inputBytesMax, machine.input.capacity)
      perform()
    }
  }

  /// Performs actions until one waits for input.
  private mutating func perform() {
    while true {
      machine.output.send { bytes in
        trace.sent.append(contentsOf: bytes)
        return bytes.count
      }
      switch action {
      case .read: return
      case .close(let reason):
        trace.close = reason
        return
      case .route(let head):
        trace.requests.append(FuzzTrace.Request(head: head))
        action =
          head.withPathBytes { $0.hasPrefix(Self.missingPrefix) }
          ? machine.answered(ResponseHead(status: .notFound), body: [0x6e, 0x6f])
          : machine.routed(bodyBytesMax: Self.bodyBytesMax)
      case .handle(let body):
        trace.requests[trace.requests.count - 1].body = body
        action = machine.answered(ResponseHead(status: .ok), body: [0x6f, 0x6b])
      }
    }
  }
}
