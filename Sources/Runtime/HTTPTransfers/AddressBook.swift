internal import Reactors

/// The addresses of hosts, each looked up once at a time and kept for a short while. Belongs to one reactor.
///
/// A lookup holds a thread of the global executor, of which there are as many as processors. Without keeping, a thousand requests
/// a second to one host would be as many lookups.
final class AddressBook {
  /// Hosts kept. Further ones are looked up each time.
  private static let hostsMax = 256

  private struct Name: Hashable {
    let host: String
    let port: UInt16
  }

  /// A lookup under way, and who waits for it.
  private final class Lookup {
    var result: Result<[SocketAddress], ResolutionError>?
    var waiters: [Signal] = []
  }

  private(set) var lookupCount = 0

  private let lifetime: Duration
  private var known: [Name: (addresses: [SocketAddress], until: UInt64)] = [:]
  private var lookups: [Name: Lookup] = [:]

  /// - Parameter lifetime: how long addresses are kept; zero looks up for each request.
  init(keepingFor lifetime: Duration) {
    self.lifetime = lifetime
  }

  /// The addresses of a host, in the order that the system prefers. Failures are not kept.
  func addresses(of target: TransferTarget, on reactor: isolated Reactor) async throws(ResolutionError)
    -> [SocketAddress]
  {
    let name = Name(host: target.host, port: target.port)
    guard lifetime > .zero else { return try await look(name) }
    if let kept = known[name], kept.until > Reactor.now { return kept.addresses }
    let lookup = lookups[name] ?? begin(name, on: reactor)
    if lookup.result == nil {
      let signal = Signal()
      lookup.waiters.append(signal)
      _ = await signal.wait(on: reactor)
    }
    guard let result = lookup.result else { preconditionFailure("a lookup ended without a result") }
    return try result.get()
  }

  /// Forgets a host whose addresses did not work.
  func forget(_ target: TransferTarget) {
    known[Name(host: target.host, port: target.port)] = nil
  }

  private func look(_ name: Name) async throws(ResolutionError) -> [SocketAddress] {
    lookupCount += 1
    return try await Resolver.addresses(of: name.host, port: name.port)
  }

  private func begin(_ name: Name, on reactor: isolated Reactor) -> Lookup {
    let lookup = Lookup()
    lookups[name] = lookup
    reactor.start {
      do throws(ResolutionError) {
        lookup.result = .success(try await self.look(name))
      } catch {
        lookup.result = .failure(error)
      }
      self.end(lookup, of: name, on: reactor)
    }
    return lookup
  }

  private func end(_ lookup: Lookup, of name: Name, on reactor: isolated Reactor) {
    lookups[name] = nil
    let now = Reactor.now
    if known.count >= Self.hostsMax { known = known.filter { $0.value.until > now } }
    if case .success(let addresses) = lookup.result, known.count < Self.hostsMax {
      known[name] = (addresses, now + UInt64(lifetime / .nanoseconds(1)))
    } else {
      known[name] = nil
    }
    for waiter in lookup.waiters { waiter.signal(on: reactor) }
  }
}
