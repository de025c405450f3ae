internal import HTTP2
internal import Reactors

/// Faults: what they do to requests and to connections.
extension PushServer {
  /// What a fault does to the request that met it.
  /// - Returns: whether the request still gets its answer.
  func letHappen(
    _ fault: ServerFault, _ stream: Int32, _ connection: ServedConnection, on reactor: isolated Reactor
  ) -> Bool {
    switch fault {
    case .blackHole: return false
    case .silence:
      connection.link.fallSilent(on: reactor)
      return false
    case .refuseStream:
      connection.link.reset(stream, .refusedStream, on: reactor)
      return false
    case .resetStream(let code):
      connection.link.reset(stream, HTTP2ErrorCode(rawValue: code), on: reactor)
      return false
    case .goAway(let lastStream, let code, let debug):
      let last = lastStream.number(atStream: stream)
      sayGoodbye(last, HTTP2ErrorCode(rawValue: code), Array(debug.utf8), connection, on: reactor)
      return stream <= last
    case .dropBeforeProcessing, .dropAfterProcessing:
      connection.link.closeAbruptly(on: reactor)
      return false
    case .announceStreams, .ignorePings:
      strike(fault, connection, on: reactor)
      return true
    case .answer, .delay: return true
    }
  }

  /// What a fault does to a connection without a request.
  func strike(_ fault: ServerFault, _ connection: ServedConnection, on reactor: isolated Reactor) {
    switch fault {
    case .goAway(let lastStream, let code, let debug):
      let last = lastStream.number(atStream: connection.lastStream)
      sayGoodbye(last, HTTP2ErrorCode(rawValue: code), Array(debug.utf8), connection, on: reactor)
    case .dropBeforeProcessing, .dropAfterProcessing: connection.link.closeAbruptly(on: reactor)
    case .blackHole, .silence: connection.link.fallSilent(on: reactor)
    case .ignorePings: connection.link.acknowledgesPings = false
    case .announceStreams(let count):
      connection.conduct.limit(to: count)
      announce(count, connection, on: reactor)
    case .refuseStream, .resetStream, .answer, .delay: break
    }
  }

  func sayGoodbye(
    _ lastStream: Int32, _ code: HTTP2ErrorCode, _ debug: [UInt8], _ connection: ServedConnection,
    on reactor: isolated Reactor
  ) {
    connection.processedMax = min(connection.processedMax, lastStream)
    connection.link.goAway(lastStreamID: connection.processedMax, code, debugData: debug, on: reactor)
  }
}
