internal import Reactors

extension ConnectionParameters {
  /// Replaces each named host by one target for each of its addresses, in the resolver's order.
  ///
  /// libpq resolves names inside `PQconnectStart` with a blocking call; given `hostaddr` it does not, and still verifies
  /// the server's certificate against `host`. A host that only the environment or a service file names is not seen here
  /// and does block.
  /// - Throws: ``PostgresError/Code/notConnected`` when no host at all has an address.
  mutating func resolve() async throws(PostgresError) {
    guard targets.contains(where: \.needsResolution) else { return }
    var resolved: [ConnectionTarget] = []
    var failure = ""
    for target in targets {
      do throws(ResolutionError) {
        resolved += try await ConnectionParameters.addresses(of: target)
      } catch {
        failure = error.description
      }
    }
    guard !resolved.isEmpty else { throw PostgresError(.notConnected, failure) }
    targets = resolved
  }

  private static func addresses(of target: ConnectionTarget) async throws(ResolutionError) -> [ConnectionTarget] {
    guard target.needsResolution else { return [target] }
    let port = UInt16(target.port) ?? 0
    let addresses = try await Resolver.addresses(of: target.host, port: port)
    return addresses.prefix(addressesPerHostMax).map { address in
      ConnectionTarget(host: target.host, address: numericHost(of: address), port: target.port)
    }
  }

  /// Addresses tried of one name; a name with more is a misconfiguration rather than a cluster.
  private static let addressesPerHostMax = 8

  /// `127.0.0.1:80` and `[::1]:80` without port and brackets.
  static func numericHost(of address: SocketAddress) -> String {
    String(address.description.dropLast(":\(address.port)".count).filter { $0 != "[" && $0 != "]" })
  }
}
