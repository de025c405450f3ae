internal import HTTPTransfers

/// How documents of slot campaigns are fetched.
package struct ContentConfiguration: Sendable {
  /// The value of the Authorization field of each request; nil for none.
  package var authorization: ContentAuthorization?

  /// Whether hosts at private, loopback and link-local addresses are reached. A definition could otherwise make the service read
  /// from the network that it is in, such as a cloud's metadata address.
  package var allowsPrivateAddresses = false

  /// From the start of a fetch to the last byte of the answer.
  package var limit = Duration.seconds(12)

  package var documentBytesMax = 64 * 1024

  /// Concurrent fetches. 16: the concurrent transfers of other clients.
  package var fetchesMax = 16

  /// How long fetches begin for one call of ``ContentFetcher/refresh(_:of:at:on:)``. 24 s: with the last fetch 36 s, which leaves the rest of a
  /// lease of a minute for rendering. A host that hangs holds up no other campaign for longer.
  package var roundLimit = Duration.seconds(24)

  package init() {}

  /// Plain HTTP is for hosts on this machine only, such as those of tests.
  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = fetchesMax
    transfers.reach = HTTPTransferReach(includesPrivateAddresses: allowsPrivateAddresses, includesPlainHTTP: false)
    return transfers
  }
}

/// What proves the service to the hosts of content. No description of it, or of a value that contains it, reveals it.
package struct ContentAuthorization: Sendable, Equatable {
  let text: String

  /// - Parameter text: the value of the field, such as `Bearer …`.
  package init(_ text: String) {
    self.text = text
  }
}

extension ContentAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }

  package var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
