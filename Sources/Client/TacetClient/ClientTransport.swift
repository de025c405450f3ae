public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Carries a request to the service and its answer back. `URLSession` does; tests and apps with a network stack of their
/// own may put another in its place.
public protocol ClientTransport: Sendable {
  /// The answer and its content.
  /// - Throws: when no answer came; what does not matter, every error is taken for a network that is away.
  func data(for request: URLRequest) async throws -> (Data, URLResponse)
}

extension URLSession: ClientTransport {
  /// Asks without a delegate.
  public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request, delegate: nil)
  }
}
