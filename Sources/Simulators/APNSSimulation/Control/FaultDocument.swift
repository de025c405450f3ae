internal import HTTPServing
internal import SimulationControl

/// A server fault as scripts order it, and as the control endpoint shows those that wait.
struct FaultDocument: ControlDocument, Encodable {
  var kind: ServerFault.Kind
  /// On every open connection, instead of on coming requests.
  var now: Bool?
  /// Nothing happens before so many milliseconds have passed.
  var afterMilliseconds: Int?
  /// Requests that pass first; 0 when absent.
  var skip: Int?
  /// Requests that it hits, or connections that are refused; 1 when absent.
  var times: Int?
  /// `current` (when absent), `previous`, `none`, `all`, or a stream's number.
  var lastStream: LastStreamText?
  /// The HTTP/2 error code of a GOAWAY (0 when absent) or a reset (2 when absent).
  var code: UInt32?
  /// The text of a GOAWAY; when absent `{"reason":"Shutdown"}`, or none in a GOAWAY that only announces another.
  var debug: String?
  /// The number that `streams` announces.
  var streams: Int?
  /// The status, reason and body of `answer`.
  var status: Int?
  var reason: String?
  var rawBody: String?
  /// How much later `delay` answers.
  var delayMilliseconds: Int?
  /// How long `refuse_connections` lasts; when absent it goes by `times`.
  var forMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, now, skip, times, code, debug, streams, status, reason
    case afterMilliseconds = "after_ms"
    case lastStream = "last_stream"
    case rawBody = "raw_body"
    case delayMilliseconds = "delay_ms"
    case forMilliseconds = "for_ms"
  }
}

/// Which stream a GOAWAY names, as a word or as a number in either form.
struct LastStreamText: Codable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int32.self) {
      text = String(number)
    } else {
      text = try container.decode(String.self)
    }
  }

  init(_ lastStream: ServerFault.LastStream) {
    text =
      switch lastStream {
      case .current: "current"
      case .previous: "previous"
      case .none: "none"
      case .all: "all"
      case .stream(let number): String(number)
      }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  func lastStream() throws(ProblemDetails) -> ServerFault.LastStream {
    switch text {
    case "current": return .current
    case "previous": return .previous
    case "none": return .none
    case "all": return .all
    default:
      guard let number = Int32(text), number >= 0 else {
        throw ProblemDetails.unfit("last_stream is current, previous, none, all, or a stream's number")
      }
      return .stream(number)
    }
  }
}
