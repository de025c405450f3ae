import Channels
import PushRules
import Reactors
import Simulators

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
    _ what: String, within limit: Duration = .seconds(30), on reactor: isolated Reactor,
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

/// One HTTP/2 frame (RFC 9113 §4.1), as much of it as the cases need.
struct Frame {
  enum Kind: UInt8 {
    case data = 0
    case headers = 1
    case priority = 2
    case reset = 3
    case settings = 4
    case ping = 6
    case goAway = 7
    case other = 255
  }

  let kind: Kind
  let flags: UInt8
  let stream: Int32
  let payload: [UInt8]

  private static let headBytes = 9

  /// The frame at the beginning of what was received, and its size; nil while it is not complete.
  static func first(in bytes: [UInt8]) -> (frame: Frame, size: Int)? {
    guard bytes.count >= headBytes else { return nil }
    let size = headBytes + Int(bytes[0]) << 16 + Int(bytes[1]) << 8 + Int(bytes[2])
    guard bytes.count >= size else { return nil }
    let frame = Frame(
      kind: Kind(rawValue: bytes[3]) ?? .other, flags: bytes[4],
      stream: Int32(bitPattern: number(in: bytes, at: 5) & 0x7fff_ffff), payload: Array(bytes[headBytes..<size]))
    return (frame, size)
  }

  var endsStream: Bool { flags & 1 != 0 }
  var isAcknowledgement: Bool { flags & 1 != 0 }

  func number(at offset: Int) -> UInt32 { Self.number(in: payload, at: offset) }

  var settings: [(id: UInt16, value: UInt32)] {
    stride(from: 0, to: payload.count - 5, by: 6).map {
      (UInt16(payload[$0]) << 8 | UInt16(payload[$0 + 1]), number(at: $0 + 2))
    }
  }

  private static func number(in bytes: [UInt8], at offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}

// What a client writes.
extension Frame {
  static let settingsAcknowledgement = make(.settings, flags: 1)
  static let ping = make(.ping, payload: Array("conform!".utf8))

  static func settings(_ entries: [(id: UInt16, value: UInt32)]) -> [UInt8] {
    make(
      .settings,
      payload: entries.flatMap { entry in [UInt8(entry.id >> 8), UInt8(entry.id & 255)] + word(entry.value) }
    )
  }

  /// A weight of 16 and no dependency (RFC 7540 §6.3).
  static func priority(stream: Int32) -> [UInt8] { make(.priority, stream: stream, payload: word(0) + [15]) }

  static func data(_ body: [UInt8], stream: Int32) -> [UInt8] {
    body.isEmpty ? [] : make(.data, flags: 1, stream: stream, payload: body)
  }

  static func headers(of request: InspectedRequest, stream: Int32) -> [UInt8] {
    let pseudo = [
      (name: ":method", value: request.method), (name: ":scheme", value: "https"),
      (name: ":authority", value: "localhost"), (name: ":path", value: request.path),
    ]
    var block: [UInt8] = []
    for field in pseudo + request.fields { block += [0x10] + HPACK.string(field.name) + HPACK.string(field.value) }
    return make(.headers, flags: request.body.isEmpty ? 5 : 4, stream: stream, payload: block)
  }

  private static func make(_ kind: Kind, flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = []) -> [UInt8] {
    let size = UInt32(payload.count)
    return word(size).dropFirst() + [kind.rawValue, flags] + word(UInt32(bitPattern: stream)) + payload
  }

  private static func word(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

extension Frame {
  /// The status of an answer's header block, whose first field it is (RFC 9113 §8.3); 0 when it cannot be read.
  var status: Int { HPACK.status(in: payload) }
}

/// As much of HPACK (RFC 7541) as requests without compression and the status of answers need.
enum HPACK {
  /// A string without Huffman coding (§5.2).
  static func string(_ text: String) -> [UInt8] {
    var length = text.utf8.count
    guard length >= 127 else { return [UInt8(length)] + Array(text.utf8) }
    var bytes: [UInt8] = [127]
    length -= 127
    while length >= 128 {
      bytes.append(UInt8(length & 127) | 128)
      length >>= 7
    }
    return bytes + [UInt8(length)] + Array(text.utf8)
  }

  /// `:status` as an entry of the static table, or as a literal that names entry 8.
  static func status(in block: [UInt8]) -> Int {
    // Changes of the table's size come first (§4.2).
    let block = Array(block.drop { $0 & 0xe0 == 0x20 })
    let indexed: [UInt8: Int] = [0x88: 200, 0x89: 204, 0x8a: 206, 0x8b: 304, 0x8c: 400, 0x8d: 404, 0x8e: 500]
    guard let first = block.first, block.count > 1 else { return 0 }
    if let status = indexed[first] { return status }
    guard [0x08, 0x18, 0x48].contains(first) else { return 0 }
    let length = Int(block[1] & 127)
    let value = block.dropFirst(2).prefix(length)
    let isHuffman = block[1] & 128 != 0
    return Int(isHuffman ? digits(value) : String(decoding: value, as: UTF8.self)) ?? 0
  }

  /// Digits in Huffman coding (Appendix B): 0 to 2 have five bits, the others six.
  private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
    var bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }[...]
    var text = ""
    while bits.count >= 5, text.count < 3 {
      let short = bits.prefix(5).reduce(0) { $0 << 1 | Int($1) }
      if short <= 2 {
        text += String(short)
        bits = bits.dropFirst(5)
      } else {
        text += String(bits.prefix(6).reduce(0) { $0 << 1 | Int($1) } - 0x16)
        bits = bits.dropFirst(6)
      }
    }
    return text
  }
}

/// The first message of a TLS handshake, as bytes (RFC 8446 §4.1.2).
struct ClientHello {
  /// The contents of `supported_versions`.
  let versions: [UInt16]
  /// The contents of the ALPN extension.
  let protocols: [String]

  /// One that knows no version above 1.1, with a cipher suite of its time.
  static let version11: [UInt8] = {
    let body: [UInt8] =
      [3, 2] + (0..<32).map { UInt8($0) } + [0, 0, 2, 0xc0, 0x09, 1, 0]
    let message = [1, 0, 0, UInt8(body.count)] + body
    return [22, 3, 1, 0, UInt8(message.count)] + message
  }()

  /// What a server answers to a first message, until it closes.
  static func answer(to hello: [UInt8], port: UInt16, on reactor: isolated Reactor) async throws -> [UInt8] {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: port) else { throw CaseFailure("no address") }
    let socket = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
    guard case .bytes(hello.count) = hello.withUnsafeBytes({ socket.write($0) }) else {
      throw CaseFailure("a fresh socket takes no bytes")
    }
    var answer: [UInt8] = []
    while let part = try await read(from: socket, on: reactor) { answer += part }
    return answer
  }

  /// What our client sends first, to a listener that only looks.
  static func sent(byClientOf stand: Stand, on reactor: isolated Reactor) async throws -> ClientHello {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw CaseFailure("no address") }
    let listener = try ListeningSocket(on: address)
    let client = try await stand.client(port: listener.address.port, on: reactor)
    client.warmUp(.production, on: reactor)
    _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(10))
    guard case .accepted(let socket, _) = listener.accept() else { throw CaseFailure("our client does not connect") }
    var bytes: [UInt8] = []
    while bytes.count < 5 || bytes.count < 5 + Int(bytes[3]) << 8 + Int(bytes[4]) {
      guard let part = try await read(from: socket, on: reactor) else { throw CaseFailure("half a hello") }
      bytes += part
    }
    client.close(on: reactor)
    return ClientHello(record: bytes)
  }

  private static func read(from socket: Socket, on reactor: isolated Reactor) async throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
      case .bytes(let count): return Array(buffer[..<count])
      case .endOfStream: return nil
      case .failed(let error): throw error
      case .wouldBlock: _ = try await reactor.waitForReadiness(of: socket.descriptor, .read, for: .seconds(10))
      }
    }
  }

  /// Behind record and message heads: version, random, session id, cipher suites, compression, extensions.
  private init(record: [UInt8]) {
    var rest = record.dropFirst(5 + 4 + 2 + 32)
    rest = rest.dropFirst(1 + Int(rest.first ?? 0))
    rest = rest.dropFirst(2 + Self.number(rest))
    rest = rest.dropFirst(1 + Int(rest.first ?? 0)).dropFirst(2)
    var versions: [UInt16] = []
    var protocols: [String] = []
    while rest.count >= 4 {
      let size = Self.number(rest.dropFirst(2))
      var content = rest.dropFirst(4).prefix(size)
      switch Self.number(rest) {
      case 43:
        content = content.dropFirst()
        while content.count >= 2 {
          versions.append(UInt16(Self.number(content)))
          content = content.dropFirst(2)
        }
      case 16:
        content = content.dropFirst(2)
        while let length = content.first {
          protocols.append(String(decoding: content.dropFirst().prefix(Int(length)), as: UTF8.self))
          content = content.dropFirst(1 + Int(length))
        }
      default: break
      }
      rest = rest.dropFirst(4 + size)
    }
    (self.versions, self.protocols) = (versions, protocols)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
  }
}
