import APNSSimulation
import Reactors

/// A client that does exactly what a case says, frame by frame, mistakes included. It obeys no limit by itself.
final class FrameClient {
  /// What the server said of one stream.
  struct Answer: Equatable {
    var status = 0
    var body: [UInt8] = []
    var isComplete = false
  }

  /// A GOAWAY as it came.
  struct GoAway: Equatable {
    let lastStream: Int32
    let code: UInt32
    let debug: String
  }

  private let stream: TLSStream
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  private var nextStream: Int32 = 1
  private var pings = 0

  /// By stream.
  private(set) var answers: [Int32: Answer] = [:]
  /// By stream, the codes in their order.
  private(set) var resets: [Int32: [UInt32]] = [:]
  private(set) var goAways: [GoAway] = []
  /// Every value of SETTINGS_MAX_CONCURRENT_STREAMS, in order.
  private(set) var streamLimits: [UInt32] = []
  private(set) var acknowledgedPings = 0
  private(set) var isClosed = false

  private init(_ stream: TLSStream) {
    self.stream = stream
    // A dynamic table of no size keeps the answers' header blocks readable without one.
    output = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Frame.settings([(1, 0)])
  }

  static func connect(port: UInt16, context: TLSContext, on reactor: isolated Reactor) async throws -> FrameClient {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: port) else { throw CaseFailure("no address") }
    let socket = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
    let stream = try await TLSStream.connect(
      over: socket, host: "127.0.0.1", context: context, within: .seconds(10), on: reactor)
    let client = FrameClient(stream)
    try await client.flush(on: reactor)
    return client
  }

  /// Streams answered completely, in order.
  var answered: [Int32] { answers.filter(\.value.isComplete).keys.sorted() }

  /// Queues a request on the next stream; nothing leaves before ``flush(on:)``.
  /// - Returns: the stream.
  @discardableResult
  func open(_ request: InspectedRequest) -> Int32 {
    let id = nextStream
    nextStream += 2
    output += Frame.headers(of: request, stream: id) + Frame.data(request.body, stream: id)
    return id
  }

  /// Queues bytes as they are.
  func put(_ bytes: [UInt8]) {
    output += bytes
  }

  /// Writes everything queued, in one record where it fits.
  func flush(on reactor: isolated Reactor) async throws {
    while !output.isEmpty, !isClosed {
      switch output.withUnsafeBytes({ stream.write($0) }) {
      case .bytes(let count): output.removeFirst(count)
      case .wouldBlock(let interest):
        _ = try await reactor.waitForReadiness(of: stream.descriptor, interest, for: .seconds(10))
      case .failed: isClosed = true
      }
    }
  }

  /// Sends one request and waits for its answer.
  func answer(to request: InspectedRequest, on reactor: isolated Reactor) async throws -> Answer {
    let id = open(request)
    try await flush(on: reactor)
    try await wait("an answer", on: reactor) { $0.answers[id]?.isComplete == true }
    return answers[id] ?? Answer()
  }

  /// A PING and its acknowledgement: whatever the server had to say before has arrived then. Ends as well when the
  /// connection does.
  func catchUp(on reactor: isolated Reactor) async throws {
    pings += 1
    let expected = pings
    put(Frame.ping)
    try await flush(on: reactor)
    try await wait("a PING's acknowledgement", on: reactor) { $0.acknowledgedPings >= expected || $0.isClosed }
  }

  func waitForClose(on reactor: isolated Reactor) async throws {
    try await wait("the end of the connection", on: reactor) { $0.isClosed }
  }

  /// Reads until something is there.
  /// - Throws: when it is not within the limit, or cannot come any more.
  func wait(
    _ what: String, within limit: Duration = .seconds(10), on reactor: isolated Reactor,
    until isDone: (FrameClient) -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + limit
    while !isDone(self) {
      guard !isClosed else { throw CaseFailure("the connection ended before \(what)") }
      let left = deadline - .now
      guard left > .zero else { throw CaseFailure("no \(what) within \(limit): \(answered), \(resets)") }
      try await read(within: left, on: reactor)
    }
  }
}

// Reading.
extension FrameClient {
  private func read(within limit: Duration, on reactor: isolated Reactor) async throws {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
    case .bytes(let count): input += buffer[..<count]
    case .endOfStream, .failed: isClosed = true
    case .wouldBlock(let interest):
      _ = try await reactor.waitForReadiness(of: stream.descriptor, interest, for: limit)
    }
    while let (frame, size) = Frame.first(in: input) {
      input.removeFirst(size)
      receive(frame)
    }
    try await flush(on: reactor)
  }

  private func receive(_ frame: Frame) {
    switch frame.kind {
    case .data:
      answers[frame.stream, default: Answer()].body += frame.payload
      if frame.endsStream { answers[frame.stream]?.isComplete = true }
    case .headers:
      answers[frame.stream, default: Answer()].status = frame.status
      if frame.endsStream { answers[frame.stream]?.isComplete = true }
    case .reset: resets[frame.stream, default: []].append(frame.number(at: 0))
    case .settings where !frame.isAcknowledgement:
      streamLimits += frame.settings.filter { $0.id == 3 }.map(\.value)
      put(Frame.settingsAcknowledgement)
    case .ping where frame.isAcknowledgement: acknowledgedPings += 1
    case .goAway:
      let debug = String(decoding: frame.payload.dropFirst(8), as: UTF8.self)
      goAways.append(
        GoAway(lastStream: Int32(bitPattern: frame.number(at: 0)), code: frame.number(at: 4), debug: debug))
    default: break
    }
  }
}
