import Foundation
import Simulators
import Testing

@Suite("Several apps", .serialized)
struct AppsTests {
  private let both = [ServiceScene.bundle, AppsScene.coach]

  @Test("two apps of two teams each get their pushes, with their topic and their team's token")
  func twoTeams() async throws {
    try await AppsScene.play { apps, service in
      let conversation = try await apps.conversation(both)
      let (first, second) = (try await conversation.say(), try await conversation.say())
      let pushes = try await apps.pushesByApp(of: first, both)
      #expect(pushes.keys.sorted() == both.sorted())
      #expect(pushes[both[0]]?.token == conversation.tokens[0][0])
      #expect(pushes[both[1]]?.token == conversation.tokens[1][0])
      // Each team's token is one string; that its key belongs to the topic's team is what the simulator checks.
      let hashes = pushes.mapValues(\.providerTokenHash)
      #expect(Set(hashes.values).count == 2)
      #expect(try await apps.pushesByApp(of: second, both).mapValues(\.providerTokenHash) == hashes)
      let readiness = try await service.readiness()
      #expect(readiness.status == 200)
      for app in both {
        #expect(readiness.text.contains(#"{"name":"apns \#(app)/production","ready":true}"#), "\(readiness.text)")
        let labels = #"{app="\#(app)",environment="production",reactor="reactor-0"}"#
        #expect(try await service.counter("tacet_apns_route_open" + labels) == 1)
        #expect(try await service.counter("tacet_apns_route_connected" + labels) == 1)
        #expect(try await service.counter("tacet_apns_route_needed" + labels) == 1)
      }
    }
  }

  @Test("an app whose key is refused says so, and the other goes on")
  func oneRefused() async throws {
    try await AppsScene.play { apps, service in
      apps.revokeKey("KEY0000002")
      let conversation = try await apps.conversation(both)
      let message = try await conversation.say()
      let ledger = try await apps.scene.ledger(of: message, rows: 2)
      #expect(ledger[conversation.people[0]] == "sent ")
      #expect(ledger[conversation.people[1]] == "held InvalidProviderToken")
    }
  }
}
