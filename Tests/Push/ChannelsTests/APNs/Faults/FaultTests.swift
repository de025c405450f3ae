import APNSSimulation
import Channels
import PushRules
import Reactors
import Testing

@Suite("The client among faults")
struct FaultTests {
  @Test(
    "whatever happens to connections and streams, each push is shown once, under one identifier",
    arguments: FaultCase.all)
  func outcome(of fault: FaultCase) async throws {
    try await FaultScene.play(delayMilliseconds: fault.delayMilliseconds) { scene, reactor in
      fault.arrange(scene)
      let client = try await scene.client()
      client.warmUp(.production, on: reactor)
      let campaign = Campaign(scene, over: client, attemptLimit: fault.requestLimit)
      campaign.start(FaultCase.pushes, atOnce: FaultCase.width, on: reactor)
      #expect(await scene.service.waitForPushes(FaultCase.pushes / 3, within: .seconds(30), on: reactor))
      try await fault.strike(scene, client, reactor)
      await campaign.finished(FaultCase.pushes, on: reactor)
      let tally = FaultTally(fault.name, pushes: FaultCase.pushes, of: scene)
      print(tally)
      #expect(campaign.acceptances.count == FaultCase.pushes)
      #expect(tally.lost == 0)
      #expect(tally.renamed == 0)
      #expect(fault.connections.contains(tally.connections))
      #expect(fault.resends.contains(tally.attempts - tally.pushes))
      client.close(on: reactor)
    }
  }
}
