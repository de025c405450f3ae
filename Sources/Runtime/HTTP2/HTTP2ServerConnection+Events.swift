internal import Reactors

extension HTTP2ServerConnection: LinkOwner {
  func linkWillWrite(on reactor: isolated Reactor) {}

  /// A handler may close the connection while requests are still being shown to it.
  func linkDidRead(on reactor: isolated Reactor) {
    guard !arrived.isEmpty else { return }
    let arrival = Reactor.now
    let batch = arrived
    arrived.removeAll(keepingCapacity: true)
    for stream in batch where streams[stream.id] === stream {
      handler?.requestReceived(stream.request(arrival: arrival), from: self, on: reactor)
    }
  }

  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor) {
    forget(on: reactor)
  }
}

extension HTTP2ServerConnection: SessionDelegate {
  func streamOpened(_ id: Int32) -> MessageStream? {
    guard streams.count < streamsMax || !refusesExcessStreams else {
      refusedStreams += 1
      session.reset(id, .refusedStream)
      return nil
    }
    let stream = ServerStream()
    streams[id] = stream
    return stream
  }

  func messageCompleted(_ stream: MessageStream) {
    if let stream = streams[stream.id] { arrived.append(stream) }
  }

  func streamClosed(_ stream: MessageStream, code: HTTP2ErrorCode) {
    streams[stream.id] = nil
  }

  /// A body is cut, and its length tells. A header block is nghttp2's to reset.
  func messageTooLarge(_ stream: MessageStream) {}

  func requestNotSent(id: Int32, willClose: Bool) {}

  func settingsReceived(streamsMax: Int?) {}

  func goAwayReceived(_ goAway: HTTP2GoAway) {}
}
