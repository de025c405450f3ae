import APNSSimulation

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
