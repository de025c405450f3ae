internal import CNghttp2
package import Reactors

/// The outcome of a request, which says whether it may be sent again.
package enum HTTP2Outcome: Sendable {
  case response(HTTP2Response)
  /// The server has provably not acted on the request, so it can be sent again without a duplicate.
  case notProcessed(HTTP2Unprocessed)
  /// The request was sent at least in part and not answered. The server may have acted on it.
  case unknown(HTTP2Uncertainty)
}

package enum HTTP2Unprocessed: Equatable, Sendable {
  /// The server's GOAWAY names a last stream below this one (RFC 9113 §6.8), or came before this request was sent.
  case goAway(HTTP2GoAway)
  /// The server reset the stream with REFUSED_STREAM (RFC 9113 §8.7).
  case refused
  /// The connection is draining or closed, or ended before it passed the request's first byte to TLS.
  case notSent
  /// The deadline passed before the connection passed the request's first byte to TLS.
  case deadline
  /// As many requests wait for a stream as the configuration allows.
  case queueFull
}

package enum HTTP2Uncertainty: Equatable, Sendable {
  /// The stream was reset before a complete response.
  case reset(HTTP2ErrorCode)
  case connectionLost(HTTP2Error)
  /// The deadline passed, and the stream was cancelled.
  case deadline
  /// The response exceeded the configuration's limit, and the stream was cancelled.
  case responseTooLarge
}

/// A client's request. The connection adds `:scheme` and `:authority`.
package struct HTTP2Request: Sendable {
  package var method: String
  /// The target in origin form, e.g. `/3/device/00fc`.
  package var path: String
  package var fields: HTTP2Fields
  package var body: [UInt8]

  package init(method: String = "POST", path: String, fields: HTTP2Fields = HTTP2Fields(), body: [UInt8] = []) {
    self.method = method
    self.path = path
    self.fields = fields
    self.body = body
  }
}

package struct HTTP2Response: Sendable, Equatable {
  /// The final status, 200...599. Informational responses are skipped.
  package let status: Int
  /// The fields without `:status`. Trailers are not kept.
  package let fields: HTTP2Fields
  package let body: [UInt8]
}

/// One header field. Names are lower-case in HTTP/2 (RFC 9113 §8.2).
package struct HTTP2Field: Equatable, Sendable {
  package let name: String
  /// The value. Bytes that are not UTF-8 are replaced.
  package let value: String
}

/// Header fields in order, with duplicates, packed into one allocation. Pseudo-header fields (`:path`) are not among them.
/// A prepared list can be copied and extended for each message.
package struct HTTP2Fields: Sendable {
  // For each field: UInt32 name length, with `neverIndexedBit`; UInt32 value length; name; value. Zeros follow the last.
  // A `ContiguousArray`, because making an `Array` calls into the standard library, which looks up the type each time.
  private var storage: ContiguousArray<UInt8> = []
  /// Bytes used, for limits.
  private(set) var byteCount = 0
  package private(set) var count = 0

  static let neverIndexedBit: UInt32 = 1 << 31
  static let headBytes = 8
  /// The smallest allocation. It holds the fields of most answers.
  private static let storageBytesMin = 256

  package init() {}

  /// An empty list with reserved space.
  /// - Parameter byteCount: the bytes of names and values, and 8 for each field.
  package init(reservingBytes byteCount: Int) { storage = ContiguousArray(repeating: 0, count: byteCount) }

  /// Adds a field at the end.
  /// - Parameters:
  ///   - name: lower-case.
  ///   - isIndexed: false keeps the value out of header compression's tables on every hop. Use it for secrets, and for values
  ///     that never repeat and would displace useful entries. `authorization` is never indexed.
  package mutating func append(_ name: String, _ value: String, isIndexed: Bool = true) {
    let isIndexed = isIndexed && name != "authorization"
    append(name.utf8Span.span.bytes, value.utf8Span.span.bytes, isIndexed: isIndexed)
  }

  package subscript(name: String) -> String? {
    let name = name.utf8Span.span.bytes
    return withPackedBytes { packed in
      var offset = 0
      while offset < packed.count {
        let field = PackedField(in: packed, at: &offset)
        if field.isNamed(name) { return String(decoding: field.value, as: UTF8.self) }
      }
      return nil
    }
  }

  mutating func append(_ name: RawSpan, _ value: RawSpan, isIndexed: Bool) {
    let end = byteCount + HTTP2Fields.headBytes + name.byteCount + value.byteCount
    if end > storage.count { grow(to: end) }
    storage.withUnsafeMutableBytes { storage in
      // The list has room for the field, and so an address.
      guard let list = storage.baseAddress else { return }
      PackedField.write(name, value, isIndexed: isIndexed, to: list + byteCount)
    }
    byteCount = end
    count += 1
  }

  mutating func removeAll() {
    byteCount = 0
    count = 0
  }

  /// The fields as ``PackedField`` reads them.
  func withPackedBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<byteCount])) }
  }

  /// Grows to at least twice the size, so that a list of many fields is copied only a few times.
  private mutating func grow(to needed: Int) {
    let size = Swift.max(needed, 2 * storage.count, HTTP2Fields.storageBytesMin)
    var larger = ContiguousArray<UInt8>(repeating: 0, count: size)
    larger.withUnsafeMutableBytes { larger in withPackedBytes { larger.copyMemory(from: $0) } }
    storage = larger
  }
}

extension HTTP2Fields: Equatable {
  /// Same fields, in the same order, indexed alike.
  package static func == (a: HTTP2Fields, b: HTTP2Fields) -> Bool {
    a.count == b.count && a.storage[..<a.byteCount] == b.storage[..<b.byteCount]
  }
}

extension HTTP2Fields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

extension HTTP2Fields: Sequence {
  package struct Iterator: IteratorProtocol {
    fileprivate let fields: HTTP2Fields
    fileprivate var offset = 0

    package mutating func next() -> HTTP2Field? {
      guard offset < fields.byteCount else { return nil }
      return fields.withPackedBytes { bytes in
        let field = PackedField(in: bytes, at: &offset)
        return HTTP2Field(
          name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
      }
    }
  }

  package func makeIterator() -> Iterator { Iterator(fields: self) }
}

struct PackedField {
  let name: UnsafeRawBufferPointer
  let value: UnsafeRawBufferPointer
  let isIndexed: Bool

  /// - Parameter offset: the offset of the field's head. Moved behind the field.
  init(in packed: UnsafeRawBufferPointer, at offset: inout Int) {
    let nameHead = packed.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let nameEnd = offset + HTTP2Fields.headBytes + Int(nameHead & ~HTTP2Fields.neverIndexedBit)
    let valueEnd = nameEnd + Int(packed.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
    name = UnsafeRawBufferPointer(rebasing: packed[(offset + HTTP2Fields.headBytes)..<nameEnd])
    value = UnsafeRawBufferPointer(rebasing: packed[nameEnd..<valueEnd])
    isIndexed = nameHead & HTTP2Fields.neverIndexedBit == 0
    offset = valueEnd
  }

  fileprivate func isNamed(_ other: RawSpan) -> Bool {
    name.count == other.byteCount && other.withUnsafeBytes(name.elementsEqual)
  }

  /// - Parameter place: memory for the field and its head.
  fileprivate static func write(_ name: RawSpan, _ value: RawSpan, isIndexed: Bool, to place: UnsafeMutableRawPointer) {
    let nameHead = UInt32(truncatingIfNeeded: name.byteCount) | (isIndexed ? 0 : HTTP2Fields.neverIndexedBit)
    place.storeBytes(of: nameHead, as: UInt32.self)
    place.storeBytes(of: UInt32(truncatingIfNeeded: value.byteCount), toByteOffset: 4, as: UInt32.self)
    copy(name, to: place + HTTP2Fields.headBytes)
    copy(value, to: place + HTTP2Fields.headBytes + name.byteCount)
  }

  private static func copy(_ bytes: RawSpan, to place: UnsafeMutableRawPointer) {
    bytes.withUnsafeBytes { bytes in
      if let source = bytes.baseAddress { place.copyMemory(from: source, byteCount: bytes.count) }
    }
  }
}

package enum HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
  /// TLS or the socket failed.
  case transport(TLSError)
  /// The reactor can no longer watch the descriptor.
  case system(SystemError)
  /// The peer closed the connection in an orderly way.
  case closedByPeer
  case closedLocally
  /// The last request of a draining connection is done.
  case drained
  /// A PING went unanswered: the connection is dead or the peer is stuck.
  case unresponsive
  /// The peer broke the protocol. The text is nghttp2's.
  case protocolViolation(String)

  package var description: String {
    switch self {
    case .transport(let error): "\(error)"
    case .system(let error): "\(error)"
    case .closedByPeer: "the peer closed the connection"
    case .closedLocally: "closed on this side"
    case .drained: "drained"
    case .unresponsive: "a PING was not answered in time"
    case .protocolViolation(let text): "HTTP/2 violation: \(text)"
    }
  }
}

/// An error code on the wire (RFC 9113 §7). Unknown numbers are kept.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// NO_ERROR, an orderly end.
  package static let noError = HTTP2ErrorCode(rawValue: 0)
  package static let protocolError = HTTP2ErrorCode(rawValue: 1)
  package static let internalError = HTTP2ErrorCode(rawValue: 2)
  /// STREAM_CLOSED: a frame for a stream that is over.
  package static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  /// REFUSED_STREAM: not processed, safe to send again.
  package static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  /// CANCEL: no longer wanted.
  package static let cancel = HTTP2ErrorCode(rawValue: 8)

  /// The name in the RFC, or `unknown`, with the number.
  package var description: String { "\(String(cString: nghttp2_http2_strerror(rawValue))) (\(rawValue))" }
}

/// A server's GOAWAY: it takes no more streams (RFC 9113 §6.8).
package struct HTTP2GoAway: Equatable, Sendable {
  /// The server will not process streams above this. `Int32.max` announces a second GOAWAY.
  package let lastStreamID: Int32
  package let code: HTTP2ErrorCode
  /// Opaque bytes, often text. APNs sends JSON with a `reason`. At most 4,096 bytes are kept.
  package let debugData: [UInt8]

  static let debugDataBytesMax = 4096
}
