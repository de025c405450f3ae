internal import HTTPServing

/// A server fault as the control endpoint takes it.
struct FaultDocument: ControlDocument {
  enum Kind: String, Codable, CaseIterable {
    case goAway = "goaway"
    case dropBefore = "drop_before"
    case dropAfter = "drop_after"
    case blackHole = "black_hole"
    case refuseStream = "refuse_stream"
    case resetStream = "reset_stream"
    case streams
  }

  var kind: Kind
  /// At once on every open connection, instead of on coming requests.
  var now: Bool?
  /// Requests that pass first; 0 when absent.
  var skip: Int?
  /// Requests that it hits; 1 when absent.
  var times: Int?
  /// `current` (when absent), `previous`, `none`, `all`, or a stream's number.
  var lastStream: String?
  /// The HTTP/2 error code of a GOAWAY (0 when absent) or a reset (2 when absent).
  var code: UInt32?
  /// The text of a GOAWAY; `{"reason":"Shutdown"}` when absent.
  var debug: String?
  /// The number that `streams` announces.
  var streams: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, now, skip, times, code, debug, streams
    case lastStream = "last_stream"
  }

  func fault() throws(ProblemDetails) -> ServerFault {
    switch kind {
    case .goAway:
      .goAway(lastStream: try lastStreamPolicy(), code: code ?? 0, debug: debug ?? #"{"reason":"Shutdown"}"#)
    case .dropBefore: .dropBeforeProcessing
    case .dropAfter: .dropAfterProcessing
    case .blackHole: .blackHole
    case .refuseStream: .refuseStream
    case .resetStream: .resetStream(code: code ?? 2)
    case .streams: .announceStreams(try streamsCount())
    }
  }

  private func lastStreamPolicy() throws(ProblemDetails) -> ServerFault.LastStream {
    switch lastStream {
    case nil, "current": return .current
    case "previous": return .previous
    case "none": return .none
    case "all": return .all
    case let text?:
      guard let number = Int32(text), number >= 0 else {
        throw ProblemDetails.unfit("last_stream is current, previous, none, all, or a number as text")
      }
      return .stream(number)
    }
  }

  private func streamsCount() throws(ProblemDetails) -> Int {
    guard let streams, streams >= 0 else {
      throw ProblemDetails.unfit("streams needs a number from 0")
    }
    return streams
  }
}
