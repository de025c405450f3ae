import Dispatch
import Glibc

/// SIGTERM and SIGINT, from the moment this is made, as something to wait for instead of a death.
final class StopSignals {
  private let arrivals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init() {
    let (arrivals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.arrivals = arrivals
    sources = [SIGTERM, SIGINT].map { number in
      // A signal source sees a signal only when its default action is off.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  /// Returns after the first signal.
  func received() async {
    for await _ in arrivals { return }
  }
}
