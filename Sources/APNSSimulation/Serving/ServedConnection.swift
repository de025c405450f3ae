internal import HTTP2

/// One client's connection and what is remembered about it.
final class ServedConnection {
  let link: HTTP2ServerConnection
  /// Since the start of the simulator, over all listeners, from 1.
  let number: Int
  var binding = ProviderBinding()
  var conduct: ConnectionConduct
  /// The highest stream whose request was received.
  var lastStream: Int32 = 0
  /// What the latest GOAWAY promised. Requests above it may have been read together with the one that caused it.
  var processedMax = Int32.max

  init(_ link: HTTP2ServerConnection, number: Int, policy: StreamPolicy) {
    self.link = link
    self.number = number
    conduct = ConnectionConduct(policy: policy)
  }
}
