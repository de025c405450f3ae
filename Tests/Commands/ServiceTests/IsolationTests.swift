import Foundation
import Simulators
import Testing

@Suite("A database whose transactions are serializable by default", .serialized)
struct IsolationTests {
  @Test("a burst is pushed once and recorded whole by two reactors", arguments: DatabaseRoute.allCases)
  func burst(_ route: DatabaseRoute) async throws {
    let scene = try await ServiceScene(route: route, extra: ["REACTORS": "2"])
    try await scene.sql("alter database \(scene.database) set default_transaction_isolation = 'serializable'")
    let service = try await scene.startService()
    let conversation = try await Conversation(scene, [.away(), .away()])
    let count = 200
    try await conversation.burst(of: count)
    #expect(await scene.simulator.waitForPushes(2 * count, within: .seconds(30)))
    let sent = "select count(*) from tacet.push_log where decision = 'sent' and devices_accepted = 1"
    let deadline = ContinuousClock.now + .seconds(20)
    while try await scene.sql(sent) != "\(2 * count)" { try #require(ContinuousClock.now < deadline) }
    #expect(try await scene.sql("select count(*) from tacet.inbox") == "0")
    #expect(scene.simulator.service.withLog { $0.total } == 2 * count)
    try await service.stop()
    await scene.simulator.stop()
  }
}
