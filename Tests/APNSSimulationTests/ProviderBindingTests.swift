import Testing

@testable import APNSSimulation

@Suite("What a connection is bound to")
struct ProviderBindingTests {
  @Test("every sequence of the case file is answered as it says", arguments: try SequenceCase.all())
  func sequences(_ sequence: SequenceCase) throws {
    var player = try SequencePlayer()
    for step in sequence.steps { try player.play(step.mapping) }
  }
}
