import API
import PushPipeline
import PushRules
import Testing

@testable import tacet

@Suite("A route's part of readiness")
struct RouteStateTests {
  private func readiness(
    fault: String? = nil, isOwn: Bool = true, isNeeded: Bool = true, isReady: Bool = true, failure: String? = nil
  ) throws -> ReadinessCheck {
    let route = PushRoute(app: try BundleIdentifier("com.example.app"), environment: .sandbox)
    return RouteState(
      route: route, fault: fault, breaker: fault == nil ? .closed : .open, isOwn: isOwn, isNeeded: isNeeded,
      isConnected: isReady, isReady: isReady, failure: failure
    ).readiness
  }

  @Test("pushes go: it is well, whatever the client has to say", arguments: [nil, "the clock is wrong"])
  func ready(_ failure: String?) throws {
    let check = try readiness(failure: failure)
    #expect(check.name == "apns com.example.app/sandbox")
    #expect(check.isReady && check.detail == nil)
  }

  @Test("an app's own route is not well when it has a fault or no connection; strangers read no host")
  func own() throws {
    let shut = try readiness(fault: "Shutdown", failure: "10.0.0.7: refused")
    #expect(!shut.isReady)
    #expect(shut.detail == "APNs takes no pushes, they wait: Shutdown")
    let away = try readiness(isReady: false, failure: "10.0.0.7: refused")
    #expect(!away.isReady)
    #expect(away.detail == "not connected")
  }

  @Test("one that only device tokens name is told of, and makes nothing unready", arguments: [true, false])
  func other(_ isNeeded: Bool) throws {
    let shut = try readiness(fault: "BadEnvironmentKeyInToken", isOwn: false, isNeeded: isNeeded)
    #expect(shut.isReady)
    let consequence = isNeeded ? "they wait" : "none is waiting"
    #expect(shut.detail == "APNs takes no pushes, \(consequence): BadEnvironmentKeyInToken")
    let away = try readiness(isOwn: false, isNeeded: isNeeded, isReady: false, failure: "no address of sandbox.example")
    #expect(away.isReady)
    #expect(away.detail == "not connected")
  }
}
