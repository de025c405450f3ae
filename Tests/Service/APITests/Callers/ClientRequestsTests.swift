import FoundationEssentials
import HTTP1
import HTTPTypes
import Reactors
import TestReactors
import Testing

@testable import API

@Suite("What a user may ask")
struct ClientRequestsTests {
  /// Three tokens, and none for an hour.
  private static let requests = ClientRequests(rate: .init(burst: 30, refillNanoseconds: 3_600_000_000_000))

  private static func status(_ load: ClientRequests.Load, of user: String, _ requests: ClientRequests) -> Int? {
    do throws(ProblemDetails) {
      try requests.begin(load, of: user)
      return nil
    } catch {
      #expect(error.fields[.retryAfter].flatMap { Int($0) }.map { $0 > 0 } == true)
      return error.status.code
    }
  }

  @Test("a user who has asked as often as may be is told when to come again; others are not concerned")
  func bucket() {
    let (requests, user) = (Self.requests, UUID().uuidString)
    for _ in 0..<5 { #expect(Self.status(.look, of: user, requests) == nil) }
    #expect(Self.status(.documentWrite, of: user, requests) == nil)
    #expect(Self.status(.look, of: user, requests) == 429)
    #expect(Self.status(.documentWrite, of: UUID().uuidString, requests) == nil)
  }

  @Test("what is refused costs nothing")
  func refused() {
    let (requests, user) = (Self.requests, UUID().uuidString)
    #expect(Self.status(.documentWrite, of: user, requests) == nil)
    for _ in 0..<3 { #expect(Self.status(.documentWrite, of: user, requests) == 429) }
    for _ in 0..<5 { #expect(Self.status(.look, of: user, requests) == nil) }
    #expect(Self.status(.look, of: user, requests) == 429)
  }

  @Test("one write of a user is under way at a time; reads and other users go on, and the next write after it")
  func exclusive() async throws {
    try await onReactor { (reactor: isolated Reactor) async throws in
      let (requests, user) = (ClientRequests(), UUID().uuidString)
      func write(_ load: ClientRequests.Load, of user: String) async throws -> Int {
        do {
          _ = try await requests.perform(load, of: user, on: reactor) { @Sendable _ in HTTPServerResponse(status: .ok) }
          return 200
        } catch let problem as ProblemDetails {
          return problem.status.code
        }
      }
      _ = try await requests.perform(.write, of: user, on: reactor) { _ in
        let statuses = [
          try await write(.write, of: user), try await write(.look, of: user),
          try await write(.write, of: UUID().uuidString),
        ]
        #expect(statuses == [429, 200, 200])
        return HTTPServerResponse(status: .ok)
      }
      #expect(try await write(.write, of: user) == 200)
    }
  }
}
