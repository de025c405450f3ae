import APNSCore
import PushAPI
import PushPipeline
import Testing

@testable import tacet

@Suite("A route's part of readiness")
struct RouteStateTests {
  private func readiness(
    fault: String? = nil, isNeeded: Bool = true, isReady: Bool = true, failure: String? = nil
  ) throws -> ReadinessCheck {
    let route = PushRoute(app: try BundleIdentifier("com.example.app"), environment: .sandbox)
    return RouteState(
      route: route, fault: fault, breaker: fault == nil ? .closed : .open, isNeeded: isNeeded, isConnected: isReady,
      isReady: isReady, failure: failure
    ).readiness
  }

  @Test("pushes go: it is well, and a warning of the client's is told", arguments: [nil, "the clock is wrong"])
  func ready(_ failure: String?) throws {
    let check = try readiness(failure: failure)
    #expect(check.name == "apns com.example.app/sandbox")
    #expect(check.isReady)
    #expect(check.detail == failure)
  }

  @Test("an app's own route, or one that is waited for, is not well when it has a fault or no connection")
  func needed() throws {
    let shut = try readiness(fault: "Shutdown", failure: "refused")
    #expect(!shut.isReady)
    #expect(shut.detail == "APNs takes no pushes, they wait: Shutdown; refused")
    let away = try readiness(isReady: false, failure: "refused")
    #expect(!away.isReady)
    #expect(away.detail == "refused")
  }

  @Test("one that nobody needs is told of, and makes nothing unready")
  func other() throws {
    let shut = try readiness(fault: "BadEnvironmentKeyInToken", isNeeded: false)
    #expect(shut.isReady)
    #expect(shut.detail == "APNs takes no pushes, none is waiting: BadEnvironmentKeyInToken")
    let away = try readiness(isNeeded: false, isReady: false, failure: "refused")
    #expect(away.isReady)
    #expect(away.detail == "refused")
  }
}
