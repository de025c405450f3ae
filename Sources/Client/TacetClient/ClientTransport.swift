public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Carries a request to the service and its response back. `URLSession` conforms. Tests and apps with another network
/// stack may replace it.
public protocol ClientTransport: Sendable {
  /// The response and its content.
  /// - Throws: when no response came. Every error counts as an unreachable network.
  func data(for request: URLRequest) async throws -> (Data, URLResponse)
}

extension URLSession: ClientTransport {
  /// Sends the request without a delegate.
  public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request, delegate: nil)
  }
}
