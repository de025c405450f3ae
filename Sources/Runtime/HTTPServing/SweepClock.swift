/// The time-outs of a service in sweeps of a registry, whose timer comes at a fixed interval.
struct SweepClock {
  let interval: Duration
  let handshake: Int
  let head: Int
  let reserve: Int
  let body: Int
  let bodyGrace: Int
  let idle: Int
  let write: Int
  let linger: Int
  /// The least content for each sweep, which may be part of a byte; zero for any.
  private let bodyBytesMin: Double

  init(_ timeouts: HTTPTimeouts) {
    let all = [
      timeouts.handshake, timeouts.head, timeouts.reserve, timeouts.body, timeouts.bodyGrace, timeouts.idle,
      timeouts.write, timeouts.linger,
    ]
    let interval = max(.milliseconds(1), min(.seconds(1), (all.min() ?? .seconds(1)) / 4))
    self.interval = interval
    // One more, because the present interval has partly passed.
    func sweeps(_ duration: Duration) -> Int { Int((duration / interval).rounded(.up)) + 1 }
    handshake = sweeps(timeouts.handshake)
    head = sweeps(timeouts.head)
    reserve = sweeps(timeouts.reserve)
    body = sweeps(timeouts.body)
    bodyGrace = sweeps(timeouts.bodyGrace)
    idle = sweeps(timeouts.idle)
    write = sweeps(timeouts.write)
    linger = sweeps(timeouts.linger)
    bodyBytesMin = Double(timeouts.bodyBytesPerSecondMin) * (interval / .seconds(1))
  }

  /// How long content may take of which this much has arrived: as long as it keeps its rate, and never longer than all of
  /// it may.
  func body(afterReceiving byteCount: Int) -> Int {
    guard bodyBytesMin > 0 else { return body }
    return min(body, bodyGrace + Int(min(Double(body), Double(byteCount) / bodyBytesMin)))
  }
}
