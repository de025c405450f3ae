import HTTP1
import HTTPTypes

/// What came of feeding bytes to a connection.
struct Transcript: Equatable, CustomStringConvertible {
  /// One line a request: method, target and content.
  var requests: [String] = []
  /// Everything the connection sent.
  var sent = ""
  var closeReason: CloseReason?

  /// The status codes of the answers, in their order; interim answers too.
  var statuses: [Int] {
    sent.split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
  }

  var description: String { "\(requests) \(statuses) \(closeReason.map { "\($0)" } ?? "open")" }
}

/// Does for a machine what a server's input and output would, answering each request with what was asked.
struct ConnectionRig {
  /// A request for this is answered 404 before its content is read.
  static let missingPath = "/missing"
  static let date = HTTPDate(unixSeconds: 784_111_777)

  var machine: ConnectionStateMachine
  var action: ConnectionAction
  var transcript = Transcript()
  var bodyBytesMax = 64
  /// The memory it receives and answers into; given back whenever it waits, as a server does.
  var spare = SpareBuffers()
  private var request = ""

  init(limits: HTTPLimits = HTTPLimits(), bodyBytesMax: Int = 64) {
    machine = ConnectionStateMachine(limits: limits, date: Self.date)
    action = machine.opened()
    self.bodyBytesMax = bodyBytesMax
  }

  /// Feeds pieces one after another and tells what came of it.
  static func run(
    _ pieces: [ArraySlice<UInt8>], limits: HTTPLimits = HTTPLimits(), bodyBytesMax: Int = 64,
    endsWithClose: Bool = false
  ) -> Transcript {
    var rig = ConnectionRig(limits: limits, bodyBytesMax: bodyBytesMax)
    for piece in pieces { rig.feed(piece) }
    if endsWithClose, case .read = rig.action {
      rig.action = rig.machine.peerClosed()
      rig.perform()
    }
    return rig.transcript
  }

  static func run(_ text: String, limits: HTTPLimits = HTTPLimits(), bodyBytesMax: Int = 64) -> Transcript {
    run([Array(text.utf8)[...]], limits: limits, bodyBytesMax: bodyBytesMax)
  }

  mutating func feed(_ text: String) { feed(Array(text.utf8)[...]) }

  mutating func feed(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty, case .read = action {
      machine.borrow(from: &spare)
      let taken = machine.receive { space in
        let count = min(space.count, rest.count)
        space.copyBytes(from: rest.prefix(count))
        return count
      }
      rest = rest.dropFirst(taken)
      action = machine.received()
      perform()
      machine.giveBack(to: &spare)
    }
  }

  /// Performs actions until one waits for the outside.
  mutating func perform() {
    while true {
      flush()
      switch action {
      case .read: return
      case .close(let reason):
        transcript.closeReason = reason
        return
      case .route(let head):
        request = "\(head.method) \(head.target)"
        action =
          head.path == Self.missingPath
          ? machine.answered(ResponseHead(status: .notFound)) : machine.routed(bodyBytesMax: bodyBytesMax)
      case .handle(let body):
        transcript.requests.append(body.isEmpty ? request : "\(request) \(String(decoding: body, as: UTF8.self))")
        action = machine.answered(ResponseHead(status: .ok), body: Array("ok".utf8))
      }
    }
  }

  mutating func flush() {
    machine.output.send { bytes in
      transcript.sent += String(decoding: bytes, as: UTF8.self)
      return bytes.count
    }
  }
}

/// Bytes fed in other ways than whole, which must make no difference: one by one, and in two pieces cut at every
/// position. Of long inputs the cuts are the first and last hundred and every 997th between.
func cuts(of bytes: [UInt8], sampleAbove countMax: Int) -> [[ArraySlice<UInt8>]] {
  let single = bytes.indices.map { bytes[$0...$0] }
  let positions = bytes.indices.dropFirst().filter { position in
    bytes.count <= countMax || position < 100 || position > bytes.count - 100 || position % 997 == 0
  }
  return [single] + positions.map { [bytes[..<$0], bytes[$0...]] }
}
